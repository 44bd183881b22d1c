"""Formats the numbers of the statistics in few columns; an unknown number is `-`."""

from __future__ import annotations

from agentwatch.text.amounts import dollars, short_count
from agentwatch.text.durations import duration_words

UNKNOWN = "-"
_LEAST_PERCENT = 0.05


def count(number: float | None) -> str:
    """Return a whole number: `1,204`."""
    return UNKNOWN if number is None else f"{number:,.0f}"


def amount(number: float | None) -> str:
    """Return a large number in few digits: `999`, `12k`, `1.2M`."""
    return UNKNOWN if number is None else short_count(round(number))


def duration(milliseconds: float | None) -> str:
    """Return a duration: `37 ms`, `9.8 s`, `2:13`, `31:02:13`."""
    return UNKNOWN if milliseconds is None else duration_words(milliseconds)


def cost(sum_usd: float | None) -> str:
    """Return a sum of costs: `$12.40`."""
    return UNKNOWN if sum_usd is None else dollars(sum_usd)


def percent(share: float | None) -> str:
    """Return a share: `7.4 %`, `38 %`; a share under 0.05 % is `<0.1 %`."""
    if share is None:
        return UNKNOWN
    value = 100 * share
    if 0 < value < _LEAST_PERCENT:
        return "<0.1 %"
    return f"{value:.1f} %" if 0 < value < 9.95 else f"{value:.0f} %"
