"""Reads the ISO 8601 times of an agent's own files."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from functools import lru_cache

from agentwatch.wire.fields import Fields

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)
_MOST_CHARACTERS = 40
"""The longest form that an agent writes has 32: `2026-11-21T22:51:18.264000000Z`."""


def iso_ms(value: object) -> int | None:
    """Return a time in milliseconds since the epoch; None for a value that is no time.

    A time without a zone is in UTC.

    Example:
        >>> iso_ms("2026-11-21T22:50:55.616Z")
        1795301455616
    """
    return _ms(value) if isinstance(value, str) and len(value) <= _MOST_CHARACTERS else None


def time_of(fields: Fields) -> int | None:
    """Return the time of a line, its `timestamp`; None for a line without one."""
    return iso_ms(fields.get("timestamp"))


@lru_cache(maxsize=8)
def _ms(value: str) -> int | None:
    """Return the time that a text contains. The same line is asked for its time several times."""
    try:
        moment = datetime.fromisoformat(value)
    except ValueError:
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return (moment - _EPOCH) // _MILLISECOND
