"""Detects the terminal, and makes it available to the screen when stdin or stdout is a pipe.

Textual reads keys from descriptor 0 and the terminal's size from descriptor 1, even if they are pipes.
Without this module, `cat FILE | agentwatch` would read the stream as keys (measured: its letters triggered
bindings).
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager


def fill_descriptors() -> None:
    """Open the descriptors 0, 1 and 2 if they are closed. Otherwise a file opened later would get such a
    number, and the screen would be drawn into it. Printing to a closed stdout remains an error."""
    for fd in (0, 1, 2):
        try:
            os.fstat(fd)
        except OSError:
            os.open(os.devnull, os.O_RDONLY if fd == 1 else os.O_RDWR)
    if sys.__stdin__ is None:  # Textual calls its `fileno`
        vars(sys)["__stdin__"] = open(0, closefd=False)  # noqa: SIM115 - it stays open until the program ends


def has_terminal() -> bool:
    """Whether there is a controlling terminal, and TERM is not `dumb`."""
    if os.environ.get("TERM", "dumb") == "dumb":
        return False
    try:
        os.close(os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY))
    except OSError:
        return False
    return True


@contextmanager
def claimed_terminal() -> Iterator[None]:
    """Connect 0, 1 and 2 to the terminal, and restore them afterwards. Garbage is not collected until
    `TerminalApp` has drawn its first frame: a collection takes 40 ms."""
    saved: dict[int, int] = {}
    gc.disable()
    try:
        if "TEXTUAL_DRIVER" not in os.environ:  # a web driver uses descriptors 0 and 1 itself
            tty = os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY)
            for fd in (0, 1, 2):
                if not os.isatty(fd):
                    saved[fd] = os.dup(fd)
                    os.dup2(tty, fd)
            os.close(tty)
        yield
    finally:
        gc.enable()
        for fd, original in saved.items():
            os.dup2(original, fd)
            os.close(original)
