"""A list of sections of lines, stacked vertically."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from itertools import accumulate, islice
from typing import NamedTuple

from textual.strip import Strip

from agentwatch.analysis.query import Query
from agentwatch.blocks import Block, ContentBlock, ErrorBlock, FieldsBlock, OutputBlock, TextBlock
from agentwatch.screen.detail.contents.more_fields import MoreFields, is_same
from agentwatch.screen.detail.json_tree import JsonTree
from agentwatch.screen.detail.matches import FoundLines
from agentwatch.screen.detail.sections import Section, StyleOf
from agentwatch.screen.lines.highlight import marked
from agentwatch.text.safe import SafeText


class Spot(NamedTuple):
    """Where a match is."""

    row: int
    left: int
    """The column at which the view must begin to show it."""


class SectionList:
    """Sections, and the row at which each begins at the current width."""

    def __init__(self, sections: list[Section]) -> None:
        self._sections = sections
        self._tops = [0]
        self._width = 1
        self._wraps = False
        self._found: FoundLines | None = None

    @property
    def rows(self) -> int:
        """The total number of rows."""
        return self._tops[-1]

    def lay_out(self, width: int, *, wraps: bool) -> None:
        """Fit the sections to a width, in columns; `wraps` folds long lines of code and output."""
        self._width, self._wraps = width, wraps
        if self._found is not None:
            self._found.forget()
        self._lay_out_from(0)

    def hidden_columns(self) -> int:
        """Return how many columns of the longest line are beyond the right edge."""
        return max((section.hidden_columns() for section in self._sections), default=0)

    def show_from(self, left: int) -> None:
        """Show lines that are cut from column `left` on."""
        for section in self._sections:
            section.left = left

    def output_lines(self) -> Iterator[tuple[int, SafeText]]:
        """Yield the lines of programs' output, each with the row at which it begins."""
        for top, section in zip(self._tops, self._sections, strict=False):
            if isinstance(section.block, OutputBlock | ContentBlock | ErrorBlock):
                yield from (
                    (top + section.row_of(number, 0), line) for number, line in enumerate(section.lines)
                )

    def row(self, row: int, style_of: StyleOf) -> Strip:
        """Return one row."""
        index = self._index(row)
        section, own = self._sections[index], row - self._tops[index]
        strip = section.row(own, style_of)
        if self._found is not None:
            for start, end, is_current in self._found.in_row(section, own, style_of):
                strip = marked(strip, start, end, style_of("selected" if is_current else "chosen"))
        return strip

    def line_at(self, row: int) -> tuple[int, int]:
        """Return the number of the section that a row shows, and the number of the line in it."""
        index = self._index(min(row, self.rows - 1))
        return index, self._sections[index].line_at(min(row, self.rows - 1) - self._tops[index])

    def row_of_line(self, section: int, line: int) -> int:
        """Return the row at which a line of a section begins."""
        return self._tops[section] + self._sections[section].row_of(line, 0)

    def text(self) -> SafeText:
        """Return all lines as text to copy."""
        return SafeText("\n".join(section.text() for section in self._sections))

    def mark(self, query: Query | None) -> None:
        """Highlight the matches of a query; None removes the highlights."""
        self._found = None if query is None else FoundLines(query)

    def choose_match(self, block: Block | None, nth: int) -> Spot | None:
        """Make one match the current one, and return where it is; None if there is no match.

        Args:
            block: The block that contains the match; if it is None or not shown, the first match of
                all sections becomes the current one.
            nth: The number of matches before it in the block.
        """
        found = self._found
        if found is None:
            return None
        field = None
        own = [section for section in self._sections if block is not None and is_same(section.block, block)]
        if isinstance(block, FieldsBlock):
            field, nth = found.field_of(block, nth)
            own = [section for section in own if section.field in (None, field)]
        elif isinstance(block, TextBlock):
            field = block.name
        if not own:
            own = [section for section in self._sections if isinstance(section, MoreFields)]
        for section in own + self._sections:
            is_own = section in own
            under = section.member(block, field) if is_own and isinstance(section, JsonTree) else None
            place = found.choose(section, nth if is_own else 0, under)
            if place is not None:
                index = self._sections.index(section)
                self._lay_out_from(index)
                number, start, end = place
                row = self._tops[index] + section.row_of(number, start)
                return Spot(row, section.left_for(number, start, end))
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
            self._lay_out_from(index)

    def turn_as(self, before: SectionList) -> None:
        """Fold and open branches as in an earlier list of the same call; the caller must lay out the list."""
        for number, section in enumerate(before._sections):
            if isinstance(section, JsonTree) and section.is_turned:
                twin = _twin(before._sections, number, self._sections)
                again = None if twin is None else self._sections[twin]
                if isinstance(again, JsonTree):
                    again.turn_as(section)

    def row_as(self, before: SectionList, row: int) -> int | None:
        """Return the row of what an earlier list of the same call shows at a row; None if it is gone."""
        number, line = before.line_at(row)
        twin = _twin(before._sections, number, self._sections)
        if twin is None:
            return None
        return self.row_of_line(twin, min(line, len(self._sections[twin].lines) - 1))

    def value_at(self, row: int) -> tuple[SafeText, str] | None:
        """Return the name and the text of the branch at a row; None if no branch begins there."""
        index = self._index(row)
        section = self._sections[index]
        if not isinstance(section, JsonTree) or not self.is_branch(row):
            return None
        return section.value_at(row - self._tops[index])

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

    def _lay_out_from(self, first: int) -> None:
        """Fit the sections from number `first` on to the width."""
        heights = (section.lay_out(self._width, wraps=self._wraps) for section in self._sections[first:])
        self._tops[first:] = accumulate(heights, initial=self._tops[first])

    def _index(self, row: int) -> int:
        return bisect_right(self._tops, row) - 1


def _twin(before: list[Section], number: int, now: list[Section]) -> int | None:
    """Return the number of the section that shows now what section `number` showed; None if it is gone."""
    one = before[number]
    nth = sum(_shows_same(one, other) for other in before[:number])
    twins = (at for at, other in enumerate(now) if _shows_same(one, other))
    return next(islice(twins, nth, None), None)


def _shows_same(one: Section, other: Section) -> bool:
    return type(one) is type(other) and one.field == other.field and is_same(one.block, other.block)
