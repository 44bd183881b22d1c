"""The times of a recording, as a list of lines."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence


class RecordedTimes:
    """The recorded times of lines, which never go back."""

    def __init__(self, lines: Sequence[tuple[int, int]], size: int) -> None:
        """Create the times of a recording.

        Args:
            lines: The offset with which each line begins, and its time in ms since the epoch.
            size: The size of the recording, in bytes.
        """
        self._offsets = [offset for offset, _ in lines]
        self._ms = [ms for _, ms in lines]
        self.has_times = bool(lines)
        self.first_ms = self._ms[0] if lines else None
        self.last_ms = self._ms[-1] if lines else None
        self.size = size

    def ms_at(self, offset: int) -> int | None:
        """Return the time of the last line that begins before an offset."""
        at = bisect_left(self._offsets, offset)
        return self._ms[at - 1] if at else None

    def offset_at(self, at_ms: float) -> int:
        """Return the offset after the last line at or before a time."""
        return [*self._offsets, self.size][bisect_right(self._ms, at_ms)]
