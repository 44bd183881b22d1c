"""Shows the progress of a command that takes over a second."""

from __future__ import annotations

import os
import sys
import time
from contextlib import suppress

_FIRST_SECONDS = 1.0
_STEP_SECONDS = 0.2


class ShownProgress:
    """The progress of one step after another, on one line of a terminal at stderr.

    Nothing is printed during the first second, nor if stderr is not a terminal.
    """

    def __init__(self) -> None:
        self._words = ""
        self._is_shown = False
        self._first = time.monotonic() + _FIRST_SECONDS
        self._next = 0.0
        self._has_terminal = sys.stderr is not None and os.isatty(2)

    def step(self, words: str) -> ShownProgress:
        """Begin a step, such as `redacting`; return the progress itself."""
        self._words, self._next = words, 0.0
        return self

    def __call__(self, done: int, total: int) -> None:
        """Show how much of the step is done, five times a second."""
        percent = min(100 * done // total, 100) if total else 0
        self.show(f"{percent} %")

    def show(self, words: str) -> None:
        """Show how far the step is, in safe words, five times a second."""
        now = time.monotonic()
        if not self._has_terminal or now < max(self._first, self._next):
            return
        self._next, self._is_shown = now + _STEP_SECONDS, True
        self._print(f"\r\x1b[Kagentwatch: {self._words} {words}")

    def clear(self) -> None:
        """Remove the line."""
        if self._is_shown:
            self._print("\r\x1b[K")
            self._is_shown = False

    @staticmethod
    def _print(words: str) -> None:
        with suppress(OSError):
            print(words, end="", file=sys.stderr, flush=True)
