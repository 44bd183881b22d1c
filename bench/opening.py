"""Opens a recording on a pty, and measures it from outside."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from measure import AGENTWATCH, HERE
from sessions import LAST_CALL, LAST_WORDS, MODEL
from terminal import Terminal

_INDEX_SECONDS = 300.0
_POLL_SECONDS = 0.05
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
    """Until the screen shows that every call is paired."""
    cpu: float
    peak_bytes: int


def first_glyph(argv: Sequence[str]) -> Glyph:
    """Start a command, and end it as soon as it has drawn a visible character."""
    with Terminal(argv) as terminal:
        return Glyph(terminal.first_glyph() - terminal.started, terminal.cpu_seconds())


def index_of(path: Path) -> Path:
    """Return where agentwatch keeps what it has learnt of a large recording."""
    return path.with_suffix(".index")


def open_session(path: Path, calls: int, *, seconds: float = 300.0) -> Opening:
    """Open a generated session with `calls` calls for the first time, and wait until all of it is loaded."""
    index_of(path).unlink(missing_ok=True)
    return _open(path, calls, seconds)


def reopen_session(path: Path, calls: int) -> tuple[Opening, int]:
    """Open a generated session that was opened before; return also the size of its index, in bytes."""
    index_of(path).unlink(missing_ok=True)
    with Terminal((*AGENTWATCH, str(path))) as terminal:
        until = time.monotonic() + _INDEX_SECONDS
        while not index_of(path).exists() and time.monotonic() < until:
            terminal.read_for(_POLL_SECONDS)
    size = index_of(path).stat().st_size
    opened = _open(path, calls, _INDEX_SECONDS)
    index_of(path).unlink()
    return opened, size


def _open(path: Path, calls: int, seconds: float) -> Opening:
    newest = (MODEL.encode(), LAST_CALL.encode(), LAST_WORDS.encode())
    with Terminal((*AGENTWATCH, str(path))) as terminal:
        came = terminal.moments(*newest, rb"%d of %d calls? paired" % (calls, calls), seconds=seconds)
        *screen, joined = (at - terminal.started for at in came)
        return Opening(max(screen), joined, terminal.cpu_seconds(), terminal.peak_bytes())
