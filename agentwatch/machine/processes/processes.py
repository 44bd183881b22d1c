"""The processes of the known agents on this machine."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Container, Iterable, Mapping

from agentwatch.machine.process import Process
from agentwatch.machine.processes.command import Command, command_of, look_of
from agentwatch.machine.processes.ps import ProcessTable
from agentwatch.sources.proc import Proc, Stat

_FULL_SECONDS = 10.0
"""The time between two readings of all processes, 12 µs each. In between, only new ones, the agents and their
children are read."""
_YOUNG_MS = 5000
"""A process of this age may still become an agent: a shell starts it with `exec`."""
_FORK_MS = 2000
_FILES_SECONDS = 5.0
_WINDOW_SECONDS = 5.0
_LEAST_WINDOW_SECONDS = 1.5
_IDLE_SHARE = 0.03
"""The share of one core below which an agent counts as idle; the timers of one that waits use less."""
_MOST_READINGS = 40
_MOST_PATHS = 256
_TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")


class _Agent:
    """What is read once of the process of an agent, and what is kept from one reading to the next."""

    __slots__ = (
        *("arguments", "began", "began_ms", "command", "cwd", "files_due", "open_paths", "opened_ms"),
        "readings",
    )

    def __init__(self, stat: Stat, command: Command, arguments: tuple[str, ...], cwd: str | None) -> None:
        self.began = stat.began
        self.began_ms = stat.began_ms
        self.command = command
        self.arguments = arguments
        self.cwd = cwd
        self.files_due = 0.0
        self.open_paths: tuple[str, ...] = ()
        self.opened_ms: int | None = None
        self.readings: deque[tuple[float, int]] = deque(maxlen=_MOST_READINGS)
        """The time of a reading, in seconds, and the CPU time used by then, in clock ticks."""

    def is_idle(self, now: float, ticks: int) -> bool | None:
        """Note the CPU time, and return whether the last seconds used nearly none; None if not known yet."""
        readings = self.readings
        while readings and not 0 <= now - readings[0][0] <= _WINDOW_SECONDS:
            readings.popleft()
        readings.append((now, ticks))
        seconds = now - readings[0][0]
        if seconds < _LEAST_WINDOW_SECONDS:
            return None
        return (ticks - readings[0][1]) / _TICKS_PER_SECOND < _IDLE_SHARE * seconds


class Processes:
    """Finds the agents among the processes of the own user."""

    def __init__(self, uid: int | None = None, proc: Proc | None = None) -> None:
        """Create an empty table.

        Args:
            uid: The user whose processes count; None for the own one.
            proc: Where the processes are read; None for /proc.
        """
        self._uid = os.geteuid() if uid is None else uid
        self._proc = proc or Proc()
        self._table = None if self._proc.exists() else ProcessTable(self._uid)
        self._stats: dict[int, Stat] = {}
        self._young: set[int] = set()
        self._agents: dict[int, _Agent] = {}
        self._full_due = 0.0
        self.agents: dict[int, Process] = {}
        """The processes of agents by their id, without wrappers."""

    @property
    def is_known(self) -> bool:
        """Whether the processes were read; on a system without /proc that takes a moment."""
        return self._table is None or self._table.is_known

    def refresh(self, now: float) -> None:
        """Read what may have changed.

        Args:
            now: The time, in seconds since the epoch.
        """
        if self._table is not None:
            self._refresh_from_table(self._table, now)
            return
        self._read_stats(now)
        children = _children(
            self._agents, ((pid, stat.parent, stat.began_ms) for pid, stat in self._stats.items())
        )
        agents = {}
        for pid, agent in self._agents.items():
            stat = self._stats[pid]
            self._look_at_files(pid, agent, now)
            agents[pid] = Process(
                pid,
                agent.began,
                agent.command.agent,
                agent.began_ms,
                agent.cwd,
                agent.arguments,
                *children.get(pid, (0, None)),
                agent.open_paths,
                agent.opened_ms,
                agent.command.is_shared,
                is_idle=agent.is_idle(now, stat.ticks),
            )
        parents = {pid: self._stats[pid].parent for pid in agents}
        commands = {pid: each.command for pid, each in self._agents.items()}
        self.agents = _without_wrappers(agents, parents, commands, now)

    def _read_stats(self, now: float) -> None:
        """Read the state of the processes that may have changed, and find the agents among the new ones."""
        pids = self._proc.pids()
        is_full = not 0 <= self._full_due - now <= _FULL_SECONDS
        if is_full:
            self._full_due = now + _FULL_SECONDS
        for gone in self._stats.keys() - pids:
            self._forget(gone)
        for pid in pids:
            known = self._stats.get(pid)
            if not (is_full or known is None or pid in self._young or self._is_of_agent(pid, known)):
                continue
            stat = self._proc.stat(pid)
            if stat is None:
                self._forget(pid)
                continue
            is_new = known is None or known.began != stat.began
            if is_new:
                self._forget(pid)
            is_young = 0 <= now * 1000 - stat.began_ms <= _YOUNG_MS
            (self._young.add if is_young else self._young.discard)(pid)
            self._stats[pid] = stat
            if is_new or is_young or (known is not None and known.name != stat.name):
                self._identify(pid, stat)

    def _is_of_agent(self, pid: int, stat: Stat) -> bool:
        return pid in self._agents or stat.parent in self._agents

    def _forget(self, pid: int) -> None:
        self._stats.pop(pid, None)
        self._young.discard(pid)
        self._agents.pop(pid, None)

    def _identify(self, pid: int, stat: Stat) -> None:
        """Find out whether a process is an agent. Once it is one, only its folder may still change."""
        proc = self._proc
        if proc.uid(pid) != self._uid:
            return
        arguments = proc.arguments(pid)
        is_title = len(arguments) < 2  # some agents replace their command line by a title
        command = command_of(arguments) or (command_of((stat.name,)) if is_title else None)
        known = self._agents.get(pid)
        if known is not None and (is_title or (command and command.rest == known.command.rest)):
            known.cwd = _folder(proc.cwd(pid), known.command)
            return
        if command is None:
            self._agents.pop(pid, None)
            return
        cwd = _folder(proc.cwd(pid), command)
        self._agents[pid] = _Agent(stat, command, arguments, cwd)

    def _look_at_files(self, pid: int, agent: _Agent, now: float) -> None:
        """Look up the open files of an agent that keeps those of its sessions open, at most every 5 s."""
        is_of_session = look_of(agent.command.agent).opens
        if is_of_session is None or 0 <= agent.files_due - now <= _FILES_SECONDS:
            return
        agent.files_due = now + _FILES_SECONDS
        paths = self._proc.open_paths(pid)
        if paths is None:
            agent.opened_ms = None
            return
        agent.opened_ms = int(now * 1000)
        agent.open_paths = tuple(sorted({path for path in paths if is_of_session(path)})[:_MOST_PATHS])

    def _refresh_from_table(self, table: ProcessTable, now: float) -> None:
        table.refresh(now, list(self.agents))
        listed = table.listed
        commands = {pid: found for pid, each in listed.items() if (found := command_of(each.arguments))}
        children = _children(commands, ((pid, each.parent, each.began_ms) for pid, each in listed.items()))
        agents = {
            pid: Process(
                pid,
                0,
                command.agent,
                listed[pid].began_ms,
                _folder(table.cwds.get(pid), command),
                listed[pid].arguments,
                *children.get(pid, (0, None)),
                is_shared=command.is_shared,
            )
            for pid, command in commands.items()
        }
        parents = {pid: listed[pid].parent for pid in agents}
        self.agents = _without_wrappers(agents, parents, commands, now)


def _children(
    agents: Container[int], processes: Iterable[tuple[int, int, int]]
) -> dict[int, tuple[int, int | None]]:
    """Return the number of child processes of each agent that has some, and the start of the youngest.

    Args:
        agents: The ids of the agents.
        processes: The id, the parent and the start of each process, in milliseconds since the epoch.
    """
    found: dict[int, tuple[int, int | None]] = {}
    for _, parent, began_ms in processes:
        if parent in agents:
            count, youngest = found.get(parent, (0, None))
            found[parent] = count + 1, max(youngest or began_ms, began_ms)
    return found


def _without_wrappers(
    agents: dict[int, Process], parents: Mapping[int, int], commands: Mapping[int, Command], now: float
) -> dict[int, Process]:
    """Return the agents without those that have only started another with the same arguments.

    The package of Codex is a script that starts the program, and Gemini starts itself with more memory. A
    process that an agent has just forked has the command line of the agent until it runs its program.
    """
    left_out = set()
    for pid, parent in parents.items():
        child, wrapper = agents[pid], agents.get(parent)
        if wrapper is None or wrapper.agent != child.agent:
            continue
        is_new = now * 1000 - (child.began_ms or 0) < _FORK_MS
        if is_new and child.arguments == wrapper.arguments:
            left_out.add(pid)
        elif commands[parent].is_script and commands[parent].rest == commands[pid].rest:
            left_out.add(parent)
    return {pid: process for pid, process in agents.items() if pid not in left_out}


def _folder(cwd: str | None, command: Command) -> str | None:
    """Return the folder of the session: that of the arguments, or else that of the process."""
    named = command.folder
    if named is None:
        return cwd
    return os.path.normpath(os.path.join(cwd, named)) if cwd else named if os.path.isabs(named) else None
