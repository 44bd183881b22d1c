"""Reads ISO 8601 timestamps, which many agents write: `2026-11-21T23:08:22.184Z`."""

from __future__ import annotations

from datetime import UTC, datetime

from agentwatch.wire.fields import Fields

_MOST_CHARACTERS = 40
"""A timestamp with nanoseconds and an offset has 35."""


def iso_ms(fields: Fields, key: str) -> int | None:
    """Return the time in a field, in milliseconds since the epoch; None if it is absent or no timestamp.

    A time without an offset is UTC, as `Date.toISOString` writes it.

    Example:
        >>> iso_ms({"timestamp": "1970-01-01T00:00:01.500Z"}, "timestamp")
        1500
    """
    value = fields.get(key)
    if not isinstance(value, str) or len(value) > _MOST_CHARACTERS:
        return None
    try:
        time = datetime.fromisoformat(value)
        return round((time if time.tzinfo else time.replace(tzinfo=UTC)).timestamp() * 1000)
    except (ValueError, OverflowError):
        return None
