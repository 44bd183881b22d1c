"""The lines of the calls of two runs: long stretches of equal calls are folded into one line."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import NamedTuple

from agentwatch.comparing import Comparison, Match, Part
from agentwatch.comparing.reports.steps import CONTEXT

_LEAST_FOLDED = 3
"""Fewer equal calls are not folded, because that would save too few lines."""


class Line(NamedTuple):
    """A line of the list."""

    row: int
    """The index of the row in the comparison; of the first row if the line has several."""
    folded: int = 0
    """The number of equal rows that are folded into the line; 0 for a line about one row."""
    part: Part = Part.BOTH
    """The run whose call the line shows."""
    is_parting: bool = False
    """Whether this is the line before the first divergence, which shows no call."""


def lines_of(
    comparison: Comparison, unfolded: Collection[int] = (), *, folds: bool = True, is_unified: bool = False
) -> list[Line]:
    """Return the lines of a comparison, from the top; 20,000 rows take 20 ms.

    Args:
        comparison: The comparison.
        unfolded: The first rows of the folded lines that the user has unfolded.
        folds: Whether equal calls are folded.
        is_unified: Whether two calls that differ take a line each.
    """
    return [*_lines(comparison, unfolded if folds else range(len(comparison.rows)), is_unified=is_unified)]


def _lines(comparison: Comparison, unfolded: Collection[int], *, is_unified: bool) -> Iterator[Line]:
    end = 0
    for index in comparison.differences():
        yield from _equal(end, index, len(comparison.rows), unfolded)
        if index == comparison.first_divergence:
            yield Line(index, is_parting=True)
        row = comparison.rows[index]
        if row.match is Match.ONLY_A:
            yield Line(index, part=Part.ONLY_A)
        elif row.match is Match.ONLY_B:
            yield Line(index, part=Part.ONLY_B)
        elif is_unified:
            yield Line(index, part=Part.ONLY_A)
            yield Line(index, part=Part.ONLY_B)
        else:
            yield Line(index)
        end = index + 1
    yield from _equal(end, len(comparison.rows), len(comparison.rows), unfolded)


def _equal(start: int, end: int, count: int, unfolded: Collection[int]) -> Iterator[Line]:
    """Yield the lines of equal rows; rows beside a difference are not folded."""
    first, last = start + (CONTEXT if start else 0), end - (CONTEXT if end < count else 0)
    if last - first < _LEAST_FOLDED or first in unfolded:
        first = last = end
    yield from map(Line, range(start, first))
    if last > first:
        yield Line(first, last - first)
    yield from map(Line, range(last, end))
