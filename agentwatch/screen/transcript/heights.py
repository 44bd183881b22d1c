"""Heights of stacked items: finds the top of each item, and the item that contains a line."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Iterable
from itertools import accumulate

from agentwatch.session.storage.numbers import PAGE, Numbers
from agentwatch.session.storage.spill import Spill

_GROUP = 64
"""The number of heights with one sum. With a sum for each height, each item would take 8 bytes more."""
assert PAGE % _GROUP == 0, "the heights of a group must be on one page"


class Heights:
    """A list of heights with sums of groups (a Fenwick tree): every query and change costs O(log n).

    The sum at place i, counted from 1, covers the groups after place i & (i - 1) (i without its lowest bit)
    up to and including place i.
    """

    def __init__(self, heights: Iterable[int] = (), spill: Spill | None = None) -> None:
        """Create a list; `spill` stores the older heights."""
        self._heights = Numbers("I", spill or Spill())
        self._sums = array("Q", [0])
        self._found = (0, 0, 0)
        """The item that was found last: its index, its first line, and the line after its last one."""
        for height in heights:
            self.append(height)

    def __len__(self) -> int:
        return len(self._heights)

    def __getitem__(self, index: int) -> int:
        return self._heights[index]

    def __setitem__(self, index: int, height: int) -> None:
        more = height - self._heights[index]
        if more:
            self._found = (0, 0, 0)
            self._heights[index] = height
            place = index // _GROUP + 1
            while place < len(self._sums):
                self._sums[place] += more
                place += place & -place

    def append(self, height: int) -> None:
        """Append a height."""
        is_new_group = len(self._heights) % _GROUP == 0
        self._heights.append(height)
        if is_new_group:
            self._add_group(height)
        else:
            self._sums[-1] += height

    def _add_group(self, height: int) -> None:
        """Append the sum of a new group, whose heights add up to `height` so far."""
        place = len(self._sums)
        below, first = place - 1, place - (place & -place)
        while below > first:
            height += self._sums[below]
            below -= below & -below
        self._sums.append(height)

    def pop(self) -> int:
        """Remove and return the last height."""
        self._found = (0, 0, 0)
        height = self._heights.pop()
        if len(self._heights) % _GROUP:
            self._sums[-1] -= height
        else:
            self._sums.pop()
        return height

    def prefix(self, length: int) -> Heights:
        """Return a list of the first `length` heights. Either list may change without changing the other."""
        prefix = Heights()
        prefix._heights = self._heights.prefix(length)
        prefix._sums = self._sums[: (length + _GROUP - 1) // _GROUP + 1]
        if length % _GROUP:
            prefix._sums.pop()
            last = sum(prefix._heights.part(length - length % _GROUP, length))
            prefix._add_group(last)
        return prefix

    def top(self, index: int) -> int:
        """Return the sum of the heights before `index`, which may be the number of heights."""
        place = index // _GROUP
        top = sum(self._heights.part(place * _GROUP, index))
        while place:
            top += self._sums[place]
            place -= place & -place
        return top

    def total(self) -> int:
        """Return the sum of all heights."""
        return self.top(len(self._heights))

    def at(self, line: int) -> tuple[int, int]:
        """Return the index of the item that contains a line, and the line's offset in it.

        Past the end, the index is the number of items, and the offset counts from the end. Of several items
        that begin at the same line, it is the last, because the others have height 0.
        """
        index, first_line, end = self._found
        if first_line <= line < end:  # as for most lines of a pane that is drawn
            return index, line - first_line
        asked, group, groups = line, 0, len(self._sums) - 1
        step = 1 << groups.bit_length() >> 1
        while step:
            place = group + step
            if place <= groups and self._sums[place] <= line:
                group = place
                line -= self._sums[place]
            step >>= 1
        if group == groups:
            return len(self._heights), line
        first = group * _GROUP
        tops = list(accumulate(self._heights.part(first, first + _GROUP), initial=0))
        index = bisect_right(tops, line) - 1
        row = line - tops[index]
        if index + 1 < len(tops):
            self._found = first + index, asked - row, asked - row + tops[index + 1] - tops[index]
        return first + index, row
