"""The terminal: whether there is one, and giving it to the screen when stdin or stdout are pipes.

Textual reads keys from descriptor 0 and asks descriptor 1 for the size, whatever they are: without
this, `cat FILE | agentwatch` would take the stream for keys (measured: its letters fired bindings).
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager


def fill_descriptors() -> None:
    """Open /dev/null where 0, 1 or 2 is closed: another file would take the number, and be drawn on."""
    for fd in (0, 1, 2):
        try:
            os.fstat(fd)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
    if sys.__stdin__ is None:  # Textual asks it for its descriptor
        vars(sys)["__stdin__"] = open(0, closefd=False)  # noqa: SIM115 - open as long as we are


def has_terminal() -> bool:
    """Return whether a screen can be drawn: there is a controlling terminal, and it is not dumb."""
    if os.environ.get("TERM", "dumb") == "dumb":
        return False
    try:
        os.close(os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY))
    except OSError:
        return False
    return True


@contextmanager
def claimed_terminal() -> Iterator[None]:
    """Give descriptors 0, 1 and 2 to the terminal, and put back afterwards what was there.

    Raises:
        OSError: There is no controlling terminal.
    """
    if "TEXTUAL_DRIVER" in os.environ:  # a web driver speaks on 0 and 1 itself
        yield
        return
    tty = os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY)
    saved: dict[int, int] = {}
    for fd in (0, 1, 2):
        if not os.isatty(fd):
            saved[fd] = os.dup(fd)
            os.dup2(tty, fd)
    os.close(tty)
    try:
        yield
    finally:
        for fd, original in saved.items():
            os.dup2(original, fd)
            os.close(original)
