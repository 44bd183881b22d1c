"""Whether the processes of the agent that we started do anything: by the CPU time that they use.

Read from /proc, so known on Linux alone. The agent leads a session of its own, which its tools
belong to as well, unless they begin one themselves.
"""

from __future__ import annotations

import os
import sys
import time
from collections import deque

from agentwatch.sources.procfs import pids, stat_of

_EVERY_SECONDS = 1.0
_OVER_SECONDS = 5.0
_IDLE_SHARE = 0.02
"""Of one core: the timers of an agent that waits for the network take less."""
_TIMES = slice(11, 15)
"""utime, stime, cutime and cstime, counted from the state on; a child's time is its parent's at its end."""


class Activity:
    """Looks at the CPU time of an agent's processes when it is asked, and at most once a second."""

    def __init__(self, agent: int) -> None:
        self._agent = agent
        self._readings: deque[tuple[float, float]] = deque(maxlen=4)
        """When, and how many seconds of CPU all processes had used by then."""
        self._uses_cpu: bool | None = None

    def uses_cpu(self) -> bool | None:
        """Return whether they used CPU over the last seconds; None is not known, or not yet."""
        now = time.monotonic()
        if self._readings and now - self._readings[-1][0] < _EVERY_SECONDS:
            return self._uses_cpu
        used = _cpu_seconds(self._agent)
        if used is None:
            self._readings.clear()
            self._uses_cpu = None
            return None
        while self._readings and (now - self._readings[0][0] > _OVER_SECONDS or used < self._readings[0][1]):
            self._readings.popleft()  # too old; or its processes ended, and nobody inherited their time
        self._readings.append((now, used))
        first, used_first = self._readings[0]
        self._uses_cpu = (used - used_first) / (now - first) >= _IDLE_SHARE if now > first else None
        return self._uses_cpu


def _cpu_seconds(agent: int) -> float | None:
    """Return what the processes of the agent's session have used; None when there are none to be seen."""
    if sys.platform != "linux":
        return None
    ticks = [found for pid in pids() if _session(pid) == agent and (found := _ticks(pid)) is not None]
    return sum(ticks) / os.sysconf("SC_CLK_TCK") if ticks else None


def _session(pid: int) -> int | None:
    """Return a process's session; a system call costs a tenth of reading a file."""
    try:
        return os.getsid(pid)
    except OSError:
        return None


def _ticks(pid: int) -> int | None:
    stat = stat_of(pid)
    return None if stat is None else sum(map(int, stat.fields[_TIMES]))
