"""Reads the times of Gemini's lines, which are ISO 8601 in UTC: `2026-11-20T20:56:10.529Z`."""

from __future__ import annotations

from datetime import UTC, datetime

_MOST_CHARACTERS = 40
"""A time has 24 characters, with a zone and microseconds 32."""


def time_in(value: object) -> int | None:
    """Return a time in milliseconds since the epoch; None if the value is not a time since 1970.

    Example:
        >>> time_in("2026-11-20T20:56:10.529Z")
        1795208170529
    """
    if not isinstance(value, str) or len(value) > _MOST_CHARACTERS:
        return None
    try:
        found = datetime.fromisoformat(value)
        found = found if found.tzinfo is not None else found.replace(tzinfo=UTC)
        at_ms = round(found.timestamp() * 1000)
    except (ValueError, OverflowError):
        return None
    return at_ms if at_ms >= 0 else None
