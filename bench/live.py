"""agentwatch on a pty, its stdin a pipe that somebody else writes."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from checked import checked
from measure import AGENTWATCH, HERE, environment
from terminal import Terminal

WAITING = rb"waiting for the first event"


@contextmanager
def watched_pipe(home: Path, *options: str, keeps: bool = False) -> Iterator[tuple[Terminal, IO[bytes]]]:
    """Give a screen that waits for its first event, and the end of its pipe that is written to."""
    theirs, ours = os.pipe()
    with Terminal((*AGENTWATCH, *options), stdin=theirs, home=home, keeps=keeps) as terminal:
        os.close(theirs)
        with os.fdopen(ours, "wb", buffering=0) as pipe:
            terminal.wait_for(WAITING)
            yield terminal, pipe


@contextmanager
def produced(pipe: IO[bytes], **options: object) -> Iterator[subprocess.Popen[bytes]]:
    """Start a producer that writes to the pipe; an option is `deltas=10` or `tiny=True`."""
    argv = [sys.executable, str(HERE / "producer.py")]
    for name, value in options.items():
        argv += [f"--{name}"] if value is True else [f"--{name}", f"{value}"]
    with subprocess.Popen(argv, stdout=pipe, env=environment()) as producer:
        try:
            yield producer
        finally:
            producer.kill()


def was_all_taken_in(home: Path, lines: int) -> bool:
    """Return whether the one recording in a home has so many lines, all understood and in agreement."""
    (recording,) = home.glob("sessions/*.ndjson")
    found = checked(recording)
    return found["lines"] == lines and found["holds"]
