"""Runs agentwatch on a pty, with a pipe as stdin that a bench or a producer writes to."""

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
def watched_pipe(home: Path, *options: str, keep: bool = False) -> Iterator[tuple[Terminal, IO[bytes]]]:
    """Start a screen that waits for its first event.

    Yields:
        The terminal, and the write end of the pipe.
    """
    theirs, ours = os.pipe()
    with Terminal((*AGENTWATCH, *options), stdin=theirs, home=home, keep=keep) as terminal:
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


def recorded_everything(home: Path, lines: int) -> bool:
    """Return whether the only recording in `home` has this number of lines and passes all checks."""
    (recording,) = home.glob("sessions/*.ndjson")
    found = checked(recording)
    return found["lines"] == lines and found["holds"]
