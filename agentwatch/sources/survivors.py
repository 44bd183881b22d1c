"""Finds the processes that outlived the agent that started them. It reads /proc, so it needs Linux."""

from __future__ import annotations

import os
import sys
import time
from contextlib import suppress
from typing import NamedTuple

from agentwatch.sources.proc import ProcessStat, environment_of, pids, stat_of

_PR_SET_CHILD_SUBREAPER = 36
_MARK = "AGENTWATCH_RUN"
"""The variable in the environment of an agent by which its processes are known, as CI runners do it."""
_UNCLAIMED_SECONDS = 1.0
"""How long an ended process is left to the code that may have started it, such as that of the editor."""


class Survivor(NamedTuple):
    """A process that is still running."""

    pid: int
    name: str


class Descendants:
    """The processes that an agent has started, directly or indirectly.

    Our process adopts them when their parent ends. It has other children too: those that it had before
    (`exec agentwatch run` in a script), and what the user's editor leaves behind. So only these count: the
    processes of the agent's session; and adopted processes that began after the agent, in a session of their
    own, with the agent's mark in their environment.
    """

    def __init__(self, mark: str) -> None:
        """Adopt orphans from now on."""
        self._mark = f"{_MARK}={mark}".encode()
        self._agent = 0
        self._began = 0
        self._has_session = True
        self._known: dict[int, int] = {}
        """When each survivor began, by its process id. While a process replaces its program, it has no
        environment, so its mark cannot be read.
        """
        self._ended_at: dict[int, float] = {}
        """When an ended child that is not known to be the agent's was first seen."""
        _adopt_orphans()

    def begin(self, agent: int) -> None:
        """Note the process id of the agent, which has just started."""
        self._agent = agent
        stat = stat_of(agent)
        self._began = 0 if stat is None else stat.began

    def survivors(self) -> list[Survivor]:
        """Return the running processes of the agent, except the agent itself. Once nothing is left of the
        agent's session, its id can be given to an unrelated one."""
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
        """Reap the adopted processes that have ended; the exit status of the agent is left to its `Popen`.
        Other children are left for a second to the code that has started them and may wait for them."""
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

    def _is_adopted(self, pid: int, stat: ProcessStat) -> bool:
        if stat.began < self._began or stat.session == os.getsid(0):
            return False
        if self._known.get(pid) == stat.began:
            return True
        marks = (name for name in environment_of(pid) if name.startswith(self._mark))
        return any(mark[len(self._mark) : len(self._mark) + 1] in (b"", b"/") for mark in marks)


def marked_environment() -> tuple[str, dict[str, str]]:
    """Return a new mark, and our environment with it. A mark begins with that of the agent in which we run,
    if any, which has to know our agent's processes too."""
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
