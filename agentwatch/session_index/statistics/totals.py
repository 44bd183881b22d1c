"""Sums of numbers that may be unknown."""

from __future__ import annotations

from collections.abc import Iterable

from agentwatch.session.usage_counts import known_sum

_MOST_EXACT = 1 << 53
"""A greater sum is returned as a float, because other programs read it from JSON as a float."""


def total(values: Iterable[float | None]) -> float | None:
    """Return the sum of the known values; None if no value is known."""
    found = known_sum(values)
    return found if found is None or abs(found) <= _MOST_EXACT else float(found)


def whole(number: float | None) -> float | None:
    """Return a sum that SQLite has calculated with floats as an integer, if it is exact."""
    return number if number is None or abs(number) > _MOST_EXACT else int(number)
