"""Tables of a report: a name on the left, and columns of numbers that end at the right edge."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from agentwatch.text.safe import SafeText, columns, fitted, safe_line, wrapped

_GAP = 2
_LEAST_NAME = 18
"""Columns of numbers are left out at the right if fewer columns are left for the names."""
_MOST_CHARACTERS = 4096


class Table(NamedTuple):
    """A table with at least one row."""

    title: str
    heads: Sequence[str]
    """The heads of the numbers, the most important first."""
    rows: Sequence[tuple[str, Sequence[str]]]
    """The name and the numbers of each row. A name is foreign text."""
    are_paths: bool = False
    """Whether the names are cut in the middle."""

    def lines(self, width: int) -> Iterator[SafeText]:
        """Yield the lines of the table, which have `width` columns."""
        widths = [
            max(len(head), *(len(cells[at]) for _, cells in self.rows)) + _GAP
            for at, head in enumerate(self.heads)
        ]
        while len(widths) > 1 and width - sum(widths) < _LEAST_NAME:
            widths.pop()
        name_width = max(width - sum(widths), 1)
        for name, cells in ((self.title, self.heads), *self.rows):
            numbers = "".join(f"{cell:>{size}}" for cell, size in zip(cells, widths, strict=False))
            shown = fitted(safe_line(name[:_MOST_CHARACTERS]), name_width, is_path=self.are_paths)
            yield SafeText(f"{shown}{numbers}")


def facts(rows: Sequence[tuple[str, str]], width: int) -> Iterator[SafeText]:
    """Yield lines of a name and its value; a long value continues below itself."""
    left = max(columns(safe_line(name)) for name, _ in rows) + _GAP
    for name, value in rows:
        lines = wrapped(safe_line(value[:_MOST_CHARACTERS]), max(width - left, 1))
        for at, line in enumerate(lines):
            yield SafeText(f"{'' if at else name:{left}}{line}")
