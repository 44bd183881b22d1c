"""Presses keys, and measures how long the screen needs to respond."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from random import Random

from measure import MILLISECONDS, percentile
from terminal import Terminal

_RAW_CALL = re.compile("byte ([0-9,]+) ·".encode())
_OVERLAP_BYTES = 64
_BEGIN_SECONDS = 0.3
_LEAST_PAUSE = 0.05
_MOST_PAUSE = 0.2
_PATIENCE = 30.0


class Presser:
    """Moves through the calls, one key press at a time.

    The detail pane shows the selected call as raw JSON, under a line with its byte offset in the recording.
    No other part of the screen shows a byte offset, so a key has taken effect when a different offset is read
    from the pty. The pauses between presses vary, so that they do not synchronise with the frames.
    """

    def __init__(self, terminal: Terminal) -> None:
        self.answers: list[float] = []
        """Seconds from each key press to its effect."""
        self._terminal = terminal
        self._random = Random(1)
        self._offset = b""
        self._output = b""

    def begin(self, key: bytes) -> None:
        """Focus the calls, select one with `key` so that the end is not followed, and show it as raw JSON."""
        self._press_and_read(b"2")
        if not self._press_and_read(key):
            self._press_and_read(b"r")

    def press(self, key: bytes) -> None:
        """Press a key, wait until it takes effect, and then pause.

        Raises:
            SystemExit: The key has no effect.
        """
        at, before = self._terminal.press(key), len(self.answers)
        pause_until = at + _PATIENCE
        self._output = b""
        while (left := pause_until - time.monotonic()) > 0:
            self._output = self._output[-_OVERLAP_BYTES:] + self._terminal.read(left)
            if len(self.answers) == before and self._is_answered():
                self.answers.append(self._terminal.last_read - at)
                pause = _LEAST_PAUSE + (_MOST_PAUSE - _LEAST_PAUSE) * self._random.random()
                pause_until = self._terminal.last_read + pause
        if len(self.answers) == before:
            raise SystemExit(f"{key!r} is not answered after {_PATIENCE:g} s")

    def cells(self) -> tuple[str, str, str, str]:
        """Return the number of key presses, p50, p95 and the maximum, as table cells."""
        if not self.answers:
            return "0", "–", "–", "–"
        shares = (percentile(self.answers, share) * MILLISECONDS for share in (0.5, 0.95, 1.0))
        p50, p95, longest = (f"{share:.0f} ms" for share in shares)
        return f"{len(self.answers)}", p50, p95, longest

    def _press_and_read(self, key: bytes) -> bool:
        """Press a key, and return whether another call is shown as raw JSON within 0.3 s."""
        self._terminal.press(key)
        until, is_answered = time.monotonic() + _BEGIN_SECONDS, False
        while (left := until - time.monotonic()) > 0:
            self._output = self._output[-_OVERLAP_BYTES:] + self._terminal.read(left)
            is_answered |= self._is_answered()
        return is_answered

    def _is_answered(self) -> bool:
        found = [number for number in _RAW_CALL.findall(self._output) if number != self._offset]
        self._offset = found[-1] if found else self._offset
        return bool(found)


def down_and_up() -> Callable[[], bytes]:
    """Return a function that returns the next key: nine times down, ten times up, ten down, and so on.

    From the third call on, the selection never reaches an end of the list.
    """
    pressed = 0

    def key() -> bytes:
        nonlocal pressed
        pressed += 1
        return b"j" if pressed % 20 < 10 else b"k"

    return key
