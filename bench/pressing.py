"""Keys that are pressed, and when the screen answers them."""

from __future__ import annotations

import re
import time
from random import Random

from measure import MILLISECONDS, percentile
from terminal import Terminal

_CALL_ID = re.compile(rb"toolu_01(\d{22})")
_CARRIED = 64
_BEGIN_SECONDS = 0.3
_LEAST_PAUSE = 0.05
_MOST_PAUSE = 0.2
_PATIENCE = 30.0


class Presser:
    """Moves through the calls, key by key.

    The detail shows the id of the chosen call, and nothing else shows an id: a key is answered when
    another id comes out of the pty. Pauses are uneven, so as not to keep step with the frames.
    """

    def __init__(self, terminal: Terminal) -> None:
        self.answers: list[float] = []
        """Seconds from each key to its answer."""
        self._terminal = terminal
        self._random = Random(1)
        self._chosen = b""
        self._said = b""

    def begin(self, key: bytes) -> None:
        """Go to the calls, and with a key to one of which the end is not followed."""
        for first in (b"2", key):
            self._terminal.press(first)
            until = time.monotonic() + _BEGIN_SECONDS
            while (left := until - time.monotonic()) > 0:
                self._said = self._said[-_CARRIED:] + self._terminal.read(left)
                self._is_answered()

    def press(self, key: bytes) -> None:
        """Press a key, wait for its answer and then a while.

        Raises:
            SystemExit: It is not answered.
        """
        at, before = self._terminal.press(key), len(self.answers)
        pause_until = at + _PATIENCE
        self._said = b""
        while (left := pause_until - time.monotonic()) > 0:
            self._said = self._said[-_CARRIED:] + self._terminal.read(left)
            if len(self.answers) == before and self._is_answered():
                self.answers.append(self._terminal.last_read - at)
                pause = _LEAST_PAUSE + (_MOST_PAUSE - _LEAST_PAUSE) * self._random.random()
                pause_until = self._terminal.last_read + pause
        if len(self.answers) == before:
            raise SystemExit(f"{key!r} is not answered after {_PATIENCE:g} s")

    def cells(self) -> tuple[str, str, str, str]:
        """Return how many were pressed, p50, p95 and the longest, as cells of a table."""
        if not self.answers:
            return "0", "–", "–", "–"
        shares = (percentile(self.answers, share) * MILLISECONDS for share in (0.5, 0.95, 1.0))
        p50, p95, longest = (f"{share:.0f} ms" for share in shares)
        return f"{len(self.answers)}", p50, p95, longest

    def _is_answered(self) -> bool:
        found = [number for number in _CALL_ID.findall(self._said) if number != self._chosen]
        self._chosen = found[-1] if found else self._chosen
        return bool(found)
