"""Keeps the sessions that may run joined to their processes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from agentwatch.machine.process import Life, Process
from agentwatch.machine.processes.joining import Joined, joined
from agentwatch.machine.processes.processes import Processes
from agentwatch.machine.said import Registries
from agentwatch.machine.tracked import Tracked
from agentwatch.wire.found import Key

RECENT_MS = 7 * 24 * 3_600_000
"""A session without a line for longer than this runs only if its agent says so."""
_PRUNE_MS = 60_000


class Joins:
    """The sessions that may run, and their processes.

    Joining 1,000 sessions to 300 processes takes 5 ms. Mostly only the children and the CPU time of processes
    have changed, which is noted without joining again.
    """

    def __init__(self, processes: Processes, registries: Registries) -> None:
        self.is_due = True
        """Whether the sessions must be joined again."""
        self._processes = processes
        self._registries = registries
        self._sessions: dict[Key, Tracked] = {}
        self._identities: dict[int, tuple[object, ...]] = {}
        self._pruned_ms = 0

    def add(self, key: Key, session: Tracked, now_ms: int) -> None:
        """Add a session, if it may run; otherwise it has ended. A subagent has the process of its session."""
        if session.found.parent is not None:
            return
        if self._may_run(session, now_ms):
            self.is_due = self.is_due or key not in self._sessions
            self._sessions[key] = session
        elif key not in self._sessions:
            session.join(Life.DEAD, None)

    def forget(self, key: Key) -> None:
        """Remove a session that is gone."""
        self._sessions.pop(key, None)

    def read_processes(self, now_ms: int) -> None:
        """Read the processes. The sessions are due again if what they are joined by has changed."""
        self._processes.refresh(now_ms / 1000)
        identities = {pid: _identity(process) for pid, process in self._processes.agents.items()}
        self.is_due = self.is_due or identities != self._identities
        self._identities = identities

    def changed(self, live: Iterable[Key]) -> dict[Key, Joined]:
        """Return the sessions of which only the process has changed: its children, or its CPU time.

        Args:
            live: The sessions that run.
        """
        agents = self._processes.agents
        found: dict[Key, Joined] = {}
        for key in live:
            session = self._sessions.get(key)
            process = None if session is None else session.process
            if session is None or process is None or (now := agents.get(process.pid)) is None:
                continue
            now = now._replace(viewers=process.viewers)
            if now != process:
                found[key] = (session.life, now)
        return found

    def joined(self, now_ms: int) -> Mapping[Key, Joined]:
        """Join all sessions again, and return whether each of them runs."""
        self.is_due = False
        if not 0 <= now_ms - self._pruned_ms < _PRUNE_MS:
            self._pruned_ms = now_ms
            sessions = self._sessions.items()
            self._sessions = {key: each for key, each in sessions if self._may_run(each, now_ms)}
        founds = [each.found for each in self._sessions.values()]
        cwds = {key: each.cwd for key, each in self._sessions.items()}
        processes = self._processes.agents if self._processes.is_known else None
        return joined(founds, processes, self._registries.said, cwds, self._registries.exact)

    def _may_run(self, session: Tracked, now_ms: int) -> bool:
        return now_ms - session.seen_ms < RECENT_MS or session.said is not None or session.is_live


def _identity(process: Process) -> tuple[object, ...]:
    """Return what a process is joined by."""
    return process.began, process.cwd, process.arguments, process.open_paths, process.opened_ms
