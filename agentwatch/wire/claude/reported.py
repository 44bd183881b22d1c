"""The records of Claude Code about its sessions; the format is described in `record`."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from pathlib import Path

from agentwatch.sources.proc import Proc
from agentwatch.wire.claude.record import AGENT, Record, record_of
from agentwatch.wire.found import Key
from agentwatch.wire.own_file import own_object
from agentwatch.wire.reported import Life, Said, State
from agentwatch.wire.small_files import FileState, own_files

_MOST_BYTES = 64 << 10
_MOST_DIGITS = 10
"""The digits of the largest process id."""
_CHECK_SECONDS = 1.0
"""The time between two checks of the starts of the processes, if no record has changed. A check of 300
processes takes 2 ms; asking whether they exist takes 0.1 ms."""
_HOLD_SECONDS = 0.4
"""Between the end of a task in the background and the next turn, Claude Code is idle for 50 to 320 ms."""
_BUSY = frozenset({State.WORKING, State.ASKS})
_AT_REST = frozenset({State.YOUR_TURN, State.SHELL})
_ORDER = {Life.LIVE: 2, Life.UNKNOWN: 1, Life.DEAD: 0}
_MACHINE_ID = Path("/etc/machine-id")
_MOST_LATE_MS = 10_000
"""How much later than the process the session may seem to begin before, if the clock was adjusted."""


class ClaudeRecords:
    """Reads the records that have changed, and checks whether their processes run."""

    is_exact = False

    def __init__(self, folders: Iterable[Path], uid: int, proc: Proc) -> None:
        """Create it without records.

        Args:
            folders: The folders `sessions`.
            uid: The user whose files and processes count.
            proc: Where the processes are read.
        """
        self._folders = tuple(folders)
        self._uid = uid
        self._proc = proc
        self._has_proc = proc.exists()
        self._namespace = proc.namespace()
        self._domain = _own_domain(self._namespace)
        self._states: dict[str, FileState] = {}
        self._records: dict[str, Record] = {}
        self._checked_due = 0.0
        self._stated: dict[Key, Said] = {}
        """What the records say, before a change to rest is held back."""
        self._rested: dict[Key, float] = {}
        """Since when a session that is still shown as busy is at rest, in seconds."""
        self.said: dict[Key, Said] = {}

    def refresh(self, now: float) -> bool:
        """Read what has changed, and return whether something new is said.

        Args:
            now: The time, in seconds since the epoch.
        """
        is_due = not 0 <= self._checked_due - now <= _CHECK_SECONDS
        if self._read() or is_due or self._has_ended():
            self._checked_due = now + _CHECK_SECONDS
            self._stated = self._check()
        elif not self._rested:
            return False
        shown = {key: self._held(key, each, now) for key, each in self._stated.items()}
        for key in self._rested.keys() - shown.keys():
            del self._rested[key]
        has_changed = shown != self.said
        self.said = shown
        return has_changed

    def _has_ended(self) -> bool:
        """Return whether a process has ended; one that its parent has not noticed is found by the check."""
        return any(
            said.life is Life.LIVE and said.pid is not None and not _exists(said.pid)
            for said in self._stated.values()
        )

    def _check(self) -> dict[Key, Said]:
        """Return what the records say, with whether their processes run."""
        said: dict[Key, Said] = {}
        best: dict[Key, tuple[int, int]] = {}
        for record in self._records.values():
            life = self._life(record)
            key = (AGENT, record.said.session_id)
            rank = (_ORDER[life], record.updated_ms)
            if key not in best or rank > best[key]:
                best[key] = rank
                said[key] = record.said if life is record.said.life else record.said._replace(life=life)
        return said

    def _read(self) -> bool:
        """Read the records that have changed, and return whether one has.

        A record that is just being written keeps its last content.
        """
        present, has_changed = set(), False
        for folder in self._folders:
            for name, state in own_files(folder, self._uid, _is_record):
                path = f"{folder}/{name}"
                present.add(path)
                if self._states.get(path) == state:
                    continue
                try:
                    fields = own_object(Path(path), _MOST_BYTES)
                except OSError:
                    continue
                if not fields:
                    continue
                record = record_of(fields, int(name.partition(".")[0]))
                if record != self._records.get(path):
                    has_changed = True
                    self._keep(path, record)
                if state.is_settled:
                    self._states[path] = state
        for path in self._records.keys() - present:
            has_changed = True
            self._keep(path, None)
        for path in self._states.keys() - present:
            del self._states[path]
        return has_changed

    def _keep(self, path: str, record: Record | None) -> None:
        if record is None:
            del self._records[path]
        else:
            self._records[path] = record

    def _life(self, record: Record) -> Life:
        """Return whether the process of a record runs; unknown if it belongs to another machine or container.

        On Linux the start of a process is field 22 of /proc/PID/stat, counted from 1. Elsewhere it is the
        time that `ps` shows, which `joined` compares.
        """
        if not self._has_proc:
            if record.domain and record.domain != self._domain:
                return Life.UNKNOWN
            return Life.LIVE if _exists(record.pid) else Life.DEAD
        is_here = not record.domain or record.domain.endswith(f":{self._namespace}")
        if is_here and self._is_process(record):
            return Life.LIVE
        return Life.UNKNOWN if record.domain and record.domain != self._domain else Life.DEAD

    def _is_process(self, record: Record) -> bool:
        stat = self._proc.stat(record.pid)
        if stat is None:
            return False
        if record.said.began:
            return record.said.began == str(stat.began)
        return stat.began_ms <= (record.said.began_ms or 0) + _MOST_LATE_MS

    def _held(self, key: Key, said: Said, now: float) -> Said:
        """Return what is shown of a session: one that has just come to rest is still shown as before."""
        before = self.said.get(key)
        is_rest = before is not None and before.state in _BUSY and said.state in _AT_REST
        if before is None or not is_rest or said.life is not Life.LIVE or before.life is not Life.LIVE:
            self._rested.pop(key, None)
            return said
        seen = self._rested.setdefault(key, now)
        stated = seen if said.since_ms is None else said.since_ms / 1000
        since = min(max(stated, seen - _HOLD_SECONDS), seen)
        if not 0 <= now - since < _HOLD_SECONDS:
            del self._rested[key]
            return said
        return said._replace(state=before.state, since_ms=before.since_ms, about=before.about)


def _is_record(name: str) -> bool:
    """Return whether a file is named by a process; `pid-1.json` and `1.0123abcd.key` are not records."""
    stem, _, ending = name.partition(".")
    return ending == "json" and stem.isascii() and stem.isdecimal() and len(stem) <= _MOST_DIGITS


def _own_domain(namespace: str) -> str:
    """Return the domain that Claude Code writes on this machine."""
    if not sys.platform.startswith("linux"):
        return sys.platform
    try:
        machine = _MACHINE_ID.read_text("ascii", "replace").strip()
    except OSError:
        machine = ""
    return f"linux:{machine}:{namespace}"


def _exists(pid: int) -> bool:
    """Return whether a process of this user exists."""
    try:
        os.kill(pid, 0)
    except (OSError, OverflowError):
        return False
    return True
