"""Heights of stacked items: finds the top of each item, and the item that contains a line."""

from __future__ import annotations

from array import array
from collections.abc import Iterable


class Heights:
    """A list of heights with partial sums (a Fenwick tree): every query and change costs O(log n).

    The sum at place i, counted from 1, covers the heights after place i & (i - 1) (i without its lowest bit)
    up to and including place i.
    """

    def __init__(self, heights: Iterable[int] = ()) -> None:
        self._heights = array("I", heights)
        self._sums = array("Q", [0, *self._heights])
        for place in range(1, len(self._sums)):
            if (upper := place + (place & -place)) < len(self._sums):
                self._sums[upper] += self._sums[place]

    def __len__(self) -> int:
        return len(self._heights)

    def __getitem__(self, index: int) -> int:
        return self._heights[index]

    def __setitem__(self, index: int, height: int) -> None:
        more = height - self._heights[index]
        if more:
            self._heights[index] = height
            place = index + 1
            while place < len(self._sums):
                self._sums[place] += more
                place += place & -place

    def append(self, height: int) -> None:
        """Append a height."""
        self._heights.append(height)
        place = len(self._heights)
        below, first = place - 1, place - (place & -place)
        while below > first:
            height += self._sums[below]
            below -= below & -below
        self._sums.append(height)

    def pop(self) -> int:
        """Remove and return the last height."""
        self._sums.pop()
        return self._heights.pop()

    def top(self, index: int) -> int:
        """Return the sum of the heights before `index`, which may be the number of heights."""
        top = 0
        while index:
            top += self._sums[index]
            index -= index & -index
        return top

    def total(self) -> int:
        """Return the sum of all heights."""
        return self.top(len(self._heights))

    def at(self, line: int) -> tuple[int, int]:
        """Return the index of the item that contains a line, and the line's offset in it.

        Past the end, the index is the number of items, and the offset counts from the end. Of several items
        that begin at the same line, it is the last, because the others have height 0.
        """
        index, step = 0, 1 << len(self._heights).bit_length() >> 1
        while step:
            place = index + step
            if place < len(self._sums) and self._sums[place] <= line:
                index = place
                line -= self._sums[place]
            step >>= 1
        return index, line
