"""Which session belongs to which process.

The evidence, in this order: what the agent says; the files that a process has open; the session that its
arguments name; its folder, and when the session was written. The last is one rule for all agents, because
most of them keep no file open and hide their arguments:

- A process can have written a session in its folder only after it began. The time of a session is that of its
  last line: a file also changes when another process adds a title to it.
- A process has one session at a time. As many of the newest sessions of a folder run as processes that can
  have written them; the older ones were left, with `/clear`, `/new` or `/resume`. If there were several, this
  is a guess.
- A session belongs to a process that ran when the session began. If several did, its process is not known.
- What a process has written that has ended, no other process has written. If it is not known which session it
  had, all that it may have had are unknown until one is written.
"""

from __future__ import annotations

import os
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from heapq import nlargest
from operator import itemgetter
from pathlib import Path
from typing import NamedTuple

from agentwatch.agents.registry import SessionFolder, session_folders
from agentwatch.agents.session_entry import OWN, Key, Reach, SessionEntry
from agentwatch.agents.state_report import Life, State, StateReport
from agentwatch.catalog.local_session import NO_FILE, LocalSession
from agentwatch.catalog.processes import Processes, look_of, session_in, started_ms
from agentwatch.catalog.reports import Registries
from agentwatch.catalog.session_status import Process


class Candidates:
    def __init__(self) -> None:
        self._all: list[tuple[int, Key]] = []
        self._of: defaultdict[str | None, list[tuple[int, Key]]] = defaultdict(list)
        self._possible: dict[str | None, int] = {}
        """The time since which the sessions of a folder may belong to some process."""

    def add(self, folder: str | None, changed_ms: int, key: Key) -> None:
        """`folder` is None if it is not known."""
        self._all.append((changed_ms, key))
        self._of[folder].append((changed_ms, key))

    def sort(self) -> None:
        for some in (self._all, *self._of.values()):
            some.sort()

    def since(self, folder: str | None, since: int) -> list[Key]:
        """The sessions of a folder that have changed since, the newest last. None of them if the folder of a
        session that may be one of them is not known."""
        if folder is None or _after(self._of.get(None, []), since):
            return []
        return _after(self._of.get(folder, []), since)

    def may_be(self, folder: str | None, since: int) -> None:
        """Each session of the folder that has changed since may belong to a process."""
        self._possible[folder] = min(since, self._possible.get(folder, since))

    def possible(self) -> Iterator[Key]:
        for folder, since in self._possible.items():
            yield from _after(self._all if folder is None else self._of.get(folder, []), since)
            yield from _after(self._of.get(None, []), since)


def _after(sessions: list[tuple[int, Key]], since: int) -> list[Key]:
    return [key for _, key in sessions[bisect_left(sessions, since, key=itemgetter(0)) :]]


SessionJoin = tuple[Life, Process | None]
Span = tuple[int | None, int | None]
"""The times of the first and of the last line of a session; None if unknown."""
_DEAD: SessionJoin = (Life.DEAD, None)
_UNKNOWN: SessionJoin = (Life.UNKNOWN, None)
_EVER = -(1 << 62)
_BEFORE_ALL = 1 << 60
"""Subtracted from the times of sessions that no running process has written, to make them the earliest."""
_MOST_MATCHED = 16
"""More processes in one folder are not matched with their sessions."""
_TOLERANCE_MS = 100
"""The start of a process and the time of a file are exact to 10 ms."""
_LOADING_MS = 2000
"""A window may begin this long before its session is loaded, or after: it starts the daemon if none runs."""
_RESUMES = frozenset({"resume", "fork"})


class Earlier(NamedTuple):
    """The last join of the sessions."""

    joins: Mapping[Key, SessionJoin] = {}
    pids: AbstractSet[int] = frozenset()
    """The processes that were known then."""
    at_ms: int = 0
    doubts: Mapping[Key, int] = {}
    """When one of the processes ended of which nobody knew which had these sessions."""

    def pids_of(self, keys: Iterable[Key], members: Iterable[tuple[Process, int]]) -> dict[Key, int]:
        """The processes that some sessions had, if all of `members` that ran then were known. A process is
        known up to 2 s later than the file that it writes."""
        if any(each.pid not in self.pids and (each.began_ms or 0) <= self.at_ms for each, _ in members):
            return {}
        began = {each.pid: each.began for each, _ in members}
        found = {key: self.joins.get(key, _DEAD)[1] for key in keys}
        return {key: each.pid for key, each in found.items() if each and began.get(each.pid) == each.began}


def session_joins(
    founds: Iterable[SessionEntry],
    processes: Mapping[int, Process] | None,
    reported: Mapping[Key, StateReport],
    cwds: Mapping[Key, str],
    exact: Collection[str] = (),
    spans: Mapping[Key, Span] | None = None,
    before: Earlier | None = None,
    over: Mapping[Key, int] | None = None,
) -> dict[Key, SessionJoin]:
    """Return for each session whether its process runs, and which it is. One that has ended is `DEAD` with
    None, one that some process may belong to is `UNKNOWN`. The process of a session that runs is None if
    several may be it. `processes` is None if they are not known. The sessions of `reported` need not be found
    yet. The agents in `exact` report for each session whether it is open. `spans` are the times of the first
    and last line of sessions, `before` is the last join, and `over` says for a session whose process has
    ended when that was."""
    joins = _Joins(processes or {}, reported, spans or {}, before or Earlier(), over or {})
    left = [found for found in founds if not joins.by_evidence(found, cwds)]
    joins.add_said()
    joins.find_viewers()
    if processes is None:
        return {**joins.found, **{found.key: _UNKNOWN for found in left}}
    joins.by_folder([found for found in left if found.parent is None], cwds, exact)
    for found in left:
        if found.parent is not None:
            joins.found[found.key] = joins.found.get((found.agent, found.parent), _DEAD)
    return joins.found


class _Joins:
    def __init__(
        self,
        processes: Mapping[int, Process],
        reported: Mapping[Key, StateReport],
        spans: Mapping[Key, Span],
        before: Earlier,
        over: Mapping[Key, int],
    ) -> None:
        self._spans, self._before, self._over = spans, before, over
        self.found: dict[Key, SessionJoin] = {}
        self._written: dict[Key, int] = {}
        self._processes = processes
        self._unclear = {each.agent for each in processes.values() if each.is_shared or each.cwd is None}
        """The agents with a process that may have written in any folder."""
        self._reported = reported
        self._taken = {each.pid for each in reported.values() if each.life is Life.LIVE and each.agent != OWN}
        """The processes whose session is known. A recording leaves its agent to the agent's own session."""
        self._movable: dict[int, tuple[Key, int]] = {}
        """The session that a process names, which the user may have left, with its last write; by process."""
        self._served: list[tuple[int, str, Key, bool]] = []
        """The sessions of daemons: when each was loaded or written, its folder, its key, whether it has a
        file."""
        self._by_file: dict[str, Process] = {}
        self._by_argument: dict[Key, Process] = {}
        for process in processes.values():
            for path in process.open_paths:
                self._by_file[os.path.basename(path)] = process
            if not process.is_shared and (named := session_in(process.agent, process.arguments)):
                self._by_argument[process.agent, named] = process

    def by_evidence(self, found: SessionEntry, cwds: Mapping[Key, str]) -> bool:
        """Join it by a report about it, by an open file or by arguments; return whether it is joined."""
        key = found.key
        reported = self._reported.get(key)
        if reported is not None and (life := self._claimed(reported)) is not None:
            self._join(
                key,
                life,
                self._processes.get(reported.pid or 0),
                _cwd(found, cwds),
                self._written_ms(found),
                has_file=found.path != NO_FILE,
            )
            return True
        file = self._by_file and (self._by_file.get(found.path.name) or self._by_file.get(f"{found.id}.lock"))
        if file and file.agent == found.agent:
            self._taken.add(file.pid)
            self._join(key, Life.LIVE, file, _cwd(found, cwds), self._written_ms(found))
            return True
        named = self._by_argument and (
            self._by_argument.get(key) or self._by_argument.get((found.agent, os.fspath(found.path)))
        )
        if named and named.pid not in self._taken:
            self._movable[named.pid] = key, self._written_ms(found)
            self.found[key] = Life.LIVE, named
            return True
        return False

    def add_said(self) -> None:
        """Add the sessions that an agent reports, and of which no file is found yet."""
        for key, reported in self._reported.items():
            if key not in self.found and (life := self._claimed(reported)) is not None:
                process, began_ms = self._processes.get(reported.pid or 0), reported.began_ms or 0
                self._join(key, life, process, reported.cwd, began_ms, has_file=False)

    def by_folder(self, founds: list[SessionEntry], cwds: Mapping[Key, str], exact: Collection[str]) -> None:
        """Join each session that a process of its folder has probably; the others may run, or have ended."""
        left = [process for process in self._processes.values() if process.pid not in self._taken]
        daemons = {process.agent for process in self._processes.values() if process.is_shared}
        free = [
            (process, since)
            for process in left
            if (since := _since(process, process.agent in exact, process.agent in daemons)) is not None
        ]
        oldest: dict[str, int] = {}
        for process, since in free:
            least = _EVER if _continues(process) else since
            oldest[process.agent] = min(least, oldest.get(process.agent, least))
        candidates: defaultdict[str, Candidates] = defaultdict(Candidates)
        empty = {found.key for found in founds if found.reach is Reach.LISTED}
        for found in founds:
            self.found[found.key] = _DEAD
            first = oldest.get(found.agent)
            if first is None:
                continue
            written = self._written[found.key] = self._written_ms(found)
            if written <= self._over.get(found.key, _EVER):
                written -= _BEFORE_ALL
            if written < first:
                continue
            folder = _cwd(found, cwds)
            if folder is None and not found.size:
                self.found[found.key] = _UNKNOWN  # Qwen Code creates its file seconds before the first line
            else:
                candidates[found.agent].add(folder, written, found.key)
        for some in candidates.values():
            some.sort()
        groups: defaultdict[tuple[str, str | None], list[tuple[Process, int]]] = defaultdict(list)
        for process, since in free:
            some, folder = candidates[process.agent], None if process.is_shared else process.cwd
            named = self._movable.get(process.pid)
            if named is None:
                groups[process.agent, folder].append((process, since))
            elif some.since(folder, since) and self._is_alone(process):
                if newer := some.since(folder, max(since, named[1] + 1)):
                    self._take_newest(process, [named[0], *newer])
            else:
                some.may_be(folder, since)
        for (agent, folder), members in groups.items():
            self._by_rule(candidates[agent], folder, members, empty)
        for some in candidates.values():
            possible = (key for key in some.possible() if self.found[key][0] is Life.DEAD)
            self.found.update(dict.fromkeys(possible, _UNKNOWN))

    def _by_rule(
        self,
        some: Candidates,
        folder: str | None,
        members: list[tuple[Process, int]],
        empty: AbstractSet[Key],
    ) -> None:
        """Join the sessions of a folder to the processes in it that are known by nothing else. No agent
        continues one without a prompt, `empty`."""
        members.sort(key=itemgetter(1), reverse=True)
        oldest, since = members[-1]
        keys = some.since(folder, since)
        is_clear = oldest.agent not in self._unclear
        doubts = [key for key in keys if self._written[key] <= self._before.doubts.get(key, _EVER)]
        if is_clear and doubts[-1:] == keys[-1:] and len(doubts) > len(members):
            self.found.update(dict.fromkeys(keys, _UNKNOWN))
        elif len(keys) > 1 and len(members) == 1 and is_clear:
            self._take_newest(oldest, keys)
        elif len(keys) == 1 or (keys and is_clear):
            most = len(members)
            can_be = {process.pid: some.since(folder, since)[-most:] for process, since in members}
            self._share(members, can_be, keys)
        elif (
            _continues(oldest)
            and self._is_alone(oldest)
            and (before := [key for key in some.since(folder, _EVER) if key not in empty])
        ):
            self._take_newest(oldest, before[-1:])
        else:
            for process, since in members:
                own = some.since(folder, since)
                if len(own) == 1:
                    self.found[own[0]] = Life.LIVE, process
                else:
                    some.may_be(folder, since)

    def _share(
        self, members: list[tuple[Process, int]], can_be: dict[int, list[Key]], keys: list[Key]
    ) -> None:
        """Join the newest sessions to the processes, the youngest of which comes first, that can have written
        them."""
        running: set[Key] = set()
        for process, _ in members:
            newest = next((key for key in reversed(can_be[process.pid]) if key not in running), None)
            running.update(() if newest is None else (newest,))
        is_guess = len(keys) > 1
        agent = members[0][0].agent
        left = Process(members[-1][0].pid, 0, agent, is_guess=True)
        self.found.update(dict.fromkeys(keys, (Life.DEAD, left)))
        unknown = Process(0, 0, agent, children=1, is_guess=True) if is_guess else None
        self.found.update(dict.fromkeys(running, (Life.LIVE, unknown)))
        for key, process in self._matched(members, can_be, running).items():
            self.found[key] = Life.LIVE, process._replace(is_guess=is_guess)

    def _matched(
        self, members: list[tuple[Process, int]], can_be: dict[int, list[Key]], running: AbstractSet[Key]
    ) -> dict[Key, Process]:
        """The process of each session that only one can have: of those that ran when it began, or the one of
        before, or the only one that is left."""
        matched: dict[Key, Process] = {}
        free = {process.pid: (process, since) for process, since in members[:_MOST_MATCHED]}
        if len(members) > _MOST_MATCHED:
            return matched
        began = {key: each for key in running if (each := self._spans.get(key, (None, 0))[0]) is not None}
        before = self._before.pids_of(running, free.values())
        fits: tuple[Callable[[Key, int, int], bool], ...] = (
            lambda key, _pid, since: began.get(key, since) >= since,
            lambda key, pid, _since: before.get(key) == pid,
            lambda _key, _pid, _since: True,
        )
        for is_fit in (fits[0], fits[1], fits[0], fits[2]):
            is_new = True
            while is_new:
                is_new = False
                for key in sorted(running - matched.keys()):
                    able = [
                        pid
                        for pid, (_, since) in free.items()
                        if key in can_be[pid] and is_fit(key, pid, since)
                    ]
                    if len(able) == 1:
                        matched[key], is_new = free.pop(able[0])[0], True
        return matched

    def _is_alone(self, process: Process) -> bool:
        """Whether no other process of the agent may have written in the folder of a process."""
        return all(
            each is process or (not each.is_shared and each.cwd not in (None, process.cwd))
            for each in self._processes.values()
            if each.agent == process.agent
        )

    def _take_newest(self, process: Process, keys: list[Key]) -> None:
        """Join the newest to the process that has probably written all of them."""
        left = Process(process.pid, 0, process.agent, is_guess=True)
        self.found.update(dict.fromkeys(keys[:-1], (Life.DEAD, left)))
        self.found.update(dict.fromkeys(keys[-1:], (Life.LIVE, process._replace(is_guess=True))))

    def _claimed(self, reported: StateReport) -> Life | None:
        """Return None without a claim, or for another process. Without /proc only this compares starts."""
        process = self._processes.get(reported.pid or 0)
        if reported.life is Life.LIVE and process is not None and not process.began and reported.began:
            began_ms = started_ms(reported.began)
            if began_ms is not None and began_ms != process.began_ms:
                return None
        return reported.claim

    def _written_ms(self, found: SessionEntry) -> int:
        return changed_ms_of(found, self._reported.get(found.key), self._spans.get(found.key))

    def _join(
        self,
        key: Key,
        life: Life,
        process: Process | None,
        cwd: str | None,
        recent_ms: int,
        *,
        has_file: bool = True,
    ) -> None:
        self.found[key] = life, process
        if process is not None and not look_of(process.agent).daemon.isdisjoint(process.arguments):
            self._served.append((recent_ms, cwd or "", key, has_file))

    def find_viewers(self) -> None:
        """Note for each session of a daemon which window may show it. The daemon keeps a session loaded when
        its window is closed. A window shows one session: of several in its folder the one that was loaded or
        written last, unless it began later. If a session is left without a window that may show it, nobody
        knows which of them is shown."""
        windows = [each for each in self._processes.values() if not each.is_shared]
        shown: dict[Key, Process] = {}
        folders: dict[Key, str | None] = {}
        doubtful: set[int] = set()
        for recent_ms, cwd, key, has_file in sorted(self._served, reverse=True):
            may_show = [each for each in windows if _may_show(each, key, cwd, recent_ms, has_file=has_file)]
            free = [each for each in may_show if each not in shown.values()]
            if free:
                shown[key] = max(free, key=lambda each: (key[1] in each.arguments, each.began_ms or 0))
                folders[key] = free[0].cwd if len({each.cwd for each in free}) == 1 else None
            else:
                doubtful.update(each.pid for each in may_show)
        for _, _, key, _ in self._served:
            life, process = self.found[key]
            if process is not None:
                window = shown.get(key)
                is_guess = window is not None and window.pid in doubtful
                viewer = 0 if window is None else window.pid
                process = process._replace(viewer=viewer, cwd=folders.get(key), is_guess=is_guess)
            self.found[key] = life, process


def least_changes(processes: Iterable[Process]) -> dict[str, int]:
    """Return the earliest change of a session of each agent with which its folder joins a process."""
    least: dict[str, int] = {}
    for each in processes:
        since = _EVER if _continues(each) else (each.began_ms or 0) - _TOLERANCE_MS
        least[each.agent] = min(since, least.get(each.agent, since))
    return least


def _continues(process: Process) -> bool:
    """Whether it continues the newest session of its folder, which it may not have written."""
    return not look_of(process.agent).continues.isdisjoint(process.arguments)


def _may_show(window: Process, key: Key, cwd: str, recent_ms: int, *, has_file: bool) -> bool:
    """`recent_ms` is when the session was loaded or written last. A window resumes none without a prompt."""
    if window.agent != key[0]:
        return False
    if key[1] in window.arguments:
        return True
    is_there = not cwd or window.cwd in (None, cwd)
    began_ms = window.began_ms or 0
    resumes = has_file and not _RESUMES.isdisjoint(window.arguments)
    return is_there and (resumes or began_ms <= recent_ms + _LOADING_MS)


def processes_without_session(
    processes: Mapping[int, Process],
    reported: Mapping[Key, StateReport],
    lives: Mapping[Key, SessionJoin],
    cwds: Mapping[Key, str],
) -> dict[Key, StateReport]:
    """The processes in a terminal that have written nothing yet, by made-up keys. Pi writes the first line
    when its first prompt is answered, and a window of Codex has no session in its daemon before the first
    prompt."""
    taken = {pid for _, each in lives.values() if each is not None for pid in (each.pid, each.viewer)}
    taken |= {each.pid for each in reported.values()}
    doubtful = {
        (key[0], cwds.get(key))
        for key, (life, each) in lives.items()
        if life is not Life.DEAD and (each is None or not each.pid)
    }
    found = {}
    for pid, each in processes.items():
        if pid in taken or each.is_shared or each.cwd is None:
            continue
        if (
            each.has_terminal
            and not each.has_one_prompt
            and doubtful.isdisjoint(((each.agent, each.cwd), (each.agent, None)))
        ):
            key = each.agent, f"pid-{pid}"
            found[key] = StateReport(
                *key, Life.LIVE, pid, state=State.STARTING, cwd=each.cwd, began_ms=each.began_ms
            )
    return found


def _cwd(found: SessionEntry, cwds: Mapping[Key, str]) -> str | None:
    """The folder without a slash at its end; None if it is not known."""
    cwd = found.metadata.cwd or cwds.get(found.key)
    return (cwd.rstrip("/") or "/") if cwd else None


def changed_ms_of(found: SessionEntry, reported: StateReport | None, span: Span | None = None) -> int:
    """Return when a session was last written or loaded, or a hook in it has reported. A copy of an earlier
    session has only one line of its own, the first."""
    changed = found.metadata.changed_ms
    times_ms = (0, 0) if reported is None else (reported.since_ms or 0, reported.began_ms or 0)
    changed = found.changed_ns // 10**6 if changed is None else changed
    if span is not None and span[1] is not None:
        changed = min(changed, max(span[1], span[0] or 0))
    return max(changed, *times_ms)


def _since(process: Process, is_exact: bool, has_daemon: bool) -> int | None:
    """Return the time since which a session of a process must have changed; None if none without other
    evidence may belong to it. `is_exact`: its agent says of each session whether it is open. `has_daemon`:
    another process of the agent serves several sessions."""
    since = (process.began_ms or 0) - _TOLERANCE_MS
    if is_exact and (process.is_shared or process.cwd is None or has_daemon):
        return None
    if process.opened_ms is None:
        return since
    if look_of(process.agent).opens_each:
        return max(since, process.opened_ms - _TOLERANCE_MS)
    return since if process.open_paths else None


RECENT_MS = 7 * 24 * 3_600_000
"""A session without a line for longer than this runs only if its agent says so."""
_PRUNE_MS = 60_000
_READINGS = 2
_MOST_EXPECTED = 200
"""The most files that are checked as often as those of sessions that run: 2 µs each."""


class Joins:
    """The sessions that may run, and their processes. Joining 1,000 sessions to 300 processes takes 5 ms;
    that only their children and CPU time have changed, as mostly, is noted without joining again."""

    def __init__(
        self, processes: Processes, registries: Registries, folders: Iterable[SessionFolder] = ()
    ) -> None:
        self._folders = [(each.agent, Path(each.path)) for each in folders]
        self.is_due = True
        self._processes = processes
        self._registries = registries
        self._sessions: dict[Key, LocalSession] = {}
        self._subagents: set[Key] = set()
        """The subagents, whose locks name no session of their own."""
        self._identities: dict[int, tuple[object, ...]] = {}
        self._least: dict[str, int] = {}
        """When a session must have changed to belong to a process of each agent, by its folder."""
        self.starting: Mapping[Key, StateReport] = {}
        """The processes without a session, which have a row each."""
        self._bereft: dict[int, int] = {}
        """The readings in which a process whose session has vanished is not listed as starting: Gemini
        deletes the file of a refused turn when it ends."""
        self._pruned_ms = 0
        self._earlier = Earlier()
        self._over: dict[Key, int] = {}
        """When the last process of each session was seen to have ended."""
        self._doubts: dict[Key, int] = {}
        self._near: AbstractSet[tuple[str, str | None]] = frozenset()
        """The folders of the processes, each with the agent."""
        self._here: dict[int, Process] = {}
        """The processes that keep their sessions in this home, by their id."""
        self._is_here: dict[tuple[int, int], bool] = {}
        self.expected: AbstractSet[Key] = frozenset()
        """The sessions that do not run, and that a process in their folder may continue at any time."""

    @property
    def processes(self) -> Mapping[int, Process] | None:
        """Return the processes by their id; None if they are not known."""
        return self._here if self._processes.is_known else None

    def add(self, key: Key, session: LocalSession, now_ms: int) -> None:
        """A session that cannot run has ended. A subagent has the process of its session."""
        if session.found.parent is not None:
            self._subagents.add(key)
            return
        if self._may_run(session, now_ms):
            self.is_due = self.is_due or key not in self._sessions or self._is_back(session)
            self._sessions[key] = session
        elif key not in self._sessions:
            session.join(Life.DEAD, None)

    def _is_back(self, session: LocalSession) -> bool:
        """Whether it has ended, or nobody knows, and a process in its folder may have written it since."""
        if session.life is Life.LIVE or not session.is_joined or not self.depends_on_folder(session):
            return False
        folder = _cwd(session.found, {session.found.key: session.cwd})
        return folder is None or (session.found.agent, folder) in self._near

    def forget(self, key: Key) -> None:
        session = self._sessions.pop(key, None)
        self.is_due = self.is_due or session is not None
        if session is not None and session.process is not None:
            self._bereft[session.process.pid] = _READINGS
        for times in (self._over, self._doubts):
            times.pop(key, None)
        self._subagents.discard(key)

    def read_processes(self, now_ms: int, live: Iterable[Key]) -> bool:
        """Return whether one has changed. The sessions are due again if what they are joined by has. `live`
        are those that run."""
        reporting = {
            pid: session.reported is not None and session.reported.life is Life.LIVE
            for session in filter(None, map(self._sessions.get, live))
            if (pid := session.reporting_pid)
        }
        before = self._processes.agents
        self._processes.refresh(now_ms / 1000, reporting)
        bereft, self._bereft = self._bereft, {pid: left - 1 for pid, left in self._bereft.items() if left > 1}
        self.is_due = self.is_due or len(bereft) > len(self._bereft)
        if self._processes.agents is before:
            return False
        agents = self._here = self._in_this_home(self._processes.agents)
        identities: dict[int, tuple[object, ...]] = {
            pid: (each.began, each.cwd, each.arguments, each.open_paths, each.opened_ms)
            for pid, each in agents.items()
        }
        if identities != self._identities:
            self.is_due, self._identities, self._least = True, identities, least_changes(agents.values())
        return True

    def _in_this_home(self, agents: Mapping[int, Process]) -> dict[int, Process]:
        """A process with another home keeps its sessions where they are neither listed nor joined."""
        known = self._is_here
        self._is_here = {}
        for pid, each in agents.items():
            key = pid, each.began
            self._is_here[key] = known[key] if key in known else self._keeps_here(each)
        return {pid: each for pid, each in agents.items() if self._is_here[pid, each.began]}

    def _keeps_here(self, process: Process) -> bool:
        """Whether it does, as far as its environment shows it."""
        here = {os.path.realpath(path) for agent, path in self._folders if agent == process.agent}
        environ = self._processes.environment(process.pid)
        home = environ.get("HOME", "")
        if not here or not os.path.isabs(home):
            return True
        folders = session_folders(environ, Path(home))
        return any(each.path in here for each in folders if each.agent == process.agent)

    def continues(self, agent: str) -> bool:
        """Whether a process continues the newest session of its folder, whichever that is."""
        return self._least.get(agent) == _EVER

    def depends_on_folder(self, session: LocalSession) -> bool:
        """Whether a process may be joined by the session's folder."""
        if session.life is not Life.DEAD:
            return True
        least = self._least.get(session.found.agent)
        return least is not None and changed_ms_of(session.found, session.reported) >= least

    def changed(self, live: Iterable[Key]) -> dict[Key, SessionJoin]:
        """The sessions of which only the process has changed: its children, or its CPU time."""
        agents = self._processes.agents
        found: dict[Key, SessionJoin] = {}
        for key in live:
            session = self._sessions.get(key)
            process = None if session is None else session.process
            if session is None or process is None or (now := agents.get(process.pid)) is None:
                continue
            if now != process:
                now = now._replace(viewer=process.viewer, cwd=process.cwd, is_guess=process.is_guess)
                if now != process:
                    found[key] = (session.life, now)
        return found

    def join_all(self, now_ms: int) -> Mapping[Key, SessionJoin]:
        self.is_due = False
        if not 0 <= now_ms - self._pruned_ms < _PRUNE_MS:
            self._pruned_ms = now_ms
            over = {key: each for key, each in self._sessions.items() if not self._may_run(each, now_ms)}
            for key, each in over.items():
                del self._sessions[key]
                if not each.is_joined:
                    each.join(Life.DEAD, None)
        founds = [each.found for each in self._sessions.values()]
        cwds = {key: each.cwd for key, each in self._sessions.items()}
        processes = self.processes
        reported = {
            key: each for key, each in self._registries.reported.items() if key not in self._subagents
        }
        spans = {key: each.span for key, each in self._sessions.items()}
        self._note_ended(now_ms)
        lives = session_joins(
            founds, processes, reported, cwds, self._registries.exact, spans, self._earlier, self._over
        )
        self._earlier = Earlier(lives, (processes or {}).keys(), now_ms, self._doubts)
        self._expect(cwds)
        starting = processes_without_session(processes or {}, reported, lives, cwds)
        self.starting = {
            key: each
            for key, each in starting.items()
            if each.pid not in self._bereft and self._is_used(each.agent)
        }
        agents = self._here
        return lives | {key: (Life.LIVE, agents[each.pid or 0]) for key, each in self.starting.items()}

    def _note_ended(self, now_ms: int) -> None:
        """Note the sessions whose process has ended. What it has written, it may have written until now."""
        processes = self.processes
        if processes is None:
            return
        has_ended = not self._earlier.pids <= processes.keys()
        for key, (life, process) in self._earlier.joins.items():
            if life is not Life.LIVE or process is None or key not in self._sessions:
                continue
            now = processes.get(process.pid)
            if process.pid and (
                now is None or (now.began, now.began_ms) != (process.began, process.began_ms)
            ):
                self._over[key] = now_ms
            elif not process.pid and has_ended:
                self._doubts[key] = now_ms

    def _expect(self, cwds: Mapping[Key, str]) -> None:
        """Find the sessions whose files show first that a process continues them."""
        self._near = {(each.agent, each.cwd) for each in (self.processes or {}).values()}
        near = [
            key
            for key, each in self._sessions.items()
            if self._earlier.joins.get(key, _DEAD)[0] is not Life.LIVE
            and (key[0], _cwd(each.found, cwds)) in self._near
        ]
        self.expected = set(nlargest(_MOST_EXPECTED, near, key=lambda key: self._sessions[key].seen_ms))

    def _is_used(self, agent: str) -> bool:
        """Return whether an agent keeps sessions in this home, or will."""
        folders = (folder for name, folder in self._folders if name == agent)
        return any(folder.is_dir() or folder.parent.is_dir() for folder in folders)

    def _may_run(self, session: LocalSession, now_ms: int) -> bool:
        return now_ms - session.seen_ms < RECENT_MS or session.reported is not None or session.is_live
