"""The scale of the time bar: recorded time, or bytes in a recording without times."""

from __future__ import annotations

from collections.abc import Callable

from agentwatch.feed.timeline import Timeline

_LEAST_MS = 10_000
_LEAST_BYTES = 4096


class Axis:
    """Converts between moments and positions on the scale of the bar.

    A position is a time in ms since the epoch; a number of bytes if the recording has no times; or a time
    that silences were cut from.
    """

    def __init__(self, timeline: Timeline, shortened: Callable[[int], int] | None = None) -> None:
        """Create the axis.

        Args:
            timeline: The times of the recording.
            shortened: Returns a time with the long silences before it shortened, in ms; it must not decrease.
                None leaves silences as they are.
        """
        self._timeline = timeline
        self._shortened = shortened or _same

    @property
    def has_times(self) -> bool:
        """Whether positions are times."""
        return self._timeline.has_times and self._timeline.first_ms is not None

    @property
    def size(self) -> int:
        """The moment at which everything read so far is shown."""
        return self._timeline.size

    @property
    def begin(self) -> int:
        """The position of the first line."""
        return self._shortened(self._timeline.first_ms or 0) if self.has_times else 0

    @property
    def end(self) -> int:
        """The position of the last line."""
        if not self.has_times:
            return self._timeline.size
        return max(self._shortened(self._timeline.last_ms or 0), self.begin)

    def length(self, *, is_growing: bool) -> int:
        """Return the length of the scale; at least 1.

        While the recording grows, the length grows in steps of a quarter, so that the marks rarely move.
        """
        length = max(self.end - self.begin, 1)
        if not is_growing:
            return length
        step = _LEAST_MS if self.has_times else _LEAST_BYTES
        while step < length:
            step += step // 4
        return step

    def offset_at(self, position: int) -> int:
        """Return the moment at a position: after the last line at or before it."""
        if not self.has_times:
            return min(max(position, 0), self._timeline.size)
        return self._timeline.offset_at(self.ms_at(position))

    def position_of(self, moment: int) -> int:
        """Return the position of a moment, between `begin` and `end`."""
        if not self.has_times:
            return moment
        ms = self._timeline.ms_at(moment)
        return self.begin if ms is None else self.position_at(ms)

    def position_at(self, ms: int) -> int:
        """Return the position of a recorded time, between `begin` and `end`."""
        return min(max(self._shortened(ms), self.begin), self.end)

    def ms_at(self, position: int) -> int:
        """Return the recorded time at a position on a scale of times, in ms since the epoch.

        If a silence was cut there, it is the end of the silence.
        """
        if self._shortened is _same:
            return position
        low, high = self._timeline.first_ms or 0, self._timeline.last_ms or 0
        while low < high:
            middle = (low + high + 1) // 2
            if self._shortened(middle) <= position:
                low = middle
            else:
                high = middle - 1
        return low

    def silence_ms(self, moment: int, position: int) -> int:
        """Return how long no line was recorded after a moment, in ms.

        Args:
            moment: The moment at which the silence begins.
            position: A position at which a later line is already recorded.
        """
        began_ms = self._timeline.ms_at(moment)
        if began_ms is None:
            return 0
        low, high = began_ms, max(self.ms_at(position), began_ms)
        while low < high:
            middle = (low + high) // 2
            if self._timeline.offset_at(middle) > moment:
                high = middle
            else:
                low = middle + 1
        return low - began_ms


def _same(ms: int) -> int:
    return ms
