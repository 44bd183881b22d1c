r"""Finds in a text, and in the JSON that it contains: `{\"command\":\"export A=1\\nexport B=2\"}`.

An escape hides where a value begins or ends, so each line that has one is also searched without it.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable
from itertools import accumulate
from typing import NamedTuple

from agentwatch.redaction.texts.escapes import escaped_places, unescaped

_DEEPEST = 4
"""The levels of JSON in JSON that are searched. A rollout of Codex has three: line, arguments, a script."""
_ESCAPED_LINE = re.compile(r"(?m)^[^\n\\]*+\\[^\n]*+")


class Hit(NamedTuple):
    """A place in a text that is to be masked."""

    start: int
    end: int
    kind: str
    value: str
    """The whole value without escapes. The text may have only its beginning."""


Find = Callable[[str], Iterable[Hit]]
"""Returns the places in a text that are to be masked."""


def hits_in(text: str, find: Find, level: int = 1) -> list[Hit]:
    """Return the places in a text, and in the JSON that it contains, in no order. They may overlap.

    Args:
        text: The text.
        find: Finds them in a text without escapes.
        level: How many levels of escapes the text is in.
    """
    hits = [*find(text)]
    if "\\" not in text or level == _DEEPEST:
        return hits
    lines = [match.span() for match in _ESCAPED_LINE.finditer(text)]
    plain = [unescaped(text[start:end]) for start, end in lines]
    inner = hits_in("\n".join(plain), find, level + 1)
    if inner:
        ends = [*accumulate(len(line) + 1 for line in plain)]
        wanted = sorted({place for hit in inner for place in (hit.start, hit.end)})
        outer = dict(zip(wanted, _outer_places(text, lines, ends, wanted), strict=True))
        hits += [Hit(outer[hit.start], outer[hit.end], hit.kind, hit.value) for hit in inner]
    return hits


def _outer_places(
    text: str, lines: list[tuple[int, int]], ends: list[int], wanted: list[int]
) -> Iterable[int]:
    """Yield where places of the lines without escapes are in the text.

    Args:
        text: The text.
        lines: The start and the end of each line that has escapes.
        ends: Where each of them ends without its escapes, with a line end each.
        wanted: The places, in ascending order.
    """
    at = 0
    while at < len(wanted):
        number = bisect_right(ends, wanted[at])
        start, end = lines[number]
        first = at
        while at < len(wanted) and wanted[at] < ends[number]:
            at += 1
        before = ends[number - 1] if number else 0
        for place in escaped_places(text[start:end], (each - before for each in wanted[first:at])):
            yield start + place
