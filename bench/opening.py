"""How a recording is opened on a pty, seen from outside."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from measure import AGENTWATCH, HERE
from sessions import LAST_CALL, LAST_WORDS, MODEL
from terminal import Terminal

ONE_STATIC = (sys.executable, str(HERE / "one_static.py"))


class Glyph(NamedTuple):
    """A first character that can be seen: seconds since the command was started, and its CPU until then."""

    wall: float
    cpu: float


class Opening(NamedTuple):
    """Seconds since the command was started, and what it has taken."""

    screen: float
    """Until the header, the newest call and the newest text are there."""
    joined: float
    """Until it is said that every call is paired."""
    cpu: float
    peak_bytes: int


def first_glyph(argv: Sequence[str]) -> Glyph:
    """Start a command, and end it when it has drawn something."""
    with Terminal(argv) as terminal:
        return Glyph(terminal.first_glyph() - terminal.started, terminal.cpu_seconds())


def open_session(path: Path, calls: int, *, seconds: float = 300.0) -> Opening:
    """Open a generated session that has so many calls, and wait until all of it is joined."""
    newest = (MODEL.encode(), LAST_CALL.encode(), LAST_WORDS.encode())
    with Terminal((*AGENTWATCH, str(path))) as terminal:
        came = terminal.moments(*newest, rb"%d of %d calls? paired" % (calls, calls), seconds=seconds)
        *screen, joined = (at - terminal.started for at in came)
        return Opening(max(screen), joined, terminal.cpu_seconds(), terminal.peak_bytes())
