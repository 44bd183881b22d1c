"""The matches of a query in the lines of a detail, and which of them is current."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from itertools import accumulate
from typing import NamedTuple

from agentwatch.analysis.block_text import block_text
from agentwatch.analysis.query import Query
from agentwatch.blocks import FieldsBlock
from agentwatch.screen.detail.json_tree import JsonTree
from agentwatch.screen.detail.sections import Section, StyleOf
from agentwatch.text.safe import safe_text


class _Found(NamedTuple):
    begins: list[tuple[int, int]]
    """For each match, the number of its line and the character at which it begins."""
    spans: dict[int, list[tuple[int, int]]]
    """For each line number, the first and end characters of its parts of matches."""


class FoundLines:
    """The matches of a query in sections; each section is searched when it is first drawn."""

    def __init__(self, query: Query) -> None:
        self._pattern = query.pattern
        self._found: dict[Section, _Found] = {}
        self._current: tuple[Section, int, int] | None = None

    def choose(self, section: Section, nth: int, under: str | None = None) -> tuple[int, int, int] | None:
        """Make one of a section's matches the current one; in a tree, open the branches above it.

        Args:
            section: The section that contains the match.
            nth: The number of matches before it in the section, or in the member `under`.
            under: The member of the tree that contains the match; None if it may be in any of them.

        Returns:
            The number of its line, and its first and end characters in it; None if the section has no
            matches.
        """
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
            count = sum(1 for _ in self._pattern.finditer(safe_text(alone)))
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
