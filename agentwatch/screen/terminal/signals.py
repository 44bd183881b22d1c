"""Holds the signals that end the program while no screen can handle them; does not import Textual."""

from __future__ import annotations

import signal
from collections.abc import Callable
from types import FrameType

ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)
"""The signals whose default action would leave the terminal in application mode."""
_SUSPENDING = (signal.SIGTSTP, signal.SIGCONT)
"""The signals that the driver of a screen handles, and never gives back."""


class PendingSignals:
    """Collects the signals that arrive before the screen has its own handlers. Without it, a signal during
    the 200 ms of start-up would lose the recording of a pipe, or leave the terminal in application mode."""

    def __init__(self) -> None:
        self.noted: list[int] = []
        """The signals that arrived; the app exits as if the first one had just arrived."""
        self._before: dict[signal.Signals, Callable[[int, FrameType | None], object] | int | None] = {}

    def hold(self) -> None:
        for number in ENDING:
            if number not in self._before:
                self._before[number] = signal.signal(number, self._note)
        for number in _SUSPENDING:
            self._before.setdefault(number, signal.getsignal(number))

    def release(self) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)
        self._before.clear()

    def _note(self, received: int, _frame: FrameType | None) -> None:
        self.noted.append(received)
