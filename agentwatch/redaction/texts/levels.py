r"""Finds in a text, and in the JSON that it contains: `{\"command\":\"export A=1\\nexport B=2\"}`.

An escape hides where a value begins or ends, so each line that has one is also searched without it.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from itertools import accumulate
from typing import NamedTuple

from agentwatch.redaction.texts.escapes import escaped_lines, escaped_places, unescaped

_DEEPEST = 4
"""The levels of JSON in JSON that are searched. A rollout of Codex has three: line, arguments, a script."""


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
    spans = [*escaped_lines(text)]
    if not spans:
        return hits
    lines = "\n".join([text[start:end] for start, end in spans])
    inner = hits_in(unescaped(lines), find, level + 1)
    if inner:
        wanted = sorted({place for hit in inner for place in (hit.start, hit.end)})
        outer = dict(zip(wanted, _outer_places(spans, escaped_places(lines, wanted)), strict=True))
        hits += [Hit(outer[hit.start], outer[hit.end], hit.kind, hit.value) for hit in inner]
    return hits


def _outer_places(spans: list[tuple[int, int]], places: Iterable[int]) -> Iterator[int]:
    """Yield where places of some lines are in the text that has the lines.

    Args:
        spans: The start and the end of each line in the text.
        places: The places, in the lines with one line end between them.
    """
    ends = [*accumulate(end - start + 1 for start, end in spans)]
    for place in places:
        number = min(bisect_right(ends, place), len(spans) - 1)
        yield spans[number][1] - (ends[number] - 1 - place)
