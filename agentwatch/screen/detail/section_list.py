"""A list of sections of lines, stacked vertically."""

from __future__ import annotations

from bisect import bisect_right
from itertools import accumulate

from textual.strip import Strip

from agentwatch.analysis.query import Query
from agentwatch.blocks import Block
from agentwatch.safe_text import SafeText
from agentwatch.screen.detail.json_tree import JsonTree
from agentwatch.screen.detail.matches import FoundLines
from agentwatch.screen.detail.sections import Section, StyleOf
from agentwatch.screen.lines.highlight import marked


class SectionList:
    """Sections, and the row at which each begins at the current width."""

    def __init__(self, sections: list[Section]) -> None:
        self._sections = sections
        self._tops = [0]
        self._width = 1
        self._found: FoundLines | None = None

    @property
    def rows(self) -> int:
        """The total number of rows."""
        return self._tops[-1]

    def lay_out(self, width: int, first: int = 0) -> None:
        """Fold the sections to a width, in columns, starting with section `first`."""
        self._width = width
        heights = (section.lay_out(width) for section in self._sections[first:])
        self._tops[first:] = accumulate(heights, initial=self._tops[first])

    def row(self, row: int, style_of: StyleOf) -> Strip:
        """Return one row."""
        index = self._index(row)
        section, own = self._sections[index], row - self._tops[index]
        strip = section.row(own, style_of)
        if self._found is not None:
            for start, end, is_current in self._found.in_row(section, own, style_of):
                strip = marked(strip, start, end, style_of("selected" if is_current else "chosen"))
        return strip

    def text(self) -> SafeText:
        """Return all lines as text to copy."""
        return SafeText("\n".join(section.text() for section in self._sections))

    def mark(self, query: Query | None) -> None:
        """Highlight the matches of a query; None removes the highlights."""
        self._found = None if query is None else FoundLines(query)

    def row_of_match(self, block: Block | None, nth: int) -> int | None:
        """Make one match the current one, and return the row in which it begins; None if there is no match.

        Args:
            block: The block that contains the match; if it is None or not shown, the first match of
                all sections becomes the current one.
            nth: The number of matches before it in the block.
        """
        found = self._found
        if found is None:
            return None
        own = [section for section in self._sections if block is not None and section.block == block]
        for section in own + self._sections:
            place = found.choose(section, nth if section in own else 0)
            if place is not None:
                index = self._sections.index(section)
                self.lay_out(self._width, index)
                return self._tops[index] + section.row_of(*place)
        return None

    def is_branch(self, row: int) -> bool:
        """Return whether a branch of a tree begins at a row."""
        if not 0 <= row < self.rows:
            return False
        index = self._index(row)
        section = self._sections[index]
        return isinstance(section, JsonTree) and section.is_branch(row - self._tops[index])

    def turn(self, row: int) -> None:
        """Fold or open the branch at a row."""
        index = self._index(row)
        section = self._sections[index]
        if isinstance(section, JsonTree):
            section.turn(row - self._tops[index])
            self.lay_out(self._width, index)

    def next_branch(self, start: int | None, step: int, rows: range) -> int | None:
        """Return the row of the next branch; None if there is none.

        Args:
            start: The row from which to search; if it is None or not in `rows`, the search covers all of
                `rows`.
            step: 1 to search downwards, -1 to search upwards.
            rows: The rows to search.
        """
        if start is None or start not in rows:
            start = rows.start - 1 if step > 0 else rows.stop
        ahead = range(start + 1, rows.stop) if step > 0 else range(start - 1, rows.start - 1, -1)
        return next((row for row in ahead if self.is_branch(row)), None)

    def _index(self, row: int) -> int:
        return bisect_right(self._tops, row) - 1
