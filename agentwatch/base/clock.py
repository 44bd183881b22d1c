"""The clock of the day: no other module reads it, so that a test sets the present in one place.

What agentwatch dates itself has the time of `now_ms`. What is compared with the time of a file is compared
with `wall_ns`, because the system sets both together.
"""

from __future__ import annotations

import time

CLOCK = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)
"""Where the system has it, CLOCK_BOOTTIME also counts the time in which the machine is suspended."""
_EPOCH_NS = time.time_ns() - time.clock_gettime_ns(CLOCK)
ahead_ns = 0
"""How far the present is ahead of the clock of the system. Only tests set it."""


def wall_ns() -> int:
    """Return the time of day in nanoseconds, which goes backwards when the clock is set back."""
    return time.time_ns() + ahead_ns


def epoch_ns() -> int:
    """Return the time at which `CLOCK` was 0, as known when this process started."""
    return _EPOCH_NS + ahead_ns


def now_ms(epoch_ns: int | None = None) -> int:
    """Within a process it never goes backwards. `epoch_ns` is that of the process whose times this one is
    compared with."""
    began_ns = _EPOCH_NS + ahead_ns if epoch_ns is None else epoch_ns
    return (began_ns + time.clock_gettime_ns(CLOCK)) // 1_000_000
