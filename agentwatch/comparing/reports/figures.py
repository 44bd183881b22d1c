"""The words for figures and for their differences. What is unknown is `-`."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from agentwatch.comparing.side import Lines, Totals
from agentwatch.text.amounts import dollars
from agentwatch.text.durations import duration_words

UNKNOWN = "-"
SAME = "="


class Figure(NamedTuple):
    """A figure of the totals."""

    name: str
    value: Callable[[Totals], float | None]
    words: Callable[[float], str]


def _count(number: float) -> str:
    """Return a count; the median of counts may end in `.5`."""
    return f"{number:,.1f}".removesuffix(".0")


FIGURES = (
    Figure("duration", lambda totals: totals.duration_ms, duration_words),
    Figure("turns", lambda totals: totals.turns, _count),
    Figure("calls", lambda totals: totals.calls, _count),
    Figure("failed", lambda totals: totals.failed, _count),
    Figure("rejected", lambda totals: totals.rejected, _count),
    Figure("unfinished", lambda totals: totals.unfinished, _count),
    Figure("tokens in", lambda totals: totals.input, _count),
    Figure("from cache", lambda totals: totals.cached, _count),
    Figure("tokens out", lambda totals: totals.output, _count),
    Figure("cost", lambda totals: totals.cost_usd, dollars),
    Figure("files changed", lambda totals: totals.files, _count),
    Figure("lines added", lambda totals: totals.lines_added, _count),
    Figure("lines removed", lambda totals: totals.lines_removed, _count),
)
"""The figures in the order in which they are shown."""
COUNT = Figure("", lambda _totals: None, _count)


def shown(value: float | None, figure: Figure) -> str:
    """Return a figure in words.

    Example:
        >>> shown(1234, FIGURES[2]), shown(None, FIGURES[2])
        ('1,234', '-')
    """
    return UNKNOWN if value is None else figure.words(value)


def difference(a: float | None, b: float | None, figure: Figure) -> str:
    """Return the difference from the first figure to the second, with its sign.

    Example:
        >>> difference(3, 5, FIGURES[2]), difference(5, 5, FIGURES[2]), difference(None, 5, FIGURES[2])
        ('+2', '=', '-')
    """
    if a is None or b is None:
        return UNKNOWN
    if a == b:
        return SAME
    return f"{'+' if b > a else '-'}{figure.words(abs(b - a))}"


def lines_words(lines: Lines | None) -> str:
    """Return the changed lines of a file: `+3 -1`; `changed` if their numbers are unknown."""
    if lines is None:
        return UNKNOWN
    words = [
        f"{sign}{number:,}"
        for sign, number in (("+", lines.added), ("-", lines.removed))
        if number is not None
    ]
    return " ".join(words) or "changed"
