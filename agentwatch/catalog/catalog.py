"""Watches all sessions of this machine: finds them, reads their ends, judges their states, keeps their rows.

One thread calls `step` again and again; it does what is due, for about 20 ms. Nothing wakes it: what the file
system notes about watched folders is read when it is due, and all else is polled.
"""

from __future__ import annotations

import os
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from pathlib import Path
from typing import TYPE_CHECKING

from agentwatch.agents.plugins import PROGRAMS
from agentwatch.agents.registry import session_folders
from agentwatch.agents.session_entry import OWN, Key, Reach, SessionEntry
from agentwatch.agents.state_report import Life, State, StateReport
from agentwatch.catalog.joining import RECENT_MS, Joins, SessionJoin
from agentwatch.catalog.local_session import (
    LATER_MS,
    NO_FILE,
    LocalSession,
    RowTable,
    descendants,
    without_file,
)
from agentwatch.catalog.places import Changes, Places, notes_of
from agentwatch.catalog.processes import Processes
from agentwatch.catalog.reports import Registries
from agentwatch.catalog.row import Row
from agentwatch.catalog.states import knowledge_of
from agentwatch.recording.acts import acts_names
from agentwatch.sources.proc import Proc
from agentwatch.text.safe import SafeText, safe_line

if TYPE_CHECKING:
    from agentwatch.catalog.digest.kept import Identity, KeptDigests
    from agentwatch.catalog.evidence import Facts

_SECONDS = {
    "in view": 0.5,
    "registries": 2.0,
    "places": 2.0,
    "live": 2.0,
    "expected": 1.0,
    "recent": 5.0,
    "processes": 2.0,
    "clocks": 2.0,
    "silences": 10.0,
    "branches": 5.0,
    "acts": 2.0,
    "folders": 0.2,
    "digests": 5.0,
}
"""Seconds between two readings: folders of 5,000 sessions take 20 ms, 140 processes 3 ms, 300 files 0.7 ms"""


class Schedule:
    """The parts that are due, by a clock that is never set back, in seconds. Every part is due at first, and
    for the second time at a multiple of its period: so parts are due together, and most steps do nothing."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._now = self._began = clock()
        self._due: dict[str, float] = {}

    def begin_step(self) -> None:
        """Take the time of the step: parts that are due together share what they read."""
        self._now = self._clock()

    def is_due(self, part: str) -> bool:
        due, seconds = self._due.get(part), _SECONDS[part]
        if due is not None and self._now < due:
            return False
        self._due[part] = self._now + seconds - ((self._now - self._began) % seconds if due is None else 0)
        return True

    def hurry(self, part: str) -> None:
        self._due.pop(part, None)


_STEP_SECONDS = 0.02
_FIRST_SECONDS = 0.015
"""The first step is short, so that the newest sessions are shown at once."""
_HOUR_MS = 3_600_000
_WAIT_SECONDS = 30.0
"""If a session is out of view, and its agent says that it works, its new lines are read within this time."""
_MOST_LOOKS = 4
"""The most times that the machine is read again until it is known whether an agent asks."""


class Machine:
    """The sessions of this machine. `clock` is in seconds, from any start. `proc` is None for /proc.
    `registries` may have been read. If `is_brief`, only sessions that run, or may run, have rows. Nothing is
    read before the first step."""

    def __init__(
        self,
        environ: Mapping[str, str],
        home: Path,
        *,
        clock: Callable[[], float] = time.monotonic,
        proc: Proc | None = None,
        registries: Registries | None = None,
        is_brief: bool = False,
    ) -> None:
        self._is_brief = is_brief
        self.is_found = self.wants_all = self.is_still = False
        self.agents: AbstractSet[str] = frozenset()
        """The agents whose sessions alone are read, besides our own recordings; empty for all."""
        self.since_ms: int | None = None
        """The sessions whose file has not changed since are read only if they run."""
        self.in_view: AbstractSet[Key] | None = None
        """The sessions that are read twice a second, the others every 2 s. None for all that run."""
        self.problem = SafeText("")  # it is always known what runs here
        self._clock = clock
        self._environ, self._home = environ, home
        self._places = Places(environ, home, os.geteuid())
        self._batches: Iterator[list[SessionEntry]] | None = None
        self._proc = proc or Proc()
        self._registries = registries or Registries(environ, home, proc=self._proc)
        self._reported: Mapping[Key, StateReport] = {}
        # in another home, the processes of this one have no sessions
        folders = session_folders(environ, home) if home == Path.home() else []
        self._joins = Joins(Processes(proc=self._proc), self._registries, folders)
        self._schedule = Schedule(clock)
        self._sessions: dict[Key, LocalSession] = {}
        self._subagents: defaultdict[Key, set[Key]] = defaultdict(set)
        self._recent: set[Key] = set()
        self._unread: dict[Key, None] = {}
        """The sessions that are still to be read, in the order in which they were found."""
        self._waiting: dict[Key, tuple[float, SessionEntry]] = {}
        """Changed sessions whose lines may wait, and the latest time at which they are read."""
        self._viewed: AbstractSet[Key] | None = None
        """The sessions in view at the last step."""
        self._behind: set[Key] = set()
        """The sessions that have changed, and whose stores may be read again only later."""
        self._unwanted: dict[Key, None] = {}
        """The sessions whose lines are not read because they are hidden."""
        self._problems: dict[Key, OSError] = {}
        self._table = RowTable(self._sessions, self._subagents)
        self._kept: KeptDigests | None = None
        """The digests of an earlier list; None before the first."""
        self._must_read: set[Key] = set()
        """The sessions that may run, so that what was kept of their end is not used."""
        self._has_kept = False
        """Whether a session that has begun to run, or was read, may have its end from them."""
        self._fresh: dict[Key, Identity] = {}
        """The sessions that were read and are not kept yet, with what their digests depend on."""
        self._has_folders = False
        """Whether folders have become known by which sessions may be joined."""
        self._is_settling = False
        """Whether only the last rows count: nothing is judged before everything is read."""
        self._unjudged: set[Key] = set()
        self._acts: AbstractSet[str] = frozenset()
        """The files of acts that existed at the last look."""
        self._live: set[Key] = set()
        self._starting: AbstractSet[Key] = set()

    @property
    def rows(self) -> Mapping[Key, Row]:
        return self._table.rows

    def doubtful(self, now_ms: int) -> set[Key]:
        """The sessions that may ask: a second look shows whether their agents are busy."""
        return {key for key in self._live if self._sessions[key].is_doubtful(now_ms)}

    def settle_processes(self, now_ms: Callable[[], int], seconds: float) -> None:
        """Work until every row is complete and the processes are known, the latter for at most `seconds`."""
        until = self._clock() + seconds
        self.settle(now_ms())
        is_known = self._proc.exists()
        while not is_known and self._clock() < until:
            time.sleep(_STEP_SECONDS)
            is_known = self._joins.processes is not None
            self._schedule.hurry("processes")
            self.settle(now_ms())

    def session_at(self, path: Path) -> LocalSession | None:
        """The session of a file, also by another name of it, or of a path in a store; its lines are read."""
        try:
            inode = os.stat(path).st_ino
        except (OSError, ValueError):
            inode = 0
        for session in self._sessions.values():
            found = session.found
            is_it = inode and found.inode == inode and os.path.realpath(found.path) == os.path.realpath(path)
            if is_it or found.path == path:
                return self.session(found.key)
        return None

    def session(self, key: Key) -> LocalSession | None:
        """The session of a key, whose lines are read; None if it is not here."""
        session = self._sessions.get(key)
        if session is not None and not session.is_read:
            session.read(is_brief=True)
        return session

    def recorded(self, key: Key) -> Key | None:
        """The session that a recording of our own is of; None for any other session."""
        return self._table.twins.session_of(key)

    def holders(self, key: Key) -> list[LocalSession]:
        """The session and our recordings of it whose process runs, or may run. A process that is joined to
        another session by a guess alone may have this one open."""
        keys = (key, *self._table.twins.recordings_of(key))
        found = (self._sessions[each] for each in keys if each in self._sessions)
        return [
            each for each in found if each.life is not Life.DEAD or (each.process and each.process.is_guess)
        ]

    def want(self, key: Key) -> None:
        """Read the lines in the next steps, although the session is hidden."""
        self._unwanted.pop(key, None)
        self._unread[key] = None

    def facts(self, key: Key) -> Facts | None:
        """What is known about a session, from any thread; None for one that does not exist."""
        from agentwatch.catalog.evidence import facts_of  # imports what reads a session

        session = self._sessions.get(key)
        if session is None:
            return None
        subagent = self._table.later_subagent(key, session)
        return facts_of(session, subagent, self._joins.processes, self._environ, self._home)

    @property
    def problems(self) -> list[OSError]:
        """Why files of agents cannot be read; a file may occur several times."""
        return [
            *self._places.problems.values(),
            *self._registries.problems.values(),
            *self._problems.values(),
        ]

    @property
    def notes(self) -> tuple[SafeText, ...]:
        """A line for each plugin that failed and each file that cannot be read."""
        files = notes_of(problems) if (problems := self.problems) else ()
        return (*map(safe_line, PROGRAMS.problems), *files)

    def step(self, now_ms: int) -> bool:
        """Do the work that is due, for about 20 ms. Return whether more work is due at once."""
        self._proc.read_once()
        self._schedule.begin_step()
        until = self._clock() + (_STEP_SECONDS if self._sessions else _FIRST_SECONDS)
        if (in_view := self.in_view) != self._viewed:
            self._viewed = in_view
            self._schedule.hurry("in view")
        viewed = self._live if self.in_view is None else self._live & self.in_view
        is_due = (bool(viewed) or self.in_view is None) and self._schedule.is_due("in view")
        if self._schedule.is_due("registries"):
            self._ask_agents(now_ms)
        elif is_due:
            self._ask_agents(now_ms, viewed)
        if not self.is_found:
            self._find(now_ms, until)
        else:
            self._find_changes(now_ms, viewed if is_due else frozenset())
        if self._is_settling and not self.is_found:
            return True
        if self._is_settling and self._joins.is_due:
            self._join(now_ms)  # a session that runs may have old lines
        self._read(now_ms, until)
        if self._is_settling and self._unread:
            return True
        self._join(now_ms)
        if not self._unread:
            self._drop_kept(now_ms)
        self._unjudged |= self._table.archive.refresh() & self._sessions.keys()
        if self._schedule.is_due("acts"):
            shown = (self._live | self._recent | (self.in_view or frozenset())) & self._sessions.keys()
            acts = acts_names()
            if not acts and not self._acts:  # the usual case; recordings have theirs in another folder
                shown = {key for key in shown if key[0] == OWN}
            self._acts = acts
            self._unjudged.update(key for key in shown if self._sessions[key].read_acts(acts))
        if self._is_settling and self._unread:
            return True
        self._judge(now_ms)
        if self.is_found and not self._unread and self._schedule.is_due("digests"):
            self._keep()
        in_view = self.in_view
        self.is_still = in_view is not None and not (self._live & in_view or self._table.steady)
        return not self.is_found or bool(self._unread)

    def close(self) -> None:
        """Stop to watch; no file is open."""

    def settle(self, now_ms: int, seconds: float | None = None) -> bool:
        """Work until every row that is wanted is complete, for at most `seconds`."""
        until = None if seconds is None else self._clock() + seconds
        self._is_settling = seconds is None
        while self.step(now_ms):
            if until is not None and self._clock() >= until:
                return False
        self._is_settling = False
        self._joins.is_due = True  # the folders of sessions are known only now
        self._join(now_ms)
        self._judge(now_ms)
        while self._unjudged:  # sessions whose subagents have another state now
            self._judge(now_ms)
        return True

    def settle_surely(self, now_ms: Callable[[], int], wait: Callable[[float], object] = time.sleep) -> None:
        """Work until every row is complete, and look again at a question that is inferred. Whether an agent
        is busy, and so does not ask, is known only by two looks: 0.5 s if it does nothing, and up to 2 s if
        it does, or if its store is read again only then."""
        self.settle(now_ms())
        for _ in range(_MOST_LOOKS):
            if not self._proc.exists() or not self.doubtful(now_ms()):
                return
            wait(_SECONDS["in view"] + _STEP_SECONDS)
            self._schedule.hurry("processes")
            self.settle(now_ms())

    def _ask_agents(self, now_ms: int, keys: AbstractSet[Key] | None = None) -> None:
        """Take what agents say about their sessions. `keys` is None for all."""
        self._registries.refresh(now_ms / 1000, keys)
        before, reported = self._reported, self._registries.reported
        if reported is before:
            return
        self._reported = reported
        for key in [key for key in before.keys() | reported.keys() if before.get(key) != reported.get(key)]:
            session, now = self._sessions.get(key), reported.get(key)
            if session is None:
                if now is not None and now.claim is not None:
                    self._take([without_file(key, now)], now_ms)
                continue
            session.reported = now
            if self.is_found:  # its lines belong to the report: they say whether the turn has failed
                self._change(self._places.check((key,)), now_ms)
            self._take_waiting((key,), now_ms)
            self._joins.add(key, session, now_ms)
            self._note(key)
            if session.found.path == NO_FILE and (now is None or now.life is Life.DEAD):
                self._forget(key)
        self._joins.is_due = True

    def _find(self, now_ms: int, until: float) -> None:
        """Search the places for the first time, the newest folders first."""
        if self._batches is None:
            self._batches = self._places.first(stays_open=not self._is_settling)
        for batch in self._batches:
            self._take(batch, now_ms)
            if self._clock() >= until:
                return
        self.is_found = True
        newest = sorted(self._unread, key=lambda key: -self._sessions[key].seen_ms)
        self._unread = dict.fromkeys(newest)

    def _find_changes(self, now_ms: int, viewed: AbstractSet[Key]) -> None:
        """Find what has changed on disk. `viewed` are the sessions in view that run, if they are due."""
        if self._schedule.is_due("places"):
            self._change(self._places.refresh(self._clock()), now_ms)
        is_due = self._schedule.is_due("live")
        if live := self._live if is_due else viewed:
            self._change(self._places.check(live), now_ms)
        if self._waiting:
            seconds, keys = self._clock(), self._waiting.keys()
            due = keys & (keys if self.in_view is None else self.in_view)
            if is_due:
                due |= {key for key, (at, _) in self._waiting.items() if seconds >= at}
            self._take_waiting(due, now_ms)
        if self._schedule.is_due("expected"):
            self._change(self._places.check(self._joins.expected), now_ms)
        if self._schedule.is_due("recent"):
            sessions = self._sessions
            self._recent = {key for key in self._recent if now_ms - sessions[key].seen_ms < _HOUR_MS}
            self._change(self._places.check(self._recent - self._live), now_ms)

    def _change(self, changes: Changes, now_ms: int) -> None:
        found, until = [], self._clock() + _WAIT_SECONDS
        until_ms = now_ms + round(_WAIT_SECONDS * 1000)
        for each in changes.found:
            at, _ = self._waiting.pop(each.key, (until, each))
            if self._may_wait(each, until_ms):
                self._waiting[each.key] = at, each
            else:
                found.append(each)
        self._take(found, now_ms)
        for key in changes.vanished:
            self._waiting.pop(key, None)
            session = self._sessions.get(key)
            if session is not None and (session.reported is None or session.reported.life is Life.DEAD):
                self._forget(key)

    def _may_wait(self, found: SessionEntry, until_ms: int) -> bool:
        """Whether the new lines of a session may be read later: nothing of them is drawn, and its agent alone
        says its state, which neither they nor time change by then."""
        session = self._sessions.get(found.key)
        if session is None or self.in_view is None or found.key in self.in_view or not session.is_read:
            return False
        is_told = session.reporting_pid != 0 and session.status.state is State.WORKING
        is_same = session.found.inode == found.inode and session.found.path == found.path
        is_exact = knowledge_of(found.agent).is_exact
        return is_told and is_same and is_exact and found.parent is None and session.is_timeless(until_ms)

    def _take_waiting(self, keys: Iterable[Key], now_ms: int) -> None:
        self._take([self._waiting.pop(key)[1] for key in keys if key in self._waiting], now_ms)

    def _forget(self, key: Key) -> None:
        found = self._sessions.pop(key).found
        if found.parent is not None:
            self._subagents[found.agent, found.parent].discard(key)
        for keys in (self._unread, self._unwanted, self._problems, self._waiting):
            keys.pop(key, None)
        for keys_of in (self._live, self._recent, self._behind, self._must_read):
            keys_of.discard(key)
        self._joins.forget(key)
        self._table.twins.forget(key)
        self._note(key)

    def _take(self, found: Iterable[SessionEntry], now_ms: int) -> None:
        is_recording_new = False
        for each in found:
            key = each.key
            session = self._sessions.get(key)
            if session is None:
                is_recording_new = is_recording_new or each.agent == OWN
                session = self._sessions[key] = LocalSession(each)
                session.reported = self._registries.reported.get(key)
                if each.parent is not None:
                    self._subagents[each.agent, each.parent].add(key)
                    if (parent := self._sessions.get((each.agent, each.parent))) is not None:
                        session.join(parent.life, parent.process)
                for below in self._subagents.get(key, ()):
                    self._sessions[below].join(session.life, session.process)
            elif session.found.inode != each.inode or session.found.path != each.path:
                session.tail = session.kept = None
            session.found = each
            session.is_read = False
            self._joins.add(key, session, now_ms)
            if now_ms - session.seen_ms < _HOUR_MS:
                self._recent.add(key)
            if not self._is_brief:
                self._note(key)
            self._want(now_ms, descendants(self._subagents, key))
        if is_recording_new and self.is_found:
            self._ask_agents(now_ms, frozenset())  # otherwise it has ended until its lock is seen

    def _read(self, now_ms: int, until: float) -> None:
        if self.wants_all and self._unwanted and self.since_ms is None and not self.agents:
            newest = sorted(self._unwanted, key=lambda key: -self._sessions[key].seen_ms)
            self._want(now_ms, newest)
        if self._unwanted and (viewed := self._unwanted.keys() & (self.in_view or ())):
            self._want(now_ms, viewed)
        self._unread |= dict.fromkeys(key for key in self._behind if self._sessions[key].is_due)
        while self._unread:
            key = next(iter(self._unread))
            del self._unread[key]
            session = self._sessions[key]
            before = session.cwd
            self._read_lines(session, now_ms)
            (self._behind.add if session.is_behind else self._behind.discard)(key)
            if (problem := session.problem) is None:
                self._problems.pop(key, None)
            else:
                self._problems[key] = problem
            self._joins.add(key, session, now_ms)
            if session.cwd != before and self._joins.depends_on_folder(session):
                self._has_folders = True
            self._note(key)
            if (twin := self._table.twins.session_of(key)) in self._unwanted:
                self._want(now_ms, (twin,))
            if self._clock() >= until:
                return

    def _read_lines(self, session: LocalSession, now_ms: int) -> None:
        found = session.found
        is_brief = not session.is_live and now_ms - session.seen_ms >= RECENT_MS
        identity = self._identity(found, is_brief=is_brief)
        is_usable = (
            session.tail is None and session.life is not Life.LIVE and found.key not in self._must_read
        )
        if identity is not None and self._kept is not None and is_usable:
            session.kept = self._kept.of(identity)
            if session.kept is not None:
                session.is_read = self._has_kept = True
                return
        session.read(is_brief=is_brief)
        if identity is not None:
            self._fresh[found.key] = identity

    def _drop_kept(self, now_ms: int) -> None:
        """Let the sessions be read that may run still when the kept folders of all are known."""
        if not self._has_kept:
            return
        self._has_kept = False
        for key in self._live:
            session = self._sessions[key]
            if session.kept is not None:
                session.kept, session.is_read = None, False
                self._must_read.add(key)
                self._want(now_ms, (key,))

    def _identity(self, found: SessionEntry, *, is_brief: bool) -> Identity | None:
        """Return what the digest of a session depends on; None if it is not kept."""
        if self._is_brief or found.reach is Reach.LISTED:
            return None
        from agentwatch.catalog.digest.kept import KeptDigests, identity_of  # imports what a digest has

        self._kept = self._kept or KeptDigests(self._environ)
        below = self._subagents.get(found.key, ()) if knowledge_of(found.agent).joins_subagents else ()
        return identity_of(found, [self._sessions[each].found for each in below], is_brief=is_brief)

    def _keep(self) -> None:
        if self._kept is None or not (self._fresh or self._kept.is_open):
            return
        for key, identity in list(self._fresh.items()):
            session = self._sessions.get(key)
            if session is None or session.life is Life.DEAD:
                del self._fresh[key]
            if session is not None and (digest := session.final) is not None:
                self._kept.add(identity, digest)
        self._kept.write(
            lambda: {os.fspath(each.found.path): each.found.changed_ns for each in self._sessions.values()}
        )

    def _want(self, now_ms: int, keys: Iterable[Key]) -> None:
        """Note that the lines of sessions are to be read, if they are wanted and were not read yet."""
        for key in list(keys):
            session = self._sessions[key]
            if session.is_read:
                continue
            is_wanted = self._is_wanted(session, now_ms)
            (self._unread if is_wanted else self._unwanted)[key] = None
            (self._unwanted if is_wanted else self._unread).pop(key, None)

    def _is_wanted(self, session: LocalSession, now_ms: int) -> bool:
        found = session.found
        if found.parent is not None:
            if (found.agent, found.parent) in self._live:
                return True
            above = self._above(session)
            if self._is_brief or not above or knowledge_of(found.agent).joins_subagents:
                return False
            session = above[-1]  # its row counts what its subagents did
        if self.agents and found.agent not in self.agents and found.agent != OWN:
            return False
        if self._is_brief or not self._is_in_time(session):
            return session.is_live
        if self.wants_all or session.is_live or found.key in (self.in_view or ()):
            return True
        return now_ms - session.seen_ms < RECENT_MS

    def _above(self, session: LocalSession) -> list[LocalSession]:
        """The session whose subagent a session is, and those above it."""
        found: list[LocalSession] = []
        while (parent := session.found.parent) is not None:
            above = self._sessions.get((session.found.agent, parent))
            if above is None or above in found:
                break
            found.append(above)
            session = above
        return found

    def _is_in_time(self, session: LocalSession) -> bool:
        """Whether a session may have a line since the limit, or its lines may decide about others. No line is
        newer than the last change of its file, apart from another clock. A recording of our own shows the
        title of its session, and a process that continues the newest one needs all folders."""
        found = session.found
        if self.since_ms is None or self._table.twins.recordings_of(found.key):
            return True
        changed_ms = max(found.changed_ns // 10**6, found.metadata.changed_ms or 0)
        return changed_ms >= self.since_ms - LATER_MS or self._joins.continues(found.agent)

    def _join(self, now_ms: int) -> None:
        """Find the processes of sessions. Folders that become known in lines wait for each other."""
        if self._schedule.is_due("processes"):
            have_changed = self._joins.read_processes(now_ms, self._live)
            if self.since_ms is not None:
                self._want(now_ms, self._unwanted)
            if have_changed and not self._joins.is_due:
                self._take_lives(self._joins.changed(self._live), now_ms)
        if self._has_folders and (not self._unread or self._schedule.is_due("folders")):
            self._joins.is_due = True
        if self._joins.is_due:
            self._has_folders = False
            lives = self._joins.join_all(now_ms)
            self._take_starting(self._joins.starting)
            gone = dict.fromkeys(self._live - lives.keys(), (Life.DEAD, None))
            self._take_lives({**gone, **lives}, now_ms)

    def _take_starting(self, starting: Mapping[Key, StateReport]) -> None:
        """Note the processes without a session: new ones, and those that have one now or have ended."""
        for key in self._starting - starting.keys():
            self._forget(key)
        for key in starting.keys() - self._starting:
            session = self._sessions[key] = LocalSession(without_file(key, starting[key]))
            session.reported, session.is_read = starting[key], True
        self._starting = starting.keys()

    def _take_lives(self, lives: Mapping[Key, SessionJoin], now_ms: int) -> None:
        for key, (life, process) in lives.items():
            session = self._sessions.get(key)
            if session is None or (session.is_joined and (session.life, session.process) == (life, process)):
                continue
            family = (key, *self._subagents.get(key, ()))
            for each in family:
                if self._sessions[each].join(life, process) and not (self._is_brief and life is Life.DEAD):
                    self._note(each)
            (self._live.discard if life is Life.DEAD else self._live.add)(key)
            self._has_kept = self._has_kept or session.kept is not None
            self._want(now_ms, family)

    def _judge(self, now_ms: int) -> None:
        """Judge the sessions of which something is new, and those that time may change."""
        if self._schedule.is_due("branches"):
            self._unjudged |= self._table.moved(self._live)
        timed = self._table.held(now_ms)
        if self._schedule.is_due("clocks"):
            is_silence_due = self._schedule.is_due("silences")
            timed |= self._table.running(self._live, now_ms, is_silence_due=is_silence_due)
        if judged := self._unjudged | timed:
            self._unjudged = self._table.judge(self._unjudged, timed, now_ms)
            waiting = ((key, self._waiting[key][1]) for key in self._waiting.keys() & judged)
            self._take_waiting([key for key, each in waiting if not self._may_wait(each, now_ms)], now_ms)

    def _note(self, key: Key) -> None:
        """Its parent and its twin are judged too."""
        self._unjudged.add(key)
        session = self._sessions.get(key)
        if session is None:
            return
        self._unjudged.update(each.found.key for each in self._above(session))
        if (twin := self._table.twins.note(key, session)) is not None:
            self._unjudged.add(twin)
