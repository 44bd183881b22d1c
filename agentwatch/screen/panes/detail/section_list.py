"""A list of sections of lines, stacked vertically."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from itertools import accumulate, islice
from typing import NamedTuple

from textual.strip import Strip

from agentwatch.analysis.block_text import block_text
from agentwatch.analysis.search import Query
from agentwatch.screen.panes.detail.json_tree import JsonTree
from agentwatch.screen.panes.detail.sections import Section, StyleOf
from agentwatch.screen.widgets.painting import marked
from agentwatch.session.blocks import Block, ContentBlock, ErrorBlock, FieldsBlock, OutputBlock, TextBlock
from agentwatch.text.amounts import plural
from agentwatch.text.safe import SafeText, exact_text

# The matches of a query in the lines of a detail, and which of them is current.


class _Found(NamedTuple):
    begins: list[tuple[int, int]]
    """The number of the line and the first character of each match."""
    spans: dict[int, list[tuple[int, int]]]
    """The first and end characters of the parts of matches, by the number of the line."""


class FoundLines:
    """The matches of a query in sections; each section is searched when it is first drawn."""

    def __init__(self, query: Query) -> None:
        self._pattern = query.pattern
        self._found: dict[Section, _Found] = {}
        self._current: tuple[Section, int, int] | None = None

    def choose(self, section: Section, nth: int, under: str | None = None) -> tuple[int, int, int] | None:
        """Make a match of a section, or of its member `under`, the current one; open the branches above it.
        Return its line, and its first and end characters; None if the section has no matches."""
        if isinstance(section, JsonTree):
            nth = section.open_to(self._pattern, nth, under)
            self._found.pop(section, None)
        found = self._in(section)
        if not found.begins:
            return None
        line, start = found.begins[min(nth, len(found.begins) - 1)]
        self._current = section, line, start
        return line, start, next((end for first, end in found.spans.get(line, ()) if first == start), start)

    def field_of(self, block: FieldsBlock, nth: int) -> tuple[str, int]:
        """Return the field of a block that contains a match, and the number of matches before it there."""
        for name, value in block.fields.items():
            alone = block_text(FieldsBlock(block.name, {name: value}))
            count = sum(1 for _ in self._pattern.finditer(exact_text(alone)))
            if nth < count:
                return name, nth
            nth -= count
        return "", nth

    def forget(self) -> None:
        """Search the sections again, because their lines have changed with the width."""
        self._found.clear()

    def in_row(self, section: Section, row: int, style_of: StyleOf) -> Iterator[tuple[int, int, bool]]:
        """Yield the matches in a row, as first and end character, and whether it is the current one."""
        spans = self._in(section).spans
        for line, first, last, at in section.stretches(row, style_of):
            for start, end in spans.get(line, ()):
                if start < last and end > first:
                    is_current = self._current == (section, line, start)
                    yield at + max(start, first) - first, at + min(end, last) - first, is_current

    def _in(self, section: Section) -> _Found:
        found = self._found.get(section)
        if found is None:
            found = self._found[section] = _found_in(section, self._pattern)
        return found


def _found_in(section: Section, pattern: re.Pattern[str]) -> _Found:
    found = _Found([], {})
    starts = [0, *accumulate(len(line) + 1 for line in section.lines)]
    for hit in pattern.finditer("\n".join(section.lines)):
        line = bisect_right(starts, hit.start()) - 1
        found.begins.append((line, hit.start() - starts[line]))
        while starts[line] < hit.end():
            start = max(hit.start() - starts[line], 0)
            end = min(hit.end() - starts[line], len(section.lines[line]))
            found.spans.setdefault(line, []).append((start, end))
            line += 1
    return found


# The fields of a call that nothing above them shows, folded into one line.

Field = tuple[str, str, object]
"""The name of a field's block, the name of the field, and its value."""


def is_same(one: object, other: object) -> bool:
    """Return whether two foreign values are equal; values that are nested too deeply to compare are not."""
    try:
        return one == other
    except RecursionError:
        return False


class MoreFields(JsonTree):
    """A line that unfolds into the fields, each with its own branches folded. A field that repeats an earlier
    one is left out. One with an earlier name and another value gets the name of the block: `result.path`."""

    def __init__(self, fields: Iterable[Field]) -> None:
        self._names: dict[tuple[str, str], str] = {}
        values: dict[str, object] = {}
        for block, name, value in fields:
            shown = name
            if name in values and not is_same(values[name], value):
                shown = f"{block}.{name}"
            self._names[block, name] = shown
            values[shown] = value
        self.count = len(values)
        super().__init__(values, SafeText(plural(self.count, "more field")))

    def member(self, block: Block | None, field: str | None) -> str | None:
        """Return the name under which a field of a block is listed; None if it is not."""
        named = block.name if isinstance(block, FieldsBlock) else "arguments"
        return None if field is None else self._names.get((named, field))


class SectionList:
    def __init__(self, sections: list[Section]) -> None:
        self._sections = sections
        self._tops = [0]
        self._width = 1
        self._wraps = False
        self._found: FoundLines | None = None

    @property
    def rows(self) -> int:
        return self._tops[-1]

    def lay_out(self, width: int, *, wraps: bool) -> None:
        self._width, self._wraps = width, wraps
        if self._found is not None:
            self._found.forget()
        self._lay_out_from(0)

    def hidden_columns(self) -> int:
        return max((section.hidden_columns() for section in self._sections), default=0)

    def show_from(self, left: int) -> None:
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
        return self._tops[section] + self._sections[section].row_of(line, 0)

    def text(self) -> SafeText:
        return SafeText("\n".join(section.text() for section in self._sections))

    def mark(self, query: Query | None) -> None:
        self._found = None if query is None else FoundLines(query)

    def choose_match(self, block: Block | None, nth: int) -> tuple[int, int] | None:
        """Make one match the current one; return its row, and the column at which the view must begin to show
        it. `nth` counts the matches before it in `block`; without the block, the first of all is chosen."""
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
                return row, section.left_for(number, start, end)
        return None

    def is_branch(self, row: int) -> bool:
        if not 0 <= row < self.rows:
            return False
        index = self._index(row)
        section = self._sections[index]
        return isinstance(section, JsonTree) and section.is_branch(row - self._tops[index])

    def turn(self, row: int) -> None:
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
        """Return the row of what an earlier list of the same call shows at a row; None without one."""
        number, line = before.line_at(row)
        twin = _twin(before._sections, number, self._sections)
        if twin is None:
            return None
        return self.row_of_line(twin, min(line, len(self._sections[twin].lines) - 1))

    def value_at(self, row: int) -> tuple[SafeText, str] | None:
        index = self._index(row)
        section = self._sections[index]
        if not isinstance(section, JsonTree) or not self.is_branch(row):
            return None
        return section.value_at(row - self._tops[index])

    def next_branch(self, start: int | None, step: int, rows: range) -> int | None:
        """Return the row of the next branch down (1) or up (-1) among `rows`, after `start` if it is one."""
        if start is None or start not in rows:
            start = rows.start - 1 if step > 0 else rows.stop
        ahead = range(start + 1, rows.stop) if step > 0 else range(start - 1, rows.start - 1, -1)
        return next((row for row in ahead if self.is_branch(row)), None)

    def _lay_out_from(self, first: int) -> None:
        heights = (section.lay_out(self._width, wraps=self._wraps) for section in self._sections[first:])
        self._tops[first:] = accumulate(heights, initial=self._tops[first])

    def _index(self, row: int) -> int:
        return bisect_right(self._tops, row) - 1


def _twin(before: list[Section], number: int, now: list[Section]) -> int | None:
    """Return the number of the section that now shows what section `number` showed before."""
    one = before[number]
    nth = sum(_shows_same(one, other) for other in before[:number])
    twins = (at for at, other in enumerate(now) if _shows_same(one, other))
    return next(islice(twins, nth, None), None)


def _shows_same(one: Section, other: Section) -> bool:
    return type(one) is type(other) and one.field == other.field and is_same(one.block, other.block)
