"""The state that Claude Code reports about each of its sessions, in `sessions/PID.json` of its folder."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Container, Iterable
from pathlib import Path
from typing import NamedTuple

from agentwatch.agents.description_files import own_files, own_object, stamp_of
from agentwatch.agents.fields import Fields, in_words, number, text
from agentwatch.agents.places import Stamp
from agentwatch.agents.session_entry import Key
from agentwatch.agents.state_report import Life, State, StateReport
from agentwatch.sources.folder_watch import FolderWatch
from agentwatch.sources.proc import Proc, ProcessEnds

# One record.
# The format was observed in Claude Code 2.1.330. The program writes a record in place whenever its state
# changes, and removes it when it exits.

AGENT = "claude"
_STATES = {"busy": State.WORKING, "idle": State.YOUR_TURN, "waiting": State.ASKS, "shell": State.SHELL}
_ABOUT = {"permission prompt": "permission", "input needed": "question", "dialog open": "dialog"}
_ONE_LINER = "sdk-cli"
"""The `entrypoint` of `claude -p`."""
_DAEMON = "daemon"
"""The `kind` of the process that starts sessions in the background, and has none itself."""


class Record(NamedTuple):
    reported: StateReport
    pid: int
    domain: str
    """The machine and the namespace of the process id: `linux:MACHINE:pid:[4026531836]`; empty in older
    versions."""
    updated_ms: int

    @property
    def key(self) -> Key:
        return AGENT, self.reported.session_id


def record_of(fields: Fields, pid: int) -> Record | None:
    session_id = text(fields, "sessionId")
    if session_id is None or fields.get("kind") == _DAEMON:
        return None
    status, about, began = (text(fields, key) or "" for key in ("status", "waitingFor", "procStart"))
    updated_ms = number(fields, "updatedAt") or 0
    state = _STATES.get(status)
    reported = StateReport(
        AGENT,
        in_words(session_id),
        Life.UNKNOWN,
        pid,
        in_words(began) or str(number(fields, "procStart") or ""),
        state,
        number(fields, "statusUpdatedAt") if state else None,
        _ABOUT.get(about, "") if state is State.ASKS else "",
        in_words(text(fields, "name") or ""),
        fields.get("nameSource") == "user",
        text(fields, "cwd"),
        in_words(text(fields, "tmux") or ""),
        fields.get("entrypoint") == _ONE_LINER,
        number(fields, "startedAt"),
    )
    return Record(reported, pid, in_words(text(fields, "pidDomain") or ""), updated_ms)


_MOST_BYTES = 64 << 10
_NAME = re.compile(r"[0-9]{1,10}\.json")
_LOOKS_BEFORE_WATCH = 4
"""A command reads all records at most three times. A list that stays open watches them, and their
processes."""
_WATCHED_SECONDS = 60.0
"""The time between two lists of a folder that is watched. One of 300 records takes 1.5 ms."""
_STARTS_SECONDS = 10.0
"""The time between two comparisons of the processes that are not held with the starts in their records, 20 us
each. In between, it is asked whether a process has a program: one that its parent has not noticed to have
ended has none."""
_HOLD_SECONDS = 0.4
"""Between the end of a task in the background and the next turn, Claude Code is idle for 50 to 320 ms."""
_BUSY = frozenset({State.WORKING, State.ASKS})
_AT_REST = frozenset({State.YOUR_TURN, State.SHELL})
_ORDER = {Life.LIVE: 2, Life.UNKNOWN: 1, Life.DEAD: 0}
_MACHINE_ID = Path("/etc/machine-id")
_MOST_LATE_MS = 10_000
"""How much later than the process the session may seem to begin before, if the clock was adjusted."""


class ClaudeRecords:
    is_exact = False

    def __init__(self, folders: Iterable[Path], uid: int, proc: Proc) -> None:
        self._folders = tuple(folders)
        self._uid = uid
        self._proc = proc
        self._has_proc = proc.exists()
        self._namespace = proc.namespace()
        self._domain = _own_domain(self._namespace)
        self._states: dict[str, Stamp] = {}
        self._records: dict[str, Record] = {}
        self._lives: dict[str, Life] = {}
        """Whether the process of each record runs, by the path of the record."""
        self._stated: dict[Key, StateReport] = {}
        self._asked: dict[str, int] = {}
        """The processes whose end no descriptor tells, by the paths of their records. They are polled."""
        self._starts_due = self._list_due = 0.0
        self._looks_left = _LOOKS_BEFORE_WATCH
        self._watch: FolderWatch | None = None
        self._missing: list[Path] = []
        """The folders that cannot be watched. While one of them exists, all are listed at each look."""
        self._ends: ProcessEnds | None = None
        self._again: set[str] = set()
        """The records that may have changed without a note: those that have just been written."""
        self._rested: dict[Key, float] = {}
        """The time in seconds since which a session that is still shown as busy is at rest."""
        self.reported: dict[Key, StateReport] = {}

    def refresh(self, now: float, keys: Container[Key] | None = None) -> bool:
        """Read what has changed; `keys` are the sessions whose records are read again and whose processes
        must exist; None for all. Changes and ends that the system has noted are taken with any `keys`."""
        noted = self._noted(now)
        if noted is None and keys is None:
            self._begin_to_watch(now)
            doubtful, has_removed = self._read_all()
        else:
            if noted is None:
                noted = {path for path, each in self._records.items() if keys and each.key in keys}
            doubtful, has_removed = self._read_some(noted)
        is_new = has_removed or bool(doubtful)
        if self._ends is not None and (ended := self._ends.take()):
            doubtful.update(path for path, each in self._records.items() if each.pid in ended)
        runs = self._proc.has_program if self._has_proc and keys is None else _exists
        if keys is None and not 0 <= self._starts_due - now <= _STARTS_SECONDS:
            self._starts_due = now + _STARTS_SECONDS
            doubtful.update(self._asked)
        else:
            asked = self._asked.keys() & self._records.keys()
            here = asked if keys is None else {path for path in asked if self._records[path].key in keys}
            doubtful.update(path for path in here if not runs(self._asked[path]))
        lives = {path: self._life(self._records[path]) for path in doubtful & self._records.keys()}
        if doubtful or has_removed:
            pids = {path: each.pid for path, each in self._records.items()}
            self._asked = {path: pid for path, pid in pids.items() if not (self._ends and pid in self._ends)}
        if is_new or not lives.items() <= self._lives.items():
            self._lives |= lives
            self._stated = self._reports()
        elif not self._rested:
            return False
        shown = {key: self._delayed(key, each, now) for key, each in self._stated.items()}
        for key in self._rested.keys() - shown.keys():
            del self._rested[key]
        has_changed = shown != self.reported
        self.reported = shown
        return has_changed

    def _reports(self) -> dict[Key, StateReport]:
        reported: dict[Key, StateReport] = {}
        best: dict[Key, tuple[int, int]] = {}
        for path, record in self._records.items():
            life, key = self._lives[path], record.key
            rank = (_ORDER[life], record.updated_ms)
            if key not in best or rank > best[key]:
                best[key] = rank
                reported[key] = (
                    record.reported if life is record.reported.life else record.reported._replace(life=life)
                )
        return reported

    def _begin_to_watch(self, now: float) -> None:
        self._looks_left -= 1
        if not self._looks_left:
            self._watch, self._ends, self._starts_due = FolderWatch(), self._proc.ends(), 0.0
        if self._watch is not None:
            self._missing = [each for each in self._folders if not self._watch.add(str(each))]
            if not any(map(os.path.lexists, self._missing)):
                self._list_due = now + _WATCHED_SECONDS

    def _noted(self, now: float) -> set[str] | None:
        """Take the paths of the records that may have changed; None if they are not known."""
        if self._watch is None or not 0 <= self._list_due - now <= _WATCHED_SECONDS:
            return None
        notes = self._watch.notes()
        is_whole = notes is not None and all(each.name for each in notes)
        if notes is None or not is_whole or any(map(os.path.lexists, self._missing)):
            self._list_due = 0.0
            return None
        return self._again | {f"{each.folder}/{each.name}" for each in notes if _is_record(each.name)}

    def _read_all(self) -> tuple[set[str], bool]:
        """Return the paths of the records that are new or have changed, and whether one was removed."""
        states = {
            f"{folder}/{name}": state
            for folder in self._folders
            for name, state in own_files(folder, self._uid, _is_record)
        }
        has_removed = self._drop((self._records.keys() | self._states.keys()) - states.keys())
        self._again &= states.keys()
        return self._read(states.items()), has_removed

    def _read_some(self, paths: Iterable[str]) -> tuple[set[str], bool]:
        """Return as `_read_all`."""
        found = [(path, stamp_of(path, self._uid)) for path in paths]
        gone = [path for path, state in found if state is None]
        has_removed = self._drop(gone)
        self._again.difference_update(gone)
        return self._read((path, state) for path, state in found if state is not None), has_removed

    def _drop(self, paths: Iterable[str]) -> bool:
        """Forget these paths; return whether one of them was that of a record."""
        has_removed = False
        for path in paths:
            record = self._records.pop(path, None)
            has_removed = has_removed or record is not None
            if record is not None and self._ends is not None:
                self._ends.release(record.pid)
            for known in (self._lives, self._states):
                known.pop(path, None)
        return has_removed

    def _read(self, states: Iterable[tuple[str, Stamp]]) -> set[str]:
        """Read the records whose files have another state, and return the paths of those that have changed. A
        record that is just being written keeps its last content."""
        changed = set()
        for path, state in states:
            if self._states.get(path) == state:
                continue
            self._again.add(path)
            try:
                fields = own_object(Path(path), _MOST_BYTES)
            except OSError:
                continue
            if not fields:
                continue
            record = record_of(fields, int(os.path.basename(path).partition(".")[0]))
            if record is not None:
                record = record._replace(reported=record.reported._replace(source=f"file {path}"))
            if record != self._records.get(path):
                changed.add(path)
                if record is None:
                    self._drop([path])
                else:
                    self._records[path] = record
            if state.is_settled:
                self._states[path] = state
                self._again.discard(path)
        return changed

    def _life(self, record: Record) -> Life:
        """Unknown on another machine or container. On Linux the start is field 22 of /proc/PID/stat,
        counted from 1; elsewhere the time that `ps` shows, which `joined` compares."""
        if not self._has_proc:
            if record.domain and record.domain != self._domain:
                return Life.UNKNOWN
            return Life.LIVE if _exists(record.pid) else Life.DEAD
        is_here = not record.domain or record.domain.endswith(f":{self._namespace}")
        if is_here and self._is_process(record):
            return Life.LIVE
        return Life.UNKNOWN if record.domain and record.domain != self._domain else Life.DEAD

    def _is_process(self, record: Record) -> bool:
        if self._ends is not None:
            self._ends.hold(record.pid)  # first, so that the start is that of the process that is held
        stat = self._proc.stat(record.pid)
        is_it = stat is not None and (
            record.reported.began == str(stat.began)
            if record.reported.began
            else stat.began_ms <= (record.reported.began_ms or 0) + _MOST_LATE_MS
        )
        if self._ends is not None and not is_it:
            self._ends.release(record.pid)
        return is_it

    def _delayed(self, key: Key, reported: StateReport, now: float) -> StateReport:
        """Return what is shown of a session: one that has just come to rest is still shown as before."""
        before = self.reported.get(key)
        is_rest = before is not None and before.state in _BUSY and reported.state in _AT_REST
        if before is None or not is_rest or reported.life is not Life.LIVE or before.life is not Life.LIVE:
            self._rested.pop(key, None)
            return reported
        seen = self._rested.setdefault(key, now)
        stated = seen if reported.since_ms is None else reported.since_ms / 1000
        since = min(max(stated, seen - _HOLD_SECONDS), seen)
        if not 0 <= now - since < _HOLD_SECONDS:
            del self._rested[key]
            return reported
        return reported._replace(state=before.state, since_ms=before.since_ms, about=before.about)


def _is_record(name: str) -> bool:
    """Return whether a file is named by a process; `pid-1.json` and `1.0123abcd.key` are not records."""
    return _NAME.fullmatch(name) is not None


def _own_domain(namespace: str) -> str:
    if not sys.platform.startswith("linux"):
        return sys.platform
    try:
        machine = _MACHINE_ID.read_text("ascii", "replace").strip()
    except OSError:
        machine = ""
    return f"linux:{machine}:{namespace}"


def _exists(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except (OSError, OverflowError):
        return False
    return True
