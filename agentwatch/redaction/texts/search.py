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
_MOST_CLEAN = 50_000

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
        self._clean: set[int] = set()
        """The hashes of texts without a hit: a message repeats its deltas, and a file is read again."""

    def add(self, unit: Unit) -> None:
        """Search a text, now or later."""
        self._units.append(unit)
        self._size += unit.size
        if self._size >= _ENOUGH:
            self.finish()

    def finish(self) -> None:
        """Search the texts that were not searched yet."""
        units, self._units, self._size = self._units, [], 0
        searched: list[tuple[Unit, str]] = []
        for unit in units:
            text = "".join(unit.texts)
            if hash(text) in self._clean:
                self._take(unit, ())
            else:
                searched.append((unit, text))
        if searched:
            self._search(searched)

    def hits_in(self, unit: Unit) -> list[Hit]:
        """Return what is found in one text."""
        return hits_in("".join(unit.texts), self._find)

    def take(self, unit: Unit, hits: Sequence[Hit]) -> None:
        """Take what was found in a text."""
        self._take(unit, hits)

    def _search(self, searched: list[tuple[Unit, str]]) -> None:
        """Search some texts at once, each given with its unit."""
        ends = [*accumulate(len(text) + len(_BETWEEN) for _, text in searched)]
        hits: dict[int, list[Hit]] = {}
        crossing: set[int] = set()
        for hit in hits_in(_BETWEEN.join([text for _, text in searched]), self._find):
            number = bisect_right(ends, hit.start)
            before = ends[number] - len(searched[number][1]) - len(_BETWEEN)
            if hit.end > ends[number] - len(_BETWEEN):
                crossing.update(range(number, bisect_right(ends, hit.end - 1) + 1))
            else:
                start, end = hit.start - before, hit.end - before
                hits.setdefault(number, []).append(Hit(start, end, hit.kind, hit.value))
        if len(self._clean) >= _MOST_CLEAN:
            self._clean.clear()
        for number, (unit, text) in enumerate(searched):
            found = hits_in(text, self._find) if number in crossing else hits.get(number, ())
            if not found:
                self._clean.add(hash(text))
            self._take(unit, found)
