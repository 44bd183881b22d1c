"""Reports of sessions that have a folder each, with a file that says their state, or which process has them.
A killed process leaves its file behind, and its id may be used again: a process that began after the file was
written does not have the session."""

from __future__ import annotations

import os
from collections.abc import Container, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from agentwatch.agents.places import Stamp
from agentwatch.agents.session_entry import Key
from agentwatch.agents.state_report import Life, State, StateReport
from agentwatch.base.clock import wall_ns
from agentwatch.sources.folder_watch import FolderWatch
from agentwatch.sources.proc import Proc

_FULL_SECONDS = 10.0
"""The time between two readings of all sessions. In between, only new sessions and those in use are read."""
_WATCHED_SECONDS = 60.0
"""The same while the system notes which sessions change. Reading 400 takes 2 ms."""
_RECENT_NS = 60 * 10**9
_MOST_SESSIONS = 20_000
_TOLERANCE_MS = 2000


class Claim(NamedTuple):
    """What a file says of a session."""

    pid: int | None = None
    """The process that has it; None if the file names none that is known to show it."""
    written_ms: int = 0
    state: State | None = None
    about: str = ""
    source: str = ""


@dataclass(slots=True)
class _Session:
    """The claims on one session, as they were when its files last changed."""

    changed_ns: int = -1
    is_recent: bool = True
    """Whether its files have changed in the last minute: a claim follows the folder."""
    claims: Sequence[Claim] = ()


class SessionFolders:
    """`agent` is set by each agent, whose `changed_ns` and `claims` read the folder of one session."""

    agent: str
    is_exact = False

    def __init__(self, folders: Iterable[Path], uid: int, proc: Proc) -> None:
        self._folders = tuple(map(str, folders))
        self.uid = uid
        self._proc = proc
        self._has_proc = proc.exists()
        self._full_due = 0.0
        self._watch: FolderWatch | None = None
        """None at the first reading: a command has no other one."""
        self._changed: dict[str, int] = {}
        self._sessions: dict[str, dict[str, _Session]] = {folder: {} for folder in self._folders}
        self.reported: dict[Key, StateReport] = {}

    def changed_ns(self, path: str) -> int:
        return _changed_ns(path)

    def claims(self, path: str) -> Sequence[Claim]:
        raise NotImplementedError

    def refresh(self, now: float, keys: Container[Key] | None = None) -> bool:
        """`keys` is not used: all files are read, or those whose time has come."""
        watch = self._watch
        notes = [] if watch is None else watch.notes()
        noted = {each.folder for each in notes or ()}
        is_full = notes is None or not 0 <= self._full_due - now <= _WATCHED_SECONDS
        if is_full:
            if self._full_due and watch is None:
                watch = self._watch = FolderWatch()
            self._full_due = now + (_FULL_SECONDS if watch is None else _WATCHED_SECONDS)
        for folder in self._folders:
            changed = _changed_ns(folder)
            if is_full or changed != self._changed.get(folder):
                self._changed[folder] = changed
                self._list(folder)
        reported = {}
        for folder, sessions in self._sessions.items():
            for name, session in sessions.items():
                is_near = is_full or session.claims or session.is_recent
                if is_near or (noted and f"{folder}/{name}" in noted):
                    path = f"{folder}/{name}"
                    if watch is not None and path not in watch and not watch.add(path):
                        self._full_due = min(self._full_due, now + _FULL_SECONDS)
                    self._read(path, session)
                for claim in session.claims:
                    if claim.pid is None or self._holds(claim.pid, claim.written_ms):
                        life = Life.UNKNOWN if claim.pid is None else Life.LIVE
                        report = StateReport(self.agent, name, life, claim.pid, state=claim.state)
                        reported[self.agent, name] = report._replace(about=claim.about, source=claim.source)
        has_changed = reported != self.reported
        self.reported = reported
        return has_changed

    def _list(self, folder: str) -> None:
        known, names = self._sessions[folder], []
        with suppress(OSError), os.scandir(folder) as entries:
            names = [
                entry.name for entry in islice(entries, _MOST_SESSIONS) if entry.is_dir(follow_symlinks=False)
            ]
        self._sessions[folder] = {name: known.get(name) or _Session() for name in names}

    def _read(self, path: str, session: _Session) -> None:
        changed = self.changed_ns(path)
        if changed == session.changed_ns:
            session.is_recent = wall_ns() - changed < _RECENT_NS
            return
        is_settled = Stamp(0, changed, 0).is_settled
        session.changed_ns = changed if is_settled else -1
        session.is_recent = not is_settled or wall_ns() - changed < _RECENT_NS
        session.claims = self.claims(path)

    def _holds(self, pid: int, written_ms: int) -> bool:
        if not self._has_proc:
            try:
                os.kill(pid, 0)
            except (OSError, OverflowError):
                return False
            return True
        stat = self._proc.stat(pid)
        if stat is None or stat.began_ms > written_ms + _TOLERANCE_MS:
            return False
        # In another container it is the id of a process that may be another one here, also of the system.
        return self._proc.uid(pid) == self.uid and self._proc.has_program(pid)


def _changed_ns(path: str) -> int:
    try:
        return os.lstat(path).st_mtime_ns
    except OSError:
        return 0
