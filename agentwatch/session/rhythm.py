"""The rhythm of a session: how long its own past thoughts and silences were.

Whether a silence is long only the session itself can tell: one model thinks for 3 s, another for 90.
A stay in one doing counts once, by the longest silence in it. Otherwise a hundred deltas with 50 ms
between them would make the seconds in which the model writes a call's arguments look like a fault.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection
from enum import StrEnum

_KEPT = 64
_LEAST = 5


class Phase(StrEnum):
    """What a session does between two lines."""

    WAITING = "waiting"
    """For the model."""
    THINKING = "thinking"
    WRITING = "writing"
    CALLING = "calling"
    """At least one call is open."""
    NOTHING = "nothing"
    """Its run is over."""


class Rhythm:
    """What the newest 64 stays in each doing were like, in milliseconds by our own clock."""

    def __init__(self) -> None:
        self.phase = Phase.NOTHING
        self.began_ms: int | None = None
        """When it began to do what it does."""
        self.thoughts: deque[int] = deque(maxlen=_KEPT)
        """How long thoughts lasted."""
        self.silences = {
            phase: deque[int](maxlen=_KEPT) for phase in (Phase.WAITING, Phase.THINKING, Phase.WRITING)
        }
        """The longest silence of each stay; lines that came together have none between them."""
        self._last_ms = 0
        self._longest_ms = 0

    def take(self, phase: Phase, seen_ms: int) -> None:
        """Take what the session does from a line on that reached us at `seen_ms`."""
        if self.began_ms is None:
            self.began_ms = self._last_ms = seen_ms
        self._longest_ms = max(self._longest_ms, seen_ms - self._last_ms)
        self._last_ms = seen_ms
        if phase is self.phase:
            return
        if self._longest_ms and self.phase in self.silences:
            self.silences[self.phase].append(self._longest_ms)
        if self.phase is Phase.THINKING and seen_ms > self.began_ms:
            self.thoughts.append(seen_ms - self.began_ms)
        self.phase, self.began_ms, self._longest_ms = phase, seen_ms, 0


def usually_under(lengths_ms: Collection[int]) -> int | None:
    """Return what nine of ten lengths do not exceed; None of fewer than five, which tell nothing."""
    if len(lengths_ms) < _LEAST:
        return None
    return sorted(lengths_ms)[-(-9 * len(lengths_ms) // 10) - 1]
