"""Formats the numbers of the statistics in few columns; an unknown number is `-`."""

from __future__ import annotations

from agentwatch.screen.lines.format import clock

UNKNOWN = "-"
_LEAST_DOLLARS = 0.005
_LEAST_PERCENT = 0.05


def count(number: float | None) -> str:
    """Return a whole number: `1,204`."""
    return UNKNOWN if number is None else f"{number:,.0f}"


def amount(number: float | None) -> str:
    """Return a large number in three or four digits: `999`, `12.3 k`, `1.2 M`."""
    if number is None:
        return UNKNOWN
    value, unit = float(number), ""
    for each in ("k", "M", "G"):
        if abs(value) < 999.5:
            break
        value, unit = value / 1000, f" {each}"
    return f"{value:,.1f}{unit}" if unit and abs(value) < 99.95 else f"{value:,.0f}{unit}"


def duration(milliseconds: float | None) -> str:
    """Return a duration: `37 ms`, `9.8 s`, `2:13`, `31:02:13`."""
    return UNKNOWN if milliseconds is None else clock(round(milliseconds))


def dollars(cost: float | None) -> str:
    """Return a cost: `$12.40`; a cost under half a cent is `<$0.01`."""
    if cost is None:
        return UNKNOWN
    return "<$0.01" if 0 < cost < _LEAST_DOLLARS else f"${cost:,.2f}"


def percent(share: float | None) -> str:
    """Return a share: `7.4 %`, `38 %`; a share under 0.05 % is `<0.1 %`."""
    if share is None:
        return UNKNOWN
    value = 100 * share
    if 0 < value < _LEAST_PERCENT:
        return "<0.1 %"
    return f"{value:.1f} %" if 0 < value < 9.95 else f"{value:.0f} %"
