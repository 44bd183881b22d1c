"""Counts edit-test-fail cycles: files were changed, and then the tests failed again."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True, eq=False)
class Row:
    """Cycles in a row."""

    first: int
    """The number of the first change."""
    last: int
    """The number of the last test run."""
    cycles: int
    tried: int | None
    """The hash of the test command; None if several commands have failed."""
    is_green: bool = False
    """Whether the last test run passed."""


class Cycles:
    """Counts cycles: at least one file was changed, then the tests failed. A green test run ends the row."""

    def __init__(self) -> None:
        self.row: Row | None = None
        """The present row; None if no cycle was completed since the last green test run."""
        self._changed = 0
        """The number of the first change since the last test run; 0 if no file was changed."""

    @property
    def count(self) -> int:
        """The number of completed cycles in the present row."""
        return 0 if self.row is None else self.row.cycles

    def changed(self, number: int) -> None:
        """Note that a call changed a file."""
        self._changed = self._changed or number

    def tested(self, number: int, tried: int | None, is_red: bool) -> Row | None:
        """Note the result of a test run; return the row that a green one ends.

        Args:
            number: The number of the call.
            tried: The hash of the command; None if it cannot be compared.
            is_red: Whether the tests failed.
        """
        changed, self._changed = self._changed, 0
        row = self.row
        if not is_red:
            self.row = None
            if row is not None:
                row.last, row.is_green = number, True
            return row
        if row is not None:
            row.last = number
            row.cycles += changed > 0
            row.tried = row.tried if row.tried == tried else None
        elif changed:
            self.row = Row(changed, number, 1, tried)
        return None
