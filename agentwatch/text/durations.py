"""Durations: how they are written, and how written ones are read.

A duration that is over is `36 ms`, `12.2 s`, `4:10` or `1:05:09`. One that still grows is a running clock in
whole seconds, `0:14`: tenths would change with every frame. An age is coarse, `12 min`: what was a while ago
needs no seconds. The action log alone writes all durations in seconds, `250.1 s`.
"""

from __future__ import annotations

import re

UNKNOWN = "unknown"
UNITS_MS = {"ms": 1, "s": 1_000, "m": 60_000, "h": 3_600_000, "d": 86_400_000, "w": 604_800_000}
"""The units of durations in milliseconds."""
_LONG_MS = 10 * UNITS_MS["h"]
_MOST_DAYS = 9_999
_WRITTEN = re.compile(r"(-?[0-9]{1,15})(?:\.([0-9]{1,9}))?(ms|[smhdw]?)")


def duration_words(ms: float) -> str:
    """Return a duration that is over; a negative one is 0.

    Example:
        >>> [duration_words(ms) for ms in (36, 12_240, 250_000, 3_909_000)]
        ['36 ms', '12.2 s', '4:10', '1:05:09']
    """
    if ms < 100:
        return f"{max(ms, 0):.0f} ms"
    if ms < 59_950:  # 59.95 s would be written as 60.0 s
        return f"{ms / 1000:.1f} s"
    return _clock(round(ms / 1000))


def running_clock(ms: int) -> str:
    """Return a duration that still grows, in whole seconds; a negative one is 0.

    Example:
        >>> running_clock(14_900), running_clock(250_000), running_clock(3_909_000)
        ('0:14', '4:10', '1:05:09')
    """
    return _clock(max(ms, 0) // 1000)


def countdown(until_ms: int | None, now_ms: int | None) -> str:
    """Return the time that is left, in whole seconds; empty if it is unknown, or if none is left.

    Example:
        >>> countdown(20_000, 8_500), countdown(20_000, 20_000)
        ('0:12', '')
    """
    if until_ms is None or now_ms is None or until_ms <= now_ms:
        return ""
    return running_clock(until_ms - now_ms + 999)


def in_seven_columns(ms: int, *, is_over: bool) -> str:
    """Return a duration, or a running clock, in at most seven columns: from 10 hours on it is an age.
    `is_over` says whether it no longer grows.

    Example:
        >>> in_seven_columns(14_900, is_over=False), in_seven_columns(14_900, is_over=True)
        ('0:14', '14.9 s')
        >>> in_seven_columns(50_400_000, is_over=False)
        '14 h'
    """
    if ms >= _LONG_MS:
        return age_words(ms)
    return duration_words(ms) if is_over else running_clock(ms)


def age_words(ms: int) -> str:
    """Return how long ago something was, in one unit; a negative age is 0.

    Example:
        >>> [age_words(ms) for ms in (45_000, 720_000, 170_000_000, 172_800_000)]
        ['45 s', '12 min', '47 h', '2 d']
    """
    ms = max(ms, 0)
    for unit, most, name in (("s", 60, "s"), ("m", 60, "min"), ("h", 48, "h")):
        if ms < most * UNITS_MS[unit]:
            return f"{ms // UNITS_MS[unit]} {name}"
    return f"{min(ms // UNITS_MS['d'], _MOST_DAYS)} d"


def seconds(ms: int) -> str:
    """Return a duration as the action log writes it: `5.2 s`, `250.1 s`."""
    return f"{ms / 1000:.1f} s"


def read_duration(words: str, unit: str = "") -> float | None:
    """Return a written duration in milliseconds.

    `words` are a number and its unit: `500ms`, `50s`, `1.5m`, `2h`, `7d`, `4w`; they may have a minus sign.
    `unit` is that of a number without one; empty if a number needs one. Return None if the words are not a
    duration.

    Example:
        >>> read_duration("1.5m"), read_duration("90", unit="s"), read_duration("90")
        (90000.0, 90000.0, None)
    """
    found = _WRITTEN.fullmatch(words)
    factor = None if found is None else UNITS_MS.get(found[3] or unit)
    if found is None or factor is None:
        return None
    fraction = found[2] or ""
    # integers until the division: 1.001 * 1000 would be 1000.9999999999999
    return int(found[1] + fraction) * factor / float(10 ** len(fraction))


def _clock(whole_seconds: int) -> str:
    minutes, rest = divmod(whole_seconds, 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
