"""Which moments each column of the time bar covers, and where nothing was recorded."""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from typing import NamedTuple

from agentwatch.analysis.time_bar.axis import Axis

_LEAST_CELLS = 3
_LEAST_SHARE = 12
_LEAST_MS = 5000
"""A silence is shown if it lasts 5 s, and takes at least three cells and a twelfth of the bar."""


class Silence(NamedTuple):
    """A stretch without any line."""

    first: int
    """Its first cell."""
    end: int
    """The cell after its last one."""
    ms: int
    """Its real length, whatever the scale shortens."""


class Layout:
    """The cells of a bar of one width: for each, the moment at its end.

    Lines are appended at later times only, so the moments of cells before the newest line do not change.
    """

    def __init__(self, axis: Axis, width: int, length: int) -> None:
        """Lay out an axis.

        Args:
            axis: The axis.
            width: The number of cells; at least 1.
            length: The length of the scale, in its positions.
        """
        self._axis = axis
        self.width = width
        self.length = length
        self._has_times = axis.has_times
        self._begin = axis.begin
        self._size = -1
        """The size of the recording at the last update."""
        self.ends = array("q", [0]) * width
        """The moment at the end of each cell."""
        self._silences: dict[int, Silence] = {}
        """By the moment at which they begin; only those that a later line has ended."""

    @property
    def is_valid(self) -> bool:
        """Whether the axis still begins where it did, and measures the same."""
        return (self._has_times, self._begin) == (self._axis.has_times, self._axis.begin)

    def update(self) -> int:
        """Take what was recorded since the last update; return the first cell that may have changed."""
        size = self._axis.size
        if size == self._size:
            return self.width
        first = 0 if self._size < 0 else bisect_left(self.ends, self._size)
        self._size = size
        before = self.ends[first - 1] if first else 0
        for cell in range(first, self.width):
            if before < size:
                before = min(max(self._axis.offset_at(self.position_after(cell) - 1), before), size)
            self.ends[cell] = before
        self.ends[-1] = size  # a line that has no time is shown too
        return first

    def position_after(self, cell: int) -> int:
        """Return the first position after a cell."""
        return self._begin + max(self.length * (cell + 1) // self.width, 1)

    def cell_of(self, moment: int) -> int:
        """Return the cell of a moment."""
        return min(bisect_left(self.ends, moment), self.width - 1)

    def cell_at(self, moment: int, ms: int) -> int:
        """Return the cell of a time at which a moment is shown: in a silence it moves towards the next line.

        Args:
            moment: The moment.
            ms: The recorded time, in ms since the epoch.
        """
        cell = self.cell_of(moment)
        if not self._has_times:
            return cell
        following = min(bisect_right(self.ends, moment), self.cell_of(self._size))
        by_time = (self._axis.position_at(ms) - self._begin) * self.width // self.length
        return max(min(by_time, following), cell)

    def silences(self) -> list[Silence]:
        """Return the long silences, from left to right."""
        found: list[Silence] = []
        if not self._has_times:
            return found
        last, cell = self.cell_of(self._size), 1
        while cell < last:
            first, moment = cell, self.ends[cell - 1]
            while cell < last and self.ends[cell] == moment:
                cell += 1
            cells = cell - first
            if cells >= _LEAST_CELLS and cells * _LEAST_SHARE >= self.width:
                silence = self._silence(moment, first, cell)
                found += [silence] if silence.ms >= _LEAST_MS else []
            cell = max(cell, first + 1)
        return found

    def _silence(self, moment: int, first: int, end: int) -> Silence:
        silence = self._silences.get(moment)
        if silence is None:
            ms = self._axis.silence_ms(moment, self.position_after(end))
            silence = self._silences[moment] = Silence(first, end, ms)
        return silence
