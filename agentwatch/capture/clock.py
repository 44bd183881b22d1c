"""The clock of arrival times."""

from __future__ import annotations

import time

CLOCK = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)
"""CLOCK_BOOTTIME, where the system has it, also counts the time in which the machine is suspended."""
EPOCH_NS = time.time_ns() - time.clock_gettime_ns(CLOCK)
"""The time of the epoch by this clock, in nanoseconds; fixed when the process starts."""


def now_ms(epoch_ns: int = EPOCH_NS) -> int:
    """Return the time in milliseconds since the epoch; within a process it never goes backwards.

    Args:
        epoch_ns: The `EPOCH_NS` of the process whose times this one is compared with.
    """
    return (epoch_ns + time.clock_gettime_ns(CLOCK)) // 1_000_000
