"""Whether the processes of a started agent are busy, judged by the CPU time that they use.

The CPU time is read from /proc, so it is known only on Linux. The agent leads its own process session. Its
tools belong to that session too, unless they start a session themselves.
"""

from __future__ import annotations

import os
import sys
import time
from collections import deque

from agentwatch.sources.started.procfs import pids, stat_of

_MIN_INTERVAL_SECONDS = 1.0
_WINDOW_SECONDS = 5.0
_BUSY_SHARE = 0.02
"""The share of one core that counts as busy; the timers of an agent that waits for the network use less."""
_CPU_TIMES = slice(11, 15)
"""utime, stime, cutime and cstime, counted from the state field. cutime and cstime include ended children."""


class Activity:
    """Measures the CPU time of an agent's processes on request, at most once a second."""

    def __init__(self, agent: int) -> None:
        self._agent = agent
        self._readings: deque[tuple[float, float]] = deque(maxlen=4)
        """The time of each reading, and the seconds of CPU that all processes had used by then."""
        self._uses_cpu: bool | None = None

    def is_stopped(self) -> bool:
        """Return whether the agent itself is stopped by a signal; False if not known."""
        stat = stat_of(self._agent) if sys.platform == "linux" else None
        return stat is not None and stat.state == "T"

    def uses_cpu(self) -> bool | None:
        """Return whether the processes used CPU in the last seconds (at most 5); None if not known (yet)."""
        now = time.monotonic()
        if self._readings and now - self._readings[-1][0] < _MIN_INTERVAL_SECONDS:
            return self._uses_cpu
        used = _cpu_seconds(self._agent)
        if used is None:
            self._readings.clear()
            self._uses_cpu = None
            return None
        while self._readings and (
            now - self._readings[0][0] > _WINDOW_SECONDS or used < self._readings[0][1]
        ):
            # too old, or the time of a process that has ended was not inherited by its parent
            self._readings.popleft()
        self._readings.append((now, used))
        first, used_first = self._readings[0]
        self._uses_cpu = (used - used_first) / (now - first) >= _BUSY_SHARE if now > first else None
        return self._uses_cpu


def _cpu_seconds(agent: int) -> float | None:
    """Return the seconds of CPU that the agent's session has used; None if no process of it is visible."""
    if sys.platform != "linux":
        return None
    used = [ticks for pid in pids() if _session(pid) == agent and (ticks := _ticks(pid)) is not None]
    return sum(used) / os.sysconf("SC_CLK_TCK") if used else None


def _session(pid: int) -> int | None:
    """Return the session id of a process, by a system call: it costs a tenth of reading /proc/PID/stat."""
    try:
        return os.getsid(pid)
    except OSError:
        return None


def _ticks(pid: int) -> int | None:
    stat = stat_of(pid)
    return None if stat is None else sum(map(int, stat.fields[_CPU_TIMES]))
