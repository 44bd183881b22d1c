"""The words for times and durations in printed text."""

from __future__ import annotations

from datetime import datetime

UNKNOWN = "unknown"


def moment(epoch_ms: int | None) -> str:
    """Return a local date and time, `2026-11-20 14:03:07`, from milliseconds since the epoch."""
    try:
        return UNKNOWN if epoch_ms is None else f"{datetime.fromtimestamp(epoch_ms / 1000):%Y-%m-%d %H:%M:%S}"
    except (ValueError, OverflowError, OSError):  # outside the years 1 to 9999
        return UNKNOWN


def between(start_ms: int | None, end_ms: int | None) -> str:
    """Return a duration: `37 ms`, `9.8 s`, `2:13`, `1:02:13`."""
    if start_ms is None or end_ms is None or end_ms < start_ms:
        return UNKNOWN
    took_ms = end_ms - start_ms
    if took_ms < 100:
        return f"{took_ms} ms"
    if took_ms < 59_950:
        return f"{took_ms / 1000:.1f} s"
    minutes, seconds = divmod(round(took_ms / 1000), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes}:{seconds:02}"
