"""The processes of a started agent: pauses and resumes them, measures whether they are busy, and finds those
that outlived it, for which /proc is needed.
"""

import os
import signal
import sys
import threading
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import NamedTuple

from agentwatch.base.clock import now_ms
from agentwatch.sources.proc import Stat, environment_of, pids, stat_of

_SETTLE_SECONDS = 1.0
"""How long a process may take to stop, or to be seen as running again."""
_PS_SECONDS = 2.0
_POLL_SECONDS = 1.0
"""How often `ps` runs while the agent is paused, on systems without /proc: it takes 5 ms of CPU."""


class Pausing:
    """Only the agent's own process group is paused, whose id is that of `agent`; a tool in another group or
    session continues. `note` is called with the id after a pause, and with 0 after its end."""

    def __init__(
        self,
        agent: int,
        is_running: Callable[[], bool],
        note: Callable[[int], object] = lambda _: None,
    ) -> None:
        self.agent = agent
        self.is_attended = True
        """Whether somebody can resume the agent; if not, it is never paused."""
        self.continued_ms: int | None = None
        """When the agent continued after the last pause."""
        self._rule = ""
        self._is_running, self._note = is_running, note
        self._lock = threading.Lock()
        self._began = self._polled = 0.0

    @property
    def rule(self) -> str:
        """Return an empty text if the agent is not paused, or was continued from outside."""
        if self._rule and not self._is_stopped():
            self._end()
        return self._rule

    def pause(self, rule: str) -> bool:
        """Stop the process group; return False if it has ended or cannot be resumed."""
        with self._lock:
            if not (self.is_attended and self._is_running() and self._signal(signal.SIGSTOP)):
                return False
            self._began = self._polled = time.monotonic()
            self._rule = rule
            self._note(self.agent)
            return True

    def resume(self) -> bool:
        """Return whether the agent was paused."""
        if not self._rule:
            return False
        self._end()
        self._signal(signal.SIGCONT)
        return True

    def _end(self) -> None:
        with self._lock:
            if self._rule:
                self._rule, self.continued_ms = "", now_ms()
                self._note(0)

    def _signal(self, number: signal.Signals) -> bool:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.agent, number)
            return True
        return False

    def _is_stopped(self) -> bool:
        if not self._is_running():
            return False
        now = time.monotonic()
        if now - self._began < _SETTLE_SECONDS:
            return True
        stat = stat_of(self.agent) if sys.platform == "linux" else None
        if stat is not None:
            return stat.state == "T"
        if now - self._polled < _POLL_SECONDS:
            return True
        self._polled = now
        return _ps_state(self.agent)[:1] in ("T", "")


def _ps_state(pid: int) -> str:
    """`T` if stopped; empty if `ps` fails."""
    import subprocess  # takes 2 ms, and few agents are paused

    command = ("ps", "-o", "state=", "-p", f"{pid}")
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=_PS_SECONDS, check=False)
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout.strip()


# The CPU time is read from /proc, so it is known only on Linux. The agent leads its own process session. Its
# tools belong to that session too, unless they start a session themselves.

_MIN_INTERVAL_SECONDS = 1.0
_WINDOW_SECONDS = 5.0
_BUSY_SHARE = 0.02
"""The share of one core that counts as busy; the timers of an agent that waits for the network use less."""


class Activity:
    """Measures the CPU time of an agent's processes on request, at most once a second."""

    def __init__(self, agent: int) -> None:
        self._agent = agent
        self._readings: deque[tuple[float, float]] = deque(maxlen=4)
        """The time of each reading, and the seconds of CPU that all processes had used by then."""
        self._uses_cpu: bool | None = None

    def is_stopped(self) -> bool:
        """Whether a signal has stopped the agent itself; False if not known."""
        stat = stat_of(self._agent) if sys.platform == "linux" else None
        return stat is not None and stat.state == "T"

    def uses_cpu(self) -> bool | None:
        """Whether the processes used CPU in the last seconds (at most 5); None if not known (yet)."""
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
    """Return the CPU seconds of the agent's session; None if no process of it is visible."""
    if sys.platform != "linux":
        return None
    used = [stat.ticks for pid in pids() if _session(pid) == agent and (stat := stat_of(pid)) is not None]
    return sum(used) / os.sysconf("SC_CLK_TCK") if used else None


def _session(pid: int) -> int | None:
    """Return the session of a process by a system call, which costs a tenth of reading /proc/PID/stat."""
    try:
        return os.getsid(pid)
    except OSError:
        return None


_PR_SET_CHILD_SUBREAPER = 36
_MARK = "AGENTWATCH_RUN"
"""The variable in the environment of an agent by which its processes are known, as CI runners do it."""
_UNCLAIMED_SECONDS = 1.0
"""How long an ended process is left to the code that may have started it, such as that of the editor."""


class Survivor(NamedTuple):
    pid: int
    name: str


class Descendants:
    """The processes that an agent has started, directly or indirectly. Ours adopts them when their parent
    ends, but has other children too: those it had before (`exec agentwatch run` in a script), and what the
    user's editor leaves behind. So only the processes of the agent's session count, and adopted ones that
    began after the agent, in a session of their own, with its mark in their environment."""

    def __init__(self, mark: str) -> None:
        """Adopt orphans from now on."""
        self._mark = f"{_MARK}={mark}".encode()
        self._agent = 0
        self._began = 0
        self._has_session = True
        self._known: dict[int, int] = {}
        """When each survivor began, by its id. While a process replaces its program, it shows no mark."""
        self._ended_at: dict[int, float] = {}
        """When an ended child that is not known to be the agent's was first seen."""
        _adopt_orphans()

    def begin(self, agent: int) -> None:
        self._agent = agent
        stat = stat_of(agent)
        self._began = 0 if stat is None else stat.began

    def survivors(self) -> list[Survivor]:
        """Once nothing is left of the agent's session, its id can be given to an unrelated one."""
        own, found = os.getpid(), [(pid, stat) for pid in sorted(pids()) if (stat := stat_of(pid))]
        self._has_session = self._has_session and any(stat.session == self._agent for _, stat in found)
        survivors = [
            (pid, stat)
            for pid, stat in found
            if pid not in (self._agent, own)
            and stat.state != "Z"
            and (
                (self._has_session and stat.session == self._agent)
                or (stat.parent == own and self._is_adopted(pid, stat))
            )
        ]
        self._known = {pid: stat.began for pid, stat in survivors}
        return [Survivor(pid, stat.name) for pid, stat in survivors]

    def reap(self) -> None:
        """Reap adopted processes that have ended; the agent's exit status is left to its `Popen`, other
        children for a second to the code that has started them and may wait for them."""
        if sys.platform != "linux" or not _has_ended_child():
            return
        now, own, seen = time.monotonic(), os.getpid(), self._ended_at
        ended = [pid for pid in pids() if (stat := stat_of(pid)) and stat.parent == own and stat.state == "Z"]
        self._ended_at = {pid: seen.get(pid, now) for pid in ended if pid != self._agent}
        for pid, since in self._ended_at.items():
            stat = stat_of(pid)
            if stat is not None and (stat.session == self._agent or now - since > _UNCLAIMED_SECONDS):
                with suppress(ChildProcessError):
                    os.waitpid(pid, os.WNOHANG)

    def _is_adopted(self, pid: int, stat: Stat) -> bool:
        if stat.began < self._began or stat.session == os.getsid(0):
            return False
        if self._known.get(pid) == stat.began:
            return True
        marks = (name for name in environment_of(pid) if name.startswith(self._mark))
        return any(mark[len(self._mark) : len(self._mark) + 1] in (b"", b"/") for mark in marks)


def marked_environment() -> tuple[str, dict[str, str]]:
    """A new mark, and our environment with it. It begins with that of the agent in which we run, if any,
    which has to know our agent's processes too."""
    outer = os.environ.get(_MARK)
    mark = f"{outer}/{os.getpid()}" if outer else f"{os.getpid()}.{time.monotonic_ns()}"
    return mark, {_MARK: mark} | {name: value for name, value in os.environ.items() if name != _MARK}


def _adopt_orphans() -> None:
    """Become the parent of processes whose parent ends, even if they have started their own session."""
    if sys.platform == "linux":
        import ctypes

        with suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def _has_ended_child() -> bool:
    try:
        return os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
    except ChildProcessError:
        return False
