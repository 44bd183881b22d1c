"""The rhythm of a session: the durations of its thoughts and silences so far.

Only the session's own history shows whether a silence is long: one model thinks for 3 s, another for 90 s.
Each stay in a phase counts once, with its longest silence. If every silence counted, a hundred deltas at
intervals of 50 ms would make the usual silence so short that the seconds in which the model writes the
arguments of a call would count as a stall.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection
from enum import StrEnum

from agentwatch.session.call import Pieces

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
    """The durations of the newest 64 stays in each phase, in milliseconds between arrival times."""

    def __init__(self) -> None:
        self.phase = Phase.NOTHING
        self.began_ms: int | None = None
        """When the present phase began, by arrival time; None before the first line."""
        self.thoughts: deque[int] = deque(maxlen=_KEPT)
        """The duration of each thinking phase."""
        self.silences = {
            phase: deque[int](maxlen=_KEPT) for phase in (Phase.WAITING, Phase.THINKING, Phase.WRITING)
        }
        """The longest silence of each stay in a phase. Lines that arrived together have none between them."""
        self._last_ms = 0
        self._longest_ms = 0

    def update(self, phase: Phase, seen_ms: int) -> None:
        """Record the phase of the session after a line that arrived at `seen_ms`."""
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

    def update_by_pieces(self, phase: Phase, pieces: Pieces, last_ms: int) -> None:
        """Record the phase after several lines of the same phase, the last of which arrived at `last_ms`."""
        self.update(phase, pieces.first_ms)
        self._longest_ms = max(self._longest_ms, pieces.longest_gap_ms)
        self._last_ms = last_ms


def usually_under(lengths_ms: Collection[int]) -> int | None:
    """Return the 90th percentile of durations; None for fewer than five, which are too few to judge by."""
    if len(lengths_ms) < _LEAST:
        return None
    return sorted(lengths_ms)[-(-9 * len(lengths_ms) // 10) - 1]
