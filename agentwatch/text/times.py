"""Times: how they are written. All are in milliseconds since the epoch, and local unless they end in `Z`."""

from __future__ import annotations

from datetime import UTC, datetime

from agentwatch.text import UNKNOWN as NOT_KNOWN
from agentwatch.text.durations import read_duration

UNKNOWN = "unknown"
NO_TIME = "--:--:--"
"""An unknown time of day, as wide as a known one."""
_SOON_MS, _WEEK_MS = 20 * 3_600_000, 6 * 86_400_000
_HALF_YEAR_DAYS = 183
_YEAR_10000_MS = 253_402_300_800_000
_MOST_AGE_MS = 10**15
"""30,000 years; more would only overflow."""


def local(epoch_ms: int | None) -> datetime | None:
    """Return the local time; None if it is unknown or outside the years 1 to 9999."""
    try:
        return None if epoch_ms is None else datetime.fromtimestamp(epoch_ms / 1000)
    except (ValueError, OverflowError, OSError):
        return None


def time_of_day(epoch_ms: int | None, unknown: str = NO_TIME) -> str:
    """`14:03:07`."""
    at = local(epoch_ms)
    return unknown if at is None else f"{at:%H:%M:%S}"


def date_and_time(epoch_ms: int | None) -> str:
    """`2026-11-20 14:03:07`; `unknown` if it is unknown."""
    at = local(epoch_ms)
    return UNKNOWN if at is None else f"{at:%Y-%m-%d %H:%M:%S}"


def date_and_minute(epoch_ms: int | None) -> str:
    """`2026-11-20 14:03`; `unknown` if it is unknown."""
    at = local(epoch_ms)
    return UNKNOWN if at is None else f"{at:%Y-%m-%d %H:%M}"


def time_with_zone(epoch_ms: int | None) -> str:
    """`2026-11-20 14:03+01:00`; empty if it is unknown."""
    at = _zoned(epoch_ms)
    return "" if at is None else at.isoformat(" ", "minutes")


def zone_minutes(epoch_ms: int | None) -> int:
    """Return by how many minutes local time is ahead of UTC; 0 if the time is unknown."""
    at = _zoned(epoch_ms)
    offset = None if at is None else at.utcoffset()
    return 0 if offset is None else round(offset.total_seconds() / 60)


def day_or_time(epoch_ms: int, now_ms: int) -> str:
    """Return a time in at most seven columns: `14:03` for today, `12 Nov` for this year or the last half
    year, otherwise `2025-11`; `–` if it is unknown."""
    then, now = local(epoch_ms), local(now_ms)
    if then is None or now is None:
        return NOT_KNOWN
    if then.date() == now.date():
        return f"{then:%H:%M}"
    is_near = then.year == now.year or 0 <= (now - then).days < _HALF_YEAR_DAYS
    return f"{then.day} {then:%b}" if is_near else f"{then:%Y-%m}"


def coming(epoch_ms: int, now_ms: int) -> str:
    """`14:00` within 20 hours, `Mon 14:00` within 6 days, or `5 Dec 14:00`."""
    then = local(epoch_ms)
    if then is None:
        return NOT_KNOWN
    left_ms = epoch_ms - now_ms
    day = "" if left_ms < _SOON_MS else f"{then:%a} " if left_ms < _WEEK_MS else f"{then.day} {then:%b} "
    return f"{day}{then:%H:%M}"


def day_words(epoch_ms: int, now_ms: int) -> str:
    """`today`, `yesterday`, `Sat 21 Nov`, `21 Nov 2025`; empty if it is unknown."""
    then, now = local(epoch_ms), local(now_ms)
    if then is None or now is None:
        return ""
    days = (now.date() - then.date()).days
    if 0 <= days <= 1:
        return ("today", "yesterday")[days]
    return f"{then:%a} {then.day} {then:%b}" if then.year == now.year else f"{then.day} {then:%b %Y}"


def utc(epoch_ms: int | None) -> datetime | None:
    """A time to the second; None if it is unknown or outside the years 1970 to 9999."""
    if epoch_ms is None or not 0 <= epoch_ms < _YEAR_10000_MS:
        return None
    return datetime.fromtimestamp(epoch_ms // 1000, UTC)


def utc_time(epoch_ms: int | None) -> str | None:
    """`2026-11-20T14:03:07Z`; None if it is unknown or outside 1970 to 9999."""
    at = utc(epoch_ms)
    return None if at is None else f"{at:%Y-%m-%dT%H:%M:%SZ}"


def _zoned(epoch_ms: int | None) -> datetime | None:
    at = local(epoch_ms)
    try:
        return None if at is None else at.astimezone()
    except (ValueError, OverflowError, OSError):  # within a day of the first or the last year
        return None


def age_ms(words: str) -> int | None:
    """Return an age in milliseconds; None if the words are not an age.

    Example:
        >>> age_ms("2h")
        7200000
    """
    found = read_duration(words)
    return int(found) if found is not None and 0 <= found <= _MOST_AGE_MS else None


def time_ms(words: str, now_ms: int) -> int | None:
    """Return None unless the words are an age, or a date of ISO 8601 with or without a local time of day."""
    if (age := age_ms(words)) is not None:
        return now_ms - age
    try:
        return int(datetime.fromisoformat(words).timestamp() * 1000)
    except (ValueError, OverflowError, OSError):
        return None
