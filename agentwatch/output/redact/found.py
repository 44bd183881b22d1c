"""A place in a text that is to be masked."""

from __future__ import annotations

from typing import NamedTuple


class Found(NamedTuple):
    """The span of a secret or of personal data: the value alone, without its label or quotes."""

    start: int
    """The index of its first character."""
    end: int
    """The index after its last character."""
    kind: str
    """What it is, such as `github`, `password` or `e-mail`: two words at most, never a part of the value."""


def joined(found: list[Found]) -> list[Found]:
    """Return spans sorted and without overlaps.

    Overlapping spans become one. It has the kind of the one that comes first in the list.
    """
    result: list[Found] = []
    rank = {id(each): at for at, each in enumerate(found)}
    ranks: list[int] = []
    for each in sorted(found, key=lambda each: (each.start, rank[id(each)])):
        if result and each.start < result[-1].end:
            last = result[-1]
            kind = last.kind if ranks[-1] <= rank[id(each)] else each.kind
            ranks[-1] = min(ranks[-1], rank[id(each)])
            result[-1] = Found(last.start, max(last.end, each.end), kind)
        else:
            result.append(each)
            ranks.append(rank[id(each)])
    return result
