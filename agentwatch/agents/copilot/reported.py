"""The locks of Copilot on its sessions: `session-state/ID/inuse.PID.lock` in its folder. Observed in Copilot
CLI 1.0.102. A killed process leaves its file behind, and its id may be used again: a process that began after
the file was written does not hold it."""

from __future__ import annotations

import os
from collections.abc import Container, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from agentwatch.agents.description_files import own_files
from agentwatch.agents.places import Stamp
from agentwatch.agents.session_entry import Key
from agentwatch.agents.state_report import Life, StateReport
from agentwatch.base.clock import wall_ns
from agentwatch.sources.proc import Proc

_AGENT = "copilot"
_FULL_SECONDS = 10.0
"""The time between two readings of all sessions. In between, only new sessions and those in use are read."""
_RECENT_NS = 60 * 10**9
_MOST_SESSIONS = 20_000
_MOST_DIGITS = 10
_TOLERANCE_MS = 2000


@dataclass(slots=True)
class _Session:
    """The locks of one session, as they were when its folder last changed."""

    changed_ns: int = -1
    is_recent: bool = True
    """Whether its folder has changed in the last minute: the lock follows the folder."""
    locks: list[tuple[int, int]] = field(default_factory=list)


class CopilotLocks:
    is_exact = False

    def __init__(self, folders: Iterable[Path], uid: int, proc: Proc) -> None:
        self._folders = tuple(map(str, folders))
        self._uid = uid
        self._proc = proc
        self._has_proc = proc.exists()
        self._full_due = 0.0
        self._changed: dict[str, int] = {}
        self._sessions: dict[str, dict[str, _Session]] = {folder: {} for folder in self._folders}
        self.reported: dict[Key, StateReport] = {}

    def refresh(self, now: float, keys: Container[Key] | None = None) -> bool:
        """`keys` is not used: all files are read, or those whose time has come."""
        is_full = not 0 <= self._full_due - now <= _FULL_SECONDS
        if is_full:
            self._full_due = now + _FULL_SECONDS
        for folder in self._folders:
            changed = _changed_ns(folder)
            if is_full or changed != self._changed.get(folder):
                self._changed[folder] = changed
                self._list(folder)
        reported = {}
        for folder, sessions in self._sessions.items():
            for name, session in sessions.items():
                if is_full or session.locks or session.is_recent:
                    self._read(f"{folder}/{name}", session)
                for pid, written_ms in session.locks:
                    if self._holds(pid, written_ms):
                        reported[_AGENT, name] = StateReport(_AGENT, name, Life.LIVE, pid)
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
        changed = _changed_ns(path)
        if changed == session.changed_ns:
            session.is_recent = wall_ns() - changed < _RECENT_NS
            return
        is_settled = Stamp(0, changed, 0).is_settled
        session.changed_ns = changed if is_settled else -1
        session.is_recent = not is_settled or wall_ns() - changed < _RECENT_NS
        session.locks = [
            (_pid(name), state.changed_ns // 10**6) for name, state in own_files(path, self._uid, _is_lock)
        ]

    def _holds(self, pid: int, written_ms: int) -> bool:
        if not self._has_proc:
            try:
                os.kill(pid, 0)
            except (OSError, OverflowError):
                return False
            return True
        stat = self._proc.stat(pid)
        return stat is not None and stat.began_ms <= written_ms + _TOLERANCE_MS


def _is_lock(name: str) -> bool:
    return name.startswith("inuse.") and name.endswith(".lock") and _pid(name) > 0


def _pid(name: str) -> int:
    digits = name.removeprefix("inuse.").removesuffix(".lock")
    return int(digits) if digits.isascii() and digits.isdecimal() and len(digits) <= _MOST_DIGITS else 0


def _changed_ns(folder: str) -> int:
    try:
        return os.lstat(folder).st_mtime_ns
    except OSError:
        return 0
