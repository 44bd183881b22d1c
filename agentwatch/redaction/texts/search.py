"""Searches many short texts at once: a search costs 10 us before its first character."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from itertools import accumulate

from agentwatch.redaction.texts.levels import Find, Hit, hits_in
from agentwatch.redaction.texts.unit import Unit

_ENOUGH = 1 << 16
"""The number of characters that are searched at once."""
_BETWEEN = "\n\0\n"
"""Between two texts. No secret has it, and no label belongs to a value behind it."""

Take = Callable[[Unit, Sequence[Hit]], None]
"""Takes what was found in a text, if only nothing."""


class Search:
    """Collects texts and searches them.

    Args:
        find: Finds in one text.
        take: Is called for each text when it was searched.
    """

    def __init__(self, find: Find, take: Take) -> None:
        self._find = find
        self._take = take
        self._units: list[Unit] = []
        self._size = 0

    def add(self, unit: Unit) -> None:
        """Search a text, now or later."""
        self._units.append(unit)
        self._size += unit.size
        if self._size >= _ENOUGH:
            self.finish()

    def finish(self) -> None:
        """Search the texts that were not searched yet."""
        units, self._units, self._size = self._units, [], 0
        if len(units) == 1:
            self._take(units[0], self.hits_in(units[0]))
        elif units:
            self._search(units)

    def hits_in(self, unit: Unit) -> list[Hit]:
        """Return what is found in one text."""
        return hits_in("".join(unit.texts), self._find)

    def take(self, unit: Unit, hits: Sequence[Hit]) -> None:
        """Take what was found in a text."""
        self._take(unit, hits)

    def _search(self, units: list[Unit]) -> None:
        ends = [*accumulate(unit.size + len(_BETWEEN) for unit in units)]
        hits: dict[int, list[Hit]] = {}
        crossing: set[int] = set()
        for hit in hits_in(_BETWEEN.join("".join(unit.texts) for unit in units), self._find):
            number = bisect_right(ends, hit.start)
            before = ends[number] - units[number].size - len(_BETWEEN)
            if hit.end > ends[number] - len(_BETWEEN):
                crossing.update(range(number, bisect_right(ends, hit.end - 1) + 1))
            else:
                start, end = hit.start - before, hit.end - before
                hits.setdefault(number, []).append(Hit(start, end, hit.kind, hit.value))
        for number, unit in enumerate(units):
            self._take(unit, self.hits_in(unit) if number in crossing else hits.get(number, ()))
