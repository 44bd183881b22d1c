"""Opens a recording on a pty, and measures it from outside."""

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
    """The first visible character: seconds since the command was started, and its CPU seconds until then."""

    wall: float
    cpu: float


class Opening(NamedTuple):
    """What opening a recording took: seconds since the command was started, CPU seconds and memory."""

    screen: float
    """Until the header, the newest call and the newest text are on the screen."""
    joined: float
    """Until the header counts the calls of the whole recording; the header of a preview says `… calls`."""
    cpu: float
    peak_bytes: int


def first_glyph(argv: Sequence[str]) -> Glyph:
    """Start a command, and end it as soon as it has drawn a visible character."""
    with Terminal(argv) as terminal:
        return Glyph(terminal.first_glyph() - terminal.started, terminal.cpu_seconds())


def open_session(path: Path, calls: int, *, seconds: float = 300.0) -> Opening:
    """Open a generated session with `calls` calls, and wait until all of it is loaded."""
    newest = (MODEL.encode(), LAST_CALL.encode(), LAST_WORDS.encode())
    with Terminal((*AGENTWATCH, str(path))) as terminal:
        came = terminal.moments(*newest, rb"%s calls?\b" % f"{calls:,}".encode(), seconds=seconds)
        *screen, joined = (at - terminal.started for at in came)
        return Opening(max(screen), joined, terminal.cpu_seconds(), terminal.peak_bytes())
