"""The processes of the known agents on this machine, from /proc or from `ps` and `lsof`."""

from __future__ import annotations

import os
import threading
import time
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from functools import cache
from typing import NamedTuple

from agentwatch.agents.program import Command as Look
from agentwatch.agents.registry import programs
from agentwatch.agents.state_report import State
from agentwatch.catalog.session_status import Process
from agentwatch.sources.proc import Proc, Stat

_UNKNOWN = Look(())

_INTERPRETERS = frozenset({"node", "nodejs", "bun", "deno", "sh", "bash", "dash", "zsh"})
_RUNNERS = frozenset({"run", "x"})
"""The word between the interpreter and the script: `bun run gemini`."""
_WITH_VALUE = frozenset({"-r", "--require", "--import", "--loader", "--experimental-loader", "--env-file"})
"""The options of Node.js whose value is the next argument."""
_CODE = frozenset({"-c", "-e", "-m", "-p", "--eval", "--print"})
_NO_SESSION = frozenset(
    {"agents", "auth", "completion", "config", "doctor", "export", "extensions", "import", "install"}
    | {"login", "logout", "mcp", "models", "plugin", "plugins", "setup-token", "stats", "uninstall", "update"}
    | {"upgrade", "--help", "-h", "--version", "-v", "--ripgrep"}
)
"""The first arguments of processes that have no session, because they manage something."""
_SESSION_OPTIONS = frozenset({"--resume", "-r", "resume", "--session", "-s", "--session-id", "--id"})
_FORKS = frozenset({"--fork-session", "fork"})
_LEAST_ID = 8
"""Shorter values are not ids: Gemini numbers its sessions, `--resume 5`."""


class Command(NamedTuple):
    agent: str
    rest: tuple[str, ...]
    """The arguments after the program or script."""
    is_script: bool
    """Whether an interpreter runs it."""

    @property
    def is_shared(self) -> bool:
        return any(word in self.rest for word in look_of(self.agent).servers)

    @property
    def has_one_prompt(self) -> bool | None:
        """Return None if its arguments do not say so."""
        words, look = {word.partition("=")[0] for word in self.rest}, look_of(self.agent)
        if self.is_shared or not look.several_prompts.isdisjoint(words):
            return False
        return None if look.one_prompt.isdisjoint(words) else True

    @property
    def folder(self) -> str | None:
        for option in look_of(self.agent).folder_options:
            for word, value in zip(self.rest, self.rest[1:], strict=False):
                if word == option:
                    return value
            for word in self.rest:
                if word.startswith(f"{option}=") and option.startswith("--"):
                    return word.partition("=")[2]
        return None


def command_of(arguments: Sequence[str]) -> Command | None:
    """Return None for any other program. The first of `arguments` is the program."""
    if len(arguments) == 1 and " " in arguments[0]:
        arguments = arguments[0].split()  # a program that has set its title: `npm exec @google/gemini-cli`
    if not arguments:
        return None
    program = _name(arguments[0])
    if agent := _named(program):
        return _command(agent, arguments[1:], is_script=False)
    is_shared = program in _looks().shared_names
    if is_shared and (agent := _packaged(arguments[0])) is not None:
        return _command(agent, arguments[1:], is_script=False)
    if program not in _INTERPRETERS and not program.startswith("python") and not is_shared:
        return None
    place = _script(arguments)
    if place is None:
        return None
    script = arguments[place]
    agent = _packaged(script) if is_shared else _named(_name(script)) or _packaged(script)
    return _command(agent, arguments[place + 1 :], is_script=True) if agent else None


def session_in(agent: str, arguments: Sequence[str]) -> str | None:
    """The id or the path of the session that arguments resume; None if they name none."""
    if not _FORKS.isdisjoint(arguments):
        return None
    for word, following in zip(arguments, (*arguments[1:], ""), strict=False):
        option, _, value = word.partition("=")
        if option not in _SESSION_OPTIONS or option in look_of(agent).own_ids:
            continue
        value = value or following
        if len(value) >= _LEAST_ID and not value.startswith("-"):
            return value
    return None


def _command(agent: str, rest: Sequence[str], *, is_script: bool) -> Command | None:
    first = frozenset(rest[:1])
    if first & _NO_SESSION or first & look_of(agent).helpers:
        return None
    return Command(agent, tuple(rest), is_script)


def _script(arguments: Sequence[str]) -> int | None:
    """The place of the script that an interpreter runs; None if it runs none."""
    skips = False
    for place, word in enumerate(arguments[1:], 1):
        if skips or word in _RUNNERS:
            skips = False
        elif word in _CODE:
            return None
        elif word in _WITH_VALUE:
            skips = True
        elif not word.startswith("-"):
            return place
    return None


def _name(path: str) -> str:
    return os.path.basename(path).removesuffix(".js").removesuffix(".mjs").removesuffix(".exe")


def _named(name: str) -> str | None:
    looks = _looks()
    for prefix, agent in looks.releases:
        if name.startswith(prefix):
            return agent
    return looks.names.get(name)


def _packaged(path: str) -> str | None:
    for package, agent in _looks().packages:
        if f"/{package}/" in path:
            return agent
    return None


def look_of(agent: str) -> Look:
    return _looks().of.get(agent, _UNKNOWN)


class _Looks(NamedTuple):
    of: dict[str, Look]
    names: dict[str, str]
    """The short names of agents by the names of their programs."""
    shared_names: frozenset[str]
    packages: tuple[tuple[str, str], ...]
    releases: tuple[tuple[str, str], ...]


@cache
def _looks() -> _Looks:
    of = {program.name: program.command for program in programs() if program.command is not None}
    return _Looks(
        of,
        {name: agent for agent, look in of.items() for name in look.names},
        frozenset(name for look in of.values() for name in look.shared_names),
        tuple((package, agent) for agent, look in of.items() for package in look.packages),
        tuple((prefix, agent) for agent, look in of.items() for prefix in look.releases),
    )


# Without /proc, such as on macOS: `ps` and `lsof` run in a thread with a time limit, because `lsof` can take
# tens of seconds. Nothing waits for them.

_SECONDS = 2.0
_PS_LIMIT_SECONDS = 5.0
_LSOF_LIMIT_SECONDS = 10.0
_LSOF_PAUSE_SECONDS = 60.0
"""The pause after an `lsof` that took too long."""
_MOST_OUTPUT = 1 << 20
_MOST_ARGUMENTS = 64
_MOST_ARGUMENT = 300
_MOST_PIDS = 100
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_ENVIRONMENT = {"LC_ALL": "C", "TZ": "UTC"}


class Listed(NamedTuple):
    pid: int
    parent: int
    began_ms: int
    arguments: tuple[str, ...]
    """Split at blanks."""


class ProcessTable:
    """Runs `ps` in a thread, and keeps what it has shown."""

    def __init__(self, uid: int) -> None:
        self._uid = uid
        self._due = 0.0
        self._thread: threading.Thread | None = None
        self._lsof_due = 0.0
        self.listed: dict[int, Listed] = {}
        self.is_known = False
        """Whether `ps` has shown the processes once."""
        self.cwds: dict[int, str] = {}

    def refresh(self, now: float, wanted: Sequence[int]) -> None:
        """Start the next run if it is due and the last has ended. `wanted` get their folders looked up."""
        if now < self._due or (self._thread is not None and self._thread.is_alive()):
            return
        self._due = now + _SECONDS
        self._thread = threading.Thread(target=self._run, args=(tuple(wanted),), daemon=True, name="ps")
        self._thread.start()

    def _run(self, wanted: tuple[int, ...]) -> None:
        listed = listed_processes(("-U", str(self._uid)))
        if listed is None:
            return
        self.cwds = {pid: cwd for pid, cwd in self.cwds.items() if _is_same(pid, self.listed, listed)}
        self.listed = listed
        self.is_known = True
        missing = [pid for pid in wanted if pid in listed and pid not in self.cwds][:_MOST_PIDS]
        if missing and time.monotonic() >= self._lsof_due:
            shown = _output(
                ("lsof", "-n", "-P", "-w", "-a", "-p", ",".join(map(str, missing)), "-d", "cwd", "-Fn"),
                _LSOF_LIMIT_SECONDS,
            )
            if shown is None:
                self._lsof_due = time.monotonic() + _LSOF_PAUSE_SECONDS
            else:
                self.cwds = {**self.cwds, **folders_in(shown)}


def listed_processes(selection: tuple[str, ...]) -> dict[int, Listed] | None:
    """Return what `ps` shows; None without any, or after 5 s. `selection` are options, as `-p 1234`."""
    shown = _output(("ps", "-ww", *selection, "-o", "pid=,ppid=,lstart=,command="), _PS_LIMIT_SECONDS)
    if shown is None:
        return None
    found = (_listed(line) for line in shown.splitlines())
    return {each.pid: each for each in found if each is not None} or None


def folders_in(shown: str) -> dict[int, str]:
    """Return the folders in the output of `lsof -Fn`, lines of `p` and the id, `n` and the path."""
    found, pid = {}, 0
    for line in shown.splitlines():
        if line.startswith("p") and line[1:].isdecimal():
            pid = int(line[1:])
        elif line.startswith("n/"):
            found[pid] = line[1:]
    return found


def started_ms(text: str) -> int | None:
    """The time that `ps` shows as `lstart`, `Sat Sep 12 15:07:13 2026` (UTC); None for another text."""
    import calendar

    match text.split():
        case [_, month, day, clock, year] if month in _MONTHS:
            with suppress(ValueError, OverflowError):
                hour, minute, second = map(int, clock.split(":"))
                when = (int(year), _MONTHS.index(month) + 1, int(day), hour, minute, second)
                return calendar.timegm(when) * 1000
    return None


def _listed(line: str) -> Listed | None:
    words = line.split(None, 7)
    if len(words) < 8 or not (words[0].isdecimal() and words[1].isdecimal()):
        return None
    began = started_ms(" ".join(words[2:7]))
    if began is None:
        return None
    arguments = tuple(word[:_MOST_ARGUMENT] for word in words[7].split()[:_MOST_ARGUMENTS])
    return Listed(int(words[0]), int(words[1]), began, arguments)


def _is_same(pid: int, before: dict[int, Listed], after: dict[int, Listed]) -> bool:
    return pid in before and pid in after and before[pid].began_ms == after[pid].began_ms


def _output(command: tuple[str, ...], seconds: float) -> str | None:
    """Return what a program prints; None if it does not exist or takes longer than `seconds`."""
    import subprocess  # takes 3 ms, which a prompt would wait for

    try:
        ran = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=seconds,
            env={**os.environ, **_ENVIRONMENT},
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return ran.stdout[:_MOST_OUTPUT].decode("utf-8", "replace")


_FULL_SECONDS = 10.0
"""The time between two readings of all processes, 12 µs each; else only new ones and those of agents."""
_REPORTING_SECONDS = 60.0
"""The same for agents that report their states, and so their ends: reading 300 takes 6 ms."""
_YOUNG_MS = 5000
"""A process of this age may still become an agent: a shell starts it with `exec`."""
_FORK_MS = 2000
_OPEN_FILES_SECONDS = 5.0
_BEGINNING_MS = 10_000
"""An agent opens the files of its session in this time: they are looked up each time until it has one."""
_WINDOW_SECONDS = 5.0
_LEAST_WINDOW_SECONDS = 1.5
_SHORT_WINDOW_SECONDS = 0.4
"""An agent that has used nearly nothing for this time is idle. One that has used more may only have drawn."""
_CALM_SHARE = 0.1
"""The share below which an agent does not read the result of a command: with a question, opencode uses 3 to
5 %, and after a command, Qwen Code uses over 30 %."""
_IDLE_SHARE = 0.03
"""The share of one core below which an agent counts as idle; the timers of one that waits use less."""
_MOST_READINGS = 40
_MOST_PATHS = 256
_TITLES_SECONDS = 1.0
"""The time for which titles are true, and the longest that tmux may take for them: it takes 3 ms."""
_TITLES_PAUSE_SECONDS = 60.0
"""The pause after a tmux that does not answer."""
_TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")


class Titles:
    """The titles of the panes of the tmux in which agentwatch runs. No other tmux is asked: the socket that a
    process names may be that of an agent, and a program of tmux does what its server says."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._server = environ.get("TMUX", "")
        self._titles: dict[str, str] = {}
        self._due = 0.0

    def pane_of(self, environ: Mapping[str, str]) -> str:
        """Return the pane in which a process was started; empty if it is in no pane that is known."""
        is_here = bool(self._server) and _socket(environ.get("TMUX", "")) == _socket(self._server)
        return environ.get("TMUX_PANE", "") if is_here else ""

    def of(self, pane: str, now: float) -> str:
        if not 0 <= self._due - now <= _TITLES_PAUSE_SECONDS:
            shown = _output(("tmux", "list-panes", "-a", "-F", "#{pane_id} #{pane_title}"), _TITLES_SECONDS)
            self._due = now + (_TITLES_SECONDS if shown else _TITLES_PAUSE_SECONDS)
            self._titles = dict(line.partition(" ")[::2] for line in (shown or "").splitlines())
        return self._titles.get(pane, "")


def _socket(tmux: str) -> str:
    return tmux.partition(",")[0]


class _Agent:
    """What is read once of an agent's process, and what is kept between two readings."""

    __slots__ = (
        *("arguments", "began", "began_ms", "command", "cwd", "files_due", "has_one_prompt", "open_paths"),
        *("facts", "has_title", "is_calm", "is_of_session", "is_shared", "opened_ms", "pane", "process"),
        "readings",
    )

    def __init__(self, stat: Stat, command: Command, arguments: tuple[str, ...], cwd: str | None) -> None:
        self.began = stat.began
        self.began_ms = stat.began_ms
        self.command = command
        self.has_one_prompt, self.is_shared = bool(command.has_one_prompt), command.is_shared
        self.is_of_session = look_of(command.agent).opens
        self.arguments = arguments
        self.cwd = cwd
        self.files_due = 0.0
        self.open_paths: tuple[str, ...] = ()
        self.opened_ms: int | None = None
        self.is_calm: bool | None = None
        self.pane, self.has_title = "", False
        self.facts: tuple[object, ...] = ()
        """What may differ in the next process of it."""
        self.process: Process | None = None
        self.readings: deque[tuple[float, int]] = deque(maxlen=_MOST_READINGS)
        """Pairs of a time in seconds, and the CPU time used by then, in clock ticks."""

    def is_idle(self, now: float, stat: Stat | None) -> bool | None:
        """Note the CPU time, and return whether the last seconds used nearly none; None if that is not known.
        `stat` is None for a process whose state was not read, because nobody asks whether it is idle. The
        shortest window of 1.5 s counts: the drawing of a question is work. A single busy window after an idle
        one does not count: the Gemini CLI tidies its memory for 0.2 s every 8 s."""
        if stat is None:
            self.is_calm = None
            return None
        readings = self.readings
        while readings and not 0 <= now - readings[0][0] <= _WINDOW_SECONDS:
            readings.popleft()
        readings.append((now, stat.ticks))
        self.is_calm = None
        start = next((each for each in reversed(readings) if now - each[0] >= _LEAST_WINDOW_SECONDS), None)
        if start is not None:
            is_before = start[0] - readings[0][0] >= _LEAST_WINDOW_SECONDS
            return _uses_little(start, readings[-1]) or (is_before and _uses_little(readings[0], start))
        if now - readings[0][0] < _SHORT_WINDOW_SECONDS:
            return None
        self.is_calm = _uses_little(readings[0], readings[-1], _CALM_SHARE) and not stat.is_runnable
        return True if self.is_calm and _uses_little(readings[0], readings[-1]) else None


def _uses_little(start: tuple[float, int], end: tuple[float, int], share: float = _IDLE_SHARE) -> bool:
    """Whether less than a share of one core was used between two readings."""
    return (end[1] - start[1]) / _TICKS_PER_SECOND < share * (end[0] - start[0])


class Processes:
    """`uid` is None for the own user, `proc` None for /proc."""

    def __init__(self, uid: int | None = None, proc: Proc | None = None) -> None:
        self._uid = os.geteuid() if uid is None else uid
        self._proc = proc or Proc()
        self._titles = Titles(os.environ)
        self._table = None if self._proc.exists() else ProcessTable(self._uid)
        self._stats: dict[int, Stat] = {}
        self._young: set[int] = set()
        self._agents: dict[int, _Agent] = {}
        self._full_due = self._reporting_due = 0.0
        self._newest: bytes | None = b""
        """The last process that has begun; None if /proc does not tell it."""
        self._wrappers: set[tuple[int, int | None]] = set()
        """The processes that have started another one, and when: they may end a moment after it."""
        self.agents: dict[int, Process] = {}
        """The processes of agents by their id, without wrappers."""

    @property
    def is_known(self) -> bool:
        """Return whether the processes are known. Without /proc it takes a moment until they are."""
        return self._table is None or self._table.is_known

    def environment(self, pid: int) -> dict[str, str]:
        """The variables that a process was started with; empty if they are not shown."""
        pairs = (os.fsdecode(each).partition("=") for each in self._proc.environment(pid))
        return {name: value for name, _, value in pairs}

    def refresh(self, now: float, reporting: Mapping[int, bool] = {}) -> None:
        """`reporting` are the agents whose sessions say their state themselves, and whether their end too: it
        is not asked whether these are idle, and they are read with all others only. The processes of the last
        time are kept if none differs."""
        if self._table is not None:
            self._refresh_from_table(self._table, now)
            return
        self._read_stats(now, reporting)
        of_agents = (each for each in self._stats.values() if each.parent in self._agents)
        children = _children((each.parent, each.began_ms) for each in of_agents)
        agents = {}
        for pid, agent in self._agents.items():
            stat = self._stats[pid]
            self._look_at_files(pid, agent, now)
            is_idle = agent.is_idle(now, None if pid in reporting else stat)
            title = self._title(agent, now) if agent.pane else None
            below = children.get(pid, (0, None))
            files = agent.open_paths, agent.opened_ms
            facts = (agent.cwd, below, *files, is_idle, agent.is_calm, stat.has_terminal, title)
            if agent.process is None or facts != agent.facts:
                agent.facts = facts
                agent.process = Process(
                    pid,
                    agent.began,
                    agent.command.agent,
                    agent.began_ms,
                    agent.cwd,
                    agent.arguments,
                    *below,
                    *files,
                    agent.is_shared,
                    is_idle=is_idle,
                    has_terminal=stat.has_terminal,
                    has_one_prompt=agent.has_one_prompt,
                    is_calm=agent.is_calm,
                    title=title,
                )
            agents[pid] = agent.process
        parents = {pid: self._stats[pid].parent for pid in agents}
        commands = {pid: each.command for pid, each in self._agents.items()}
        found = self._without_wrappers(agents, parents, commands, now)
        if found != self.agents:
            self.agents = found

    def _title(self, agent: _Agent, now: float) -> State | None:
        """What the title says. One that says nothing after it has said a state is that of an agent that waits
        for a prompt; before, its settings may leave the title alone."""
        title = self._titles.of(agent.pane, now)
        says = look_of(agent.command.agent).titles.items()
        state = next((State(state) for begin, state in says if title.startswith(begin)), None)
        agent.has_title = agent.has_title or state is not None
        return State.YOUR_TURN if state is None and title and agent.has_title else state

    def _read_stats(self, now: float, reporting: Mapping[int, bool]) -> None:
        """List the processes if one may have begun, and every 10 s in any case. A list of 430 takes 0.7 ms.
        If it has a new process although /proc says that none has begun, /proc is not asked for that again."""
        stats, agents = self._stats, self._agents
        is_full = not 0 <= self._full_due - now <= _FULL_SECONDS
        if is_full:
            self._full_due = now + _FULL_SECONDS
        if not 0 <= self._reporting_due - now <= _REPORTING_SECONDS:
            self._reporting_due, reporting = now + _REPORTING_SECONDS, {}
        newest = self._proc.newest()
        is_same = newest == self._newest != b""
        if self._newest is not None:
            self._newest = newest
        due = {pid for pid, stat in stats.items() if stat.parent in agents}
        due |= self._young | (agents.keys() - reporting.keys())
        if is_same and not is_full:
            due |= {pid for pid in agents.keys() & reporting.keys() if not reporting[pid]}
        else:
            pids = self._proc.pids()
            for gone in stats.keys() - pids:
                self._forget(gone)
            due = (due & pids) | (pids - stats.keys())
            if is_full:
                due |= pids - reporting.keys()
        for pid in due:
            known, stat = stats.get(pid), self._proc.stat(pid)
            if stat is None:
                self._forget(pid)
                continue
            if known is None and is_same and self._proc.newest() == newest:
                self._newest = None
            is_new = known is None or known.began != stat.began
            if is_new:
                self._forget(pid)
            is_young = abs(now * 1000 - stat.began_ms) <= _YOUNG_MS  # it may have begun after `now` was read
            (self._young.add if is_young else self._young.discard)(pid)
            stats[pid] = stat
            if is_new or is_young or (known is not None and known.name != stat.name):
                self._identify(pid, stat)

    def _forget(self, pid: int) -> None:
        self._stats.pop(pid, None)
        self._young.discard(pid)
        self._agents.pop(pid, None)

    def _identify(self, pid: int, stat: Stat) -> None:
        """Once a process is an agent, only its folder may still change."""
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
        agent = self._agents[pid] = _Agent(stat, command, arguments, cwd)
        if stat.has_terminal and look_of(command.agent).titles:
            agent.pane = self._titles.pane_of(self.environment(pid))

    def _look_at_files(self, pid: int, agent: _Agent, now: float) -> None:
        """Look up the open files of an agent that keeps those of its sessions open, at most every 5 s."""
        is_of_session = agent.is_of_session
        if is_of_session is None or 0 <= agent.files_due - now <= _OPEN_FILES_SECONDS:
            return
        agent.files_due = now + _OPEN_FILES_SECONDS
        paths = self._proc.open_paths(pid)
        if paths is None:
            agent.opened_ms = None
            return
        agent.opened_ms = int(now * 1000)
        agent.open_paths = tuple(sorted({path for path in paths if is_of_session(path)})[:_MOST_PATHS])
        if not agent.open_paths and 0 <= now * 1000 - agent.began_ms < _BEGINNING_MS:
            agent.files_due = now

    def _refresh_from_table(self, table: ProcessTable, now: float) -> None:
        table.refresh(now, list(self.agents))
        listed = table.listed
        commands = {pid: found for pid, each in listed.items() if (found := command_of(each.arguments))}
        children = _children((each.parent, each.began_ms) for each in listed.values())
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
                has_one_prompt=bool(command.has_one_prompt),
            )
            for pid, command in commands.items()
        }
        parents = {pid: listed[pid].parent for pid in agents}
        self.agents = self._without_wrappers(agents, parents, commands, now)

    def _without_wrappers(
        self,
        agents: dict[int, Process],
        parents: Mapping[int, int],
        commands: Mapping[int, Command],
        now: float,
    ) -> dict[int, Process]:
        """Drop those that have only started another with the same arguments: the package of Codex is a
        script, and Gemini starts itself with more memory. A process that an agent has just forked has the
        command line of the agent until it runs its program."""
        found = self._wrappers & {(pid, each.began_ms) for pid, each in agents.items()}
        left_out = {pid for pid, _ in found}
        for pid, parent in parents.items():
            child, wrapper = agents[pid], agents.get(parent)
            if wrapper is None or wrapper.agent != child.agent:
                continue
            is_new = now * 1000 - (child.began_ms or 0) < _FORK_MS
            if is_new and child.arguments == wrapper.arguments:
                left_out.add(pid)
            elif commands[parent].is_script and commands[parent].rest == commands[pid].rest:
                left_out.add(parent)
                found.add((parent, wrapper.began_ms))
        self._wrappers = found
        return {pid: process for pid, process in agents.items() if pid not in left_out}


def _children(processes: Iterable[tuple[int, int]]) -> dict[int, tuple[int, int | None]]:
    """The number of children of each parent and the youngest's start. `processes` are (parent, start)."""
    found: dict[int, tuple[int, int | None]] = {}
    for parent, began_ms in processes:
        count, youngest = found.get(parent, (0, None))
        found[parent] = count + 1, max(youngest or began_ms, began_ms)
    return found


def _folder(cwd: str | None, command: Command) -> str | None:
    """Return the folder in the arguments, or else that of the process."""
    named = command.folder
    if named is None:
        return cwd
    return os.path.normpath(os.path.join(cwd, named)) if cwd else named if os.path.isabs(named) else None
