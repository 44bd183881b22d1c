"""The rhythm of a session: how long its thoughts and silences usually were.

Only the session's own history shows whether a silence is long: one model thinks for 3 s, another for 90 s.
Each stay in a phase counts once, with its longest silence. Otherwise a hundred deltas, 50 ms apart, would
make the seconds in which the model writes the arguments of a call resemble a stall.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection
from enum import StrEnum

_KEPT = 64
_LEAST = 5


class Phase(StrEnum):
    """What the session is doing between two lines."""

    WAITING = "waiting"
    """Waiting for the model."""
    THINKING = "thinking"
    WRITING = "writing"
    CALLING = "calling"
    """At least one call is open."""
    NOTHING = "nothing"
    """The run is over."""


class Rhythm:
    """The durations of the newest 64 stays in each phase, in milliseconds by our own clock."""

    def __init__(self) -> None:
        self.phase = Phase.NOTHING
        self.began_ms: int | None = None
        """When the present phase began."""
        self.thoughts: deque[int] = deque(maxlen=_KEPT)
        """How long each thinking phase lasted."""
        self.silences = {
            phase: deque[int](maxlen=_KEPT) for phase in (Phase.WAITING, Phase.THINKING, Phase.WRITING)
        }
        """The longest silence of each stay in a phase. No silence separates lines that arrived together."""
        self._last_ms = 0
        self._longest_ms = 0

    def take(self, phase: Phase, seen_ms: int) -> None:
        """Record that the session is in `phase` since a line that arrived at `seen_ms`."""
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
    """Return the 90th percentile of some durations; None for fewer than five, which prove nothing."""
    if len(lengths_ms) < _LEAST:
        return None
    return sorted(lengths_ms)[-(-9 * len(lengths_ms) // 10) - 1]
