"""The rows of the calls pane as columns of numbers."""

from __future__ import annotations

from array import array
from typing import NamedTuple


class Row(NamedTuple):
    """One call, or a fold of several; the numbers are indices into the session's calls."""

    first: int
    last: int
    is_same: bool = True
    """Whether all calls of the fold are the same call, repeated."""
    is_open: bool = False
    """Whether the fold is open: one row for each of its calls follows."""
    fold: int = -1
    """For a row inside an open fold, the index of the fold's first call; otherwise -1."""

    @property
    def is_fold(self) -> bool:
        """Whether the row contains several calls."""
        return self.last > self.first


class RowList:
    """A list of rows as columns of numbers: 13 bytes per row, where an object takes 150."""

    def __init__(self) -> None:
        self.firsts = array("I")
        self._lasts = array("I")
        self._folds = array("i")
        self._flags = array("B")
        """Bit 0: `is_same`, bit 1: `is_open`."""

    def __len__(self) -> int:
        return len(self.firsts)

    def __getitem__(self, y: int) -> Row:
        flags = self._flags[y]
        return Row(self.firsts[y], self._lasts[y], bool(flags & 1), bool(flags & 2), self._folds[y])

    def append(self, row: Row) -> None:
        """Append a row."""
        self.firsts.append(row.first)
        self._lasts.append(row.last)
        self._folds.append(row.fold)
        self._flags.append(row.is_same | row.is_open << 1)

    def prefix(self, length: int) -> RowList:
        """Return a list of the first `length` rows."""
        prefix = RowList()
        prefix.firsts, prefix._lasts = self.firsts[:length], self._lasts[:length]
        prefix._folds, prefix._flags = self._folds[:length], self._flags[:length]
        return prefix

    def calls(self) -> int:
        """Return the number of calls in the rows; those in an open fold count once."""
        return sum(self._lasts) - sum(self.firsts) + self._folds.count(-1)

    def replace(self, top: int, end: int, rows: list[Row]) -> None:
        """Replace the rows from `top` up to `end`."""
        self.firsts[top:end] = array("I", [row.first for row in rows])
        self._lasts[top:end] = array("I", [row.last for row in rows])
        self._folds[top:end] = array("i", [row.fold for row in rows])
        self._flags[top:end] = array("B", [row.is_same | row.is_open << 1 for row in rows])
