"""Sums of numbers that may be unknown."""

from __future__ import annotations

from collections.abc import Iterable

_MOST_EXACT = 1 << 53
"""A greater sum is returned as a float, because other programs read it from JSON as a float."""


def total(values: Iterable[float | None]) -> float | None:
    """Return the sum of the known values; None if no value is known."""
    known = [value for value in values if value is not None]
    found = sum(known)
    return None if not known else float(found) if abs(found) > _MOST_EXACT else found


def whole(number: float | None) -> float | None:
    """Return a sum that SQLite has calculated with floats as an integer, if it is exact."""
    return number if number is None or abs(number) > _MOST_EXACT else int(number)
