"""Ages and dates on the command line: `30d`, `2h`, `2026-11-20`."""

from __future__ import annotations

import time
from datetime import datetime

from agentwatch.cli.parameters import number_in

_UNITS_MS = {"s": 1_000, "m": 60_000, "h": 3_600_000, "d": 86_400_000, "w": 604_800_000}
_MOST_DIGITS = 6
"""A million weeks; more would only overflow."""
AGE_HINT = "an age is 90s, 30m, 2h, 30d or 4w"


def age_ms(words: str) -> int | None:
    """Return an age in milliseconds; None if the words are no age.

    Example:
        >>> age_ms("2h")
        7200000
    """
    number, unit = words[:-1], words[-1:]
    if unit not in _UNITS_MS or not (number.isascii() and number.isdecimal()) or len(number) > _MOST_DIGITS:
        return None
    return int(number) * _UNITS_MS[unit]


def time_ms(words: str, now_ms: int) -> int | None:
    """Return a time in milliseconds since the epoch; None if the words are neither an age nor a date.

    Args:
        words: An age, or a date of ISO 8601 with or without a time of day, which is a local one.
        now_ms: The present time.
    """
    if (age := age_ms(words)) is not None:
        return now_ms - age
    try:
        return int(datetime.fromisoformat(words).timestamp() * 1000)
    except (ValueError, OverflowError, OSError):
        return None


age = number_in(age_ms, f"is no age; {AGE_HINT}")
"""The callback of an option that is an age, in milliseconds."""
since = number_in(
    lambda words: time_ms(words, time.time_ns() // 10**6),
    f"is neither an age nor a date; {AGE_HINT}, a date is 2026-11-20",
)
"""The callback of an option that is a time, in milliseconds since the epoch."""
