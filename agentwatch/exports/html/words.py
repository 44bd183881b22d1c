"""Signs, durations and times of the page, in the words of the screen."""

from __future__ import annotations

from datetime import datetime

from agentwatch.analysis.block_text import STEP_SIGNS, UNKNOWN_SIGN
from agentwatch.events import Outcome
from agentwatch.outputs.shown.times import between
from agentwatch.session import Call

SIGNS = {**STEP_SIGNS, Outcome.RUNNING: "◐", Outcome.UNFINISHED: UNKNOWN_SIGN}


def clock(duration_ms: int) -> str:
    """Return a duration: `37 ms`, `9.8 s`, `2:13`, `1:02:13`."""
    return between(0, max(duration_ms, 0))


def call_clock(call: Call, now_ms: int | None) -> str:
    """Return the duration of a call, or how long it has been running; empty if unknown.

    `~` marks a time by the clock of agentwatch.

    Args:
        call: The call.
        now_ms: The time of the last exported line by the clock of the arrival times.
    """
    if call.outcome is Outcome.RUNNING:
        seen_ms = None if call.started is None else call.started.seen_ms
        return "" if now_ms is None or seen_ms is None else clock(now_ms - seen_ms)
    if call.duration_ms is not None:
        return clock(call.duration_ms)
    return "" if call.seen_duration_ms is None else f"~{clock(call.seen_duration_ms)}"


def time_of_day(epoch_ms: int | None) -> str:
    """Return a local time, `14:03:07`; empty if it is unknown."""
    local = _local(epoch_ms)
    return "" if local is None else f"{local:%H:%M:%S}"


def date_and_time(epoch_ms: int | None) -> str:
    """Return a local date and time with its zone, `2026-11-20 14:03+01:00`; empty if unknown."""
    local = _local(epoch_ms)
    return "" if local is None else local.isoformat(" ", "minutes")


def zone_minutes(epoch_ms: int | None) -> int:
    """Return by how many minutes local time is ahead of UTC at a time."""
    local = _local(epoch_ms)
    offset = None if local is None else local.utcoffset()
    return 0 if offset is None else round(offset.total_seconds() / 60)


def _local(epoch_ms: int | None) -> datetime | None:
    try:
        return None if epoch_ms is None else datetime.fromtimestamp(epoch_ms / 1000).astimezone()
    except (ValueError, OverflowError, OSError):  # outside the years 1 to 9999
        return None
