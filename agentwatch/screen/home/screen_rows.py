"""The rows of the pane that each line of the list takes: one, or two for a session in a narrow pane."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate

from agentwatch.machine.listing.lines import Heading, Line, RowLine


class ScreenRows:
    """The lines of the list, and where they are in the pane."""

    def __init__(self) -> None:
        self.lines: Sequence[Line] = ()
        self.is_wide = True
        """Whether every line takes one row."""
        self._ends: list[int] = []
        """The row after each line, in a narrow pane."""

    def __len__(self) -> int:
        """Return the number of rows."""
        if self.is_wide:
            return len(self.lines)
        return self._ends[-1] if self._ends else 0

    def put(self, lines: Sequence[Line], *, is_wide: bool) -> None:
        """Lay out other lines, or the same lines in another width."""
        self.lines, self.is_wide = lines, is_wide
        heights = () if is_wide else (2 if isinstance(line, RowLine) else 1 for line in lines)
        self._ends = [*accumulate(heights)]

    def at(self, y: int) -> tuple[int, int]:
        """Return the index of the line in row `y`, and the number of the row within the line."""
        if self.is_wide:
            return y, 0
        index = bisect_right(self._ends, y)
        return index, y - self.top(index)

    def top(self, index: int) -> int:
        """Return the first row of a line; the number of rows for an index after the last line."""
        if self.is_wide or index <= 0:
            return max(index, 0)
        return self._ends[index - 1]

    def rows(self, index: int) -> range:
        """Return the rows of a line."""
        return range(self.top(index), self.top(index + 1))

    def is_selectable(self, index: int) -> bool:
        """Return whether a line can be selected: a heading cannot."""
        return not isinstance(self.lines[index], Heading)

    def find(self, wanted: object, near: int) -> int | None:
        """Return the index of the line with an identity; None if there is none, or for None.

        Args:
            wanted: The identity.
            near: The index at which it probably is.
        """
        if wanted is None:
            return None
        if near < len(self.lines) and identity(self.lines[near]) == wanted:
            return near
        return next((at for at, line in enumerate(self.lines) if identity(line) == wanted), None)

    def selectable(self, index: int, step: int) -> int | None:
        """Return the index of the nearest line that can be selected, from `index` on in steps of 1 or -1."""
        while 0 <= index < len(self.lines):
            if not isinstance(self.lines[index], Heading):
                return index
            index += step
        return None

    def nearest(self, index: int) -> int | None:
        """Return the index of a line that can be selected: `index`, or a line after it, or one before it."""
        index = max(0, min(index, len(self.lines) - 1))
        later = self.selectable(index, 1)
        return self.selectable(index, -1) if later is None else later


def identity(line: Line) -> object:
    """Return what distinguishes a line from all others of the list, in every later list too."""
    if isinstance(line, RowLine):
        return line.row.key
    return line.group if isinstance(line, Heading) else line.fold
