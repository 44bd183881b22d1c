"""Finds the processes that outlived the agent that started them. It reads /proc, so it needs Linux."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from typing import NamedTuple

from agentwatch.sources.procfs import pids, stat_of

_PR_SET_CHILD_SUBREAPER = 36


class Survivor(NamedTuple):
    """A process that is still running."""

    pid: int
    name: str


def adopt_orphans() -> None:
    """Become the parent of processes whose parent ends, even if they have started their own session."""
    if sys.platform == "linux":
        import ctypes

        with suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def survivors(agent: int) -> list[Survivor]:
    """Return the running processes that belong to the agent's session or were adopted, except the agent."""
    return [found for pid in sorted(pids()) if (found := _survivor(pid, agent)) is not None]


def reap_orphans(agent: int) -> None:
    """Reap the adopted processes that have ended; the agent's own exit status is left to its `Popen`.

    A process of our own session, such as the user's editor, is left to those who wait for it. The agent has a
    session of its own, and no process that it starts can return to ours.
    """
    with suppress(ChildProcessError, ProcessLookupError):
        while (ended := os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)) is not None:
            if ended.si_pid == agent or os.getsid(ended.si_pid) == os.getsid(0):
                return
            os.waitpid(ended.si_pid, 0)


def _survivor(pid: int, agent: int) -> Survivor | None:
    stat = stat_of(pid)
    if stat is None:
        return None
    state, parent, _group, session = stat.fields[:4]
    is_ours = int(session) == agent or int(parent) == os.getpid()
    if pid in (agent, os.getpid()) or state == b"Z" or not is_ours:
        return None
    return Survivor(pid, stat.name)
