"""Reads the ISO 8601 times of an agent's own files."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

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
    if not isinstance(value, str) or len(value) > _MOST_CHARACTERS:
        return None
    try:
        moment = datetime.fromisoformat(value)
    except ValueError:
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return (moment - _EPOCH) // _MILLISECOND
