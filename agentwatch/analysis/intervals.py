"""A set of moments in time, kept as a union of intervals."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator


class IntervalSet:
    """A set of moments, stored as sorted, disjoint intervals."""

    def __init__(self) -> None:
        self.total = 0
        """The sum of the lengths of the intervals."""
        self._starts: list[int] = []
        self._ends: list[int] = []

    def add(self, start: int, end: int) -> None:
        """Add the interval from `start` to `end`."""
        if not self._ends or start > self._ends[-1]:  # nearly always; three times as fast
            self._starts.append(start)
            self._ends.append(end)
            self.total += end - start
            return
        first, last = bisect_left(self._ends, start), bisect_right(self._starts, end)
        for index in range(first, last):
            start, end = min(start, self._starts[index]), max(end, self._ends[index])
            self.total -= self._ends[index] - self._starts[index]
        self._starts[first:last], self._ends[first:last] = [start], [end]
        self.total += end - start

    def intervals(self) -> Iterator[tuple[int, int]]:
        """Return the intervals in order, as pairs of start and end."""
        return zip(self._starts, self._ends, strict=True)

    def missing(self, start: int, end: int) -> int:
        """Return the time between `start` and a later `end` that is not in the set."""
        first, last = bisect_right(self._ends, start), bisect_left(self._starts, end)
        held = sum(self._ends[first:last]) - sum(self._starts[first:last])
        if first < last:
            held -= max(start - self._starts[first], 0) + max(self._ends[last - 1] - end, 0)
        return end - start - held
