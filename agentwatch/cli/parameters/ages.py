"""Ages and dates on the command line: `30d`, `2h`, `2026-11-20`."""

from __future__ import annotations

import time
from datetime import datetime

from agentwatch.cli.parameters import number_in

_MOST_MS = 10**15
"""30,000 years; more would only overflow."""
AGE_HINT = "an age is 90s, 30m, 2h, 30d or 4w"


def age_ms(words: str) -> int | None:
    """Return an age in milliseconds; None if the words are no age.

    Example:
        >>> age_ms("2h")
        7200000
    """
    from agentwatch.text.durations import read_duration  # `--help` needs no durations

    found = read_duration(words)
    return int(found) if found is not None and 0 <= found <= _MOST_MS else None


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
