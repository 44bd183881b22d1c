"""How recorded time passes while a moment plays: in either direction, with shortened silences."""

from __future__ import annotations

from math import ceil
from typing import Protocol

from agentwatch.feed.timeline import Timeline

UNTIMED_MS = 50
"""The time that each line takes if the recording has no times: 20 lines a second."""
_MOST_STEPS = 2000
"""The number of lines at most that are searched for silences in one tick. They take 6 ms."""


class Times(Timeline, Protocol):
    """The times of a recording, and its line ends."""

    def around(self, at_ms: float) -> tuple[int | None, int | None]:
        """Return the last time of a line that is not later than a time, and the first that is later."""

    def before(self, offset: int) -> int:
        """Return the end of the line before the one that ends at `offset`."""

    def after(self, offset: int) -> int:
        """Return the end of the next line after `offset`."""


class Pace:
    """The recorded time at which a playhead stands, also between two lines."""

    def __init__(self, times: Times, max_idle: float | None = None) -> None:
        """Create a pace that stands at the start.

        Args:
            times: The times of the recording.
            max_idle: Longer silences are shortened to this duration, in seconds; None is no limit.
        """
        self.max_idle = max_idle
        self.at_ms: float | None = None
        """The recorded time; None at the start, and if the recording has no times."""
        self.cut_ms = 0
        """The part of the silences that was left out when time last passed, in milliseconds."""
        self._times = times
        self._waited_ms = 0.0
        """In a recording without times, the time since the last line was shown."""

    def stand(self, offset: int) -> None:
        """Go to a moment."""
        self._waited_ms = 0.0
        self.at_ms = self._times.ms_at(offset) if offset else None

    def go_on(self, offset: int, milliseconds: float, *, is_reversed: bool) -> int:
        """Let recorded time pass, and return the moment to which it leads.

        Args:
            offset: The moment that is shown.
            milliseconds: The recorded time that passes; left out silences take none of it.
            is_reversed: Whether the moment plays backwards.
        """
        at_ms = self._times.first_ms if self.at_ms is None else self.at_ms
        last_ms, self.cut_ms = self._times.last_ms, 0
        if at_ms is None or last_ms is None:
            return self._go_on_by_lines(offset, milliseconds, is_reversed=is_reversed)
        if self.max_idle is not None:
            at_ms, milliseconds = self._cut(at_ms, milliseconds, self.max_idle * 1000, is_reversed)
        at_ms = at_ms - milliseconds if is_reversed else min(at_ms + milliseconds, last_ms)
        self.at_ms = at_ms
        return self._times.offset_at(at_ms)

    def _go_on_by_lines(self, offset: int, milliseconds: float, *, is_reversed: bool) -> int:
        """Go on by the lines that are due in a recording without times."""
        self._waited_ms += milliseconds
        lines, self._waited_ms = divmod(self._waited_ms, UNTIMED_MS)
        move = self._times.before if is_reversed else self._times.after
        for _ in range(min(int(lines), _MOST_STEPS)):
            offset = move(offset)
        return offset

    def _cut(
        self, at_ms: float, milliseconds: float, most_ms: float, is_reversed: bool
    ) -> tuple[float, float]:
        """Go on from line to line over shortened silences.

        Returns:
            The time of the last line that is reached, and what remains of the milliseconds, which lead to a
            time before the next line.
        """
        if most_ms == 0:
            first_ms, last_ms = self._times.first_ms, self._times.last_ms
            return (first_ms or 0) - 1 if is_reversed else last_ms or 0, 0
        for _ in range(_MOST_STEPS):
            earlier_ms, later_ms = self._times.around(ceil(at_ms) - 1 if is_reversed else at_ms)
            if earlier_ms is None or later_ms is None:
                return at_ms, milliseconds
            passed_ms, left_ms = at_ms - earlier_ms, later_ms - at_ms
            if is_reversed:
                passed_ms, left_ms = left_ms, passed_ms
            is_short = later_ms - earlier_ms <= most_ms
            wait_ms = left_ms if is_short else max(most_ms - passed_ms, 0)
            if milliseconds < wait_ms:
                return at_ms, milliseconds
            milliseconds -= wait_ms
            self.cut_ms += int(left_ms - wait_ms)
            at_ms = earlier_ms if is_reversed else later_ms
        return at_ms, 0
