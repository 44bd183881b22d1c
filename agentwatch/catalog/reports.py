"""The state that agents report themselves: by their registries, by hooks, and by our own recordings."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from collections.abc import Set as AbstractSet
from contextlib import suppress
from functools import partial
from heapq import nlargest
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import orjson

from agentwatch.agents.description_files import own_files, stamp_of
from agentwatch.agents.fields import Fields, number, text
from agentwatch.agents.first_use import imported
from agentwatch.agents.places import Stamp
from agentwatch.agents.program import Program
from agentwatch.agents.registry import AGENTS, programs, session_folders
from agentwatch.agents.session_entry import OWN, Key
from agentwatch.agents.state_report import Life, Reporter, State, StateReport
from agentwatch.base.faults import reading
from agentwatch.catalog.processes import command_of
from agentwatch.recording.head_tail import last_lines
from agentwatch.recording.store import SessionFiles, open_regular, sessions_folder
from agentwatch.recording.write_lock import SavedProcess, is_being_written, is_locked, read_process
from agentwatch.sources.proc import Proc

_ENDING = ".ndjson"
_FULL_SECONDS = 60.0
"""Reading pause of an unchanged folder: a recording may have been read before it was locked."""
_MOST_NEW = 200
"""The newest first: reading one takes 50 us."""


class OwnRecordings:
    """Reports the recordings that are being written, and nothing about those that have ended."""

    def __init__(self, folder: Path, uid: int) -> None:
        self._folder = folder
        self._uid = uid
        self._changed_ns = -1
        self._unread: list[str] = []
        """The stems, the oldest first."""
        self._ended: dict[str, Stamp] = {}
        """The recordings that have ended, as they were then."""
        self._full_due = 0.0
        self.reported: dict[Key, StateReport] = {}

    def refresh(self, now: float) -> bool:
        """Read what may have changed; return whether something new is said. `now` is in seconds."""
        self._list(now)
        reported = {}
        due = [stem for _, stem in self.reported]
        due += reversed(self._unread[-_MOST_NEW:])
        del self._unread[-_MOST_NEW:]
        for stem in due:
            files = SessionFiles(self._folder / f"{stem}{_ENDING}")
            state = stamp_of(files.recording, self._uid)
            if state is None:
                continue
            found = _writer(files, stem)
            if found is None:
                self._ended[stem] = state
            else:
                reported[OWN, stem] = found
        before, self.reported = self.reported, reported
        return before != reported

    def _list(self, now: float) -> None:
        """Find the recordings that are new, or have changed since they had ended."""
        try:
            changed_ns = os.lstat(self._folder).st_mtime_ns
        except OSError:
            changed_ns = 0
        if changed_ns == self._changed_ns and 0 <= self._full_due - now <= _FULL_SECONDS:
            return
        self._full_due = now + _FULL_SECONDS
        self._changed_ns = changed_ns if Stamp(0, changed_ns, 0).is_settled else -1
        states = {
            name.removesuffix(_ENDING): state
            for name, state in own_files(self._folder, self._uid, lambda name: name.endswith(_ENDING))
        }
        for gone in self._ended.keys() - states.keys():
            del self._ended[gone]
        self._unread = sorted(
            stem
            for stem, state in states.items()
            if self._ended.get(stem) != state and (OWN, stem) not in self.reported
        )


def _writer(files: SessionFiles, stem: str) -> StateReport | None:
    """Return None if the recording has ended."""
    process = read_process(files.process)
    try:
        fd = open_regular(files.recording)
    except OSError:
        return None
    try:
        if not is_being_written(fd, process):
            return None
        has_locks = is_locked(fd) is not None
    finally:
        os.close(fd)
    if process is None:
        return StateReport(OWN, stem, Life.LIVE if has_locks else Life.UNKNOWN)
    return said_of(stem, process)


def said_of(stem: str, process: SavedProcess) -> StateReport:
    """What is said of a recording that is being written."""
    command = command_of(process.command)
    runs, has_one_prompt = ("", None) if command is None else (command.agent, command.has_one_prompt)
    return StateReport(
        OWN,
        stem,
        Life.LIVE,
        process.pid,
        began_ms=process.started_ms,
        runs=runs,
        has_one_prompt=has_one_prompt,
    )


# Hooks append to `hooks/OWN/SESSION.log`, one JSON object a line:
# `{"event":"PermissionRequest","tool":"shell","at_ms":1770823449274}`. A log does not show whether the agent
# still runs: one that is killed leaves its last line.

_ALL_LOGS_SECONDS = 5.0
"""The time between two readings of all logs. In between, only those that changed last are read."""
_MOST_AGENTS = 32
_MOST_LOGS = 256
_MOST_RECENT = 64
_MOST_BYTES = 4 << 10
_LOG_SUFFIX = ".log"
_STATES = {
    "permissionrequest": State.ASKS,
    **dict.fromkeys(("stop", "afteragent", "sessionend"), State.YOUR_TURN),
    **dict.fromkeys(("userpromptsubmit", "beforesubmitprompt", "beforeagent"), State.WORKING),
    **dict.fromkeys(("pretooluse", "posttooluse", "beforetool", "aftertool"), State.WORKING),
    **dict.fromkeys(("beforeshellexecution", "aftershellexecution"), State.WORKING),
    **dict.fromkeys(("beforemcpexecution", "aftermcpexecution"), State.WORKING),
}
"""The state after an event, by the event's name in small letters: agents write it differently. At the end of
a session its process runs for a moment longer, with the hook as a child. Other events change nothing."""


class _Log(NamedTuple):
    key: Key
    state: Stamp
    reported: StateReport | None


class HookLogs:
    def __init__(self, folder: Path, uid: int) -> None:
        self._folder = folder
        self._uid = uid
        self._full_due = 0.0
        self._logs: dict[Path, _Log] = {}
        """The logs by path, those that changed last first."""
        self.reported: dict[Key, StateReport] = {}

    def refresh(self, now: float) -> bool:
        """Return whether something new is said. `now` is in seconds."""
        if 0 <= self._full_due - now <= _ALL_LOGS_SECONDS:
            paths = list(islice(self._logs, _MOST_RECENT))
            states = {path: state for path in paths if (state := stamp_of(path, self._uid)) is not None}
        else:
            self._full_due = now + _ALL_LOGS_SECONDS
            states = self._list()
            self._logs = {path: self._logs[path] for path in states if path in self._logs}
        has_changed = False
        for path, state in states.items():
            known = self._logs.get(path)
            if known is None or known.state != state:
                key = (path.parent.name, path.name.removesuffix(_LOG_SUFFIX))
                self._logs[path] = _Log(key, state, _reported(path, key))
                has_changed = True
        if not has_changed and len(self.reported) == sum(bool(each.reported) for each in self._logs.values()):
            return False
        recent = sorted(self._logs.items(), key=lambda each: each[1].state.changed_ns, reverse=True)
        self._logs = dict(recent)
        before = self.reported
        self.reported = {log.key: log.reported for log in self._logs.values() if log.reported}
        return before != self.reported

    def _list(self) -> dict[Path, Stamp]:
        try:
            with os.scandir(self._folder) as entries:
                first = islice(entries, _MOST_AGENTS)
                agents = [Path(each.path) for each in first if each.is_dir(follow_symlinks=False)]
        except OSError:
            return {}
        found = (
            (agent / name, state)
            for agent in agents
            for name, state in own_files(agent, self._uid, lambda name: name.endswith(_LOG_SUFFIX))
        )
        return dict(nlargest(_MOST_LOGS, found, key=lambda each: each[1].changed_ns))


def _reported(path: Path, key: Key) -> StateReport | None:
    """What the last lines of a log say; None if they say nothing."""
    lines = _last_lines(path)
    last: StateReport | None = None
    for fields in reversed(lines):
        name = (text(fields, "event") or "").lower()
        if name not in _STATES:
            continue
        state = _STATES[name]
        if last is not None and state is not last.state:
            break
        about = "permission" if state is State.ASKS else ""
        since_ms, source = number(fields, "at_ms"), f"hook {path}"
        last = StateReport(*key, Life.UNKNOWN, state=state, since_ms=since_ms, about=about, source=source)
    return last


def _last_lines(path: Path) -> list[Fields]:
    """The JSON objects in the last 4 KiB. A line that begins before them is left out."""
    try:
        with open(open_regular(path), "rb", buffering=0) as file:
            *complete, _ = last_lines(file.fileno(), _MOST_BYTES)
    except OSError:
        return []
    found: list[Fields] = []
    for line in complete:
        with suppress(ValueError):
            fields = orjson.loads(line)
            if isinstance(fields, dict):
                found.append(fields)
    return found


class Registries:
    """Reads what changed of the files in which agents describe sessions. `uid` is None for the own user."""

    def __init__(
        self, environ: Mapping[str, str], home: Path, uid: int | None = None, proc: Proc | None = None
    ) -> None:
        uid = os.geteuid() if uid is None else uid
        proc = proc or Proc()
        own_home = environ.get("AGENTWATCH_HOME")
        own = Path(own_home) if own_home else sessions_folder().parent
        folders = session_folders(environ, home)
        reports = [(program, program.reports) for program in programs() if program.reports]
        self._agents: dict[str, Reporter] = {}
        self._folders: list[Path] = []
        """Named if the files of an agent, of our recordings or of hooks cannot be read."""
        for program, each in reports:
            found = (folder for folder in folders if folder[:2] == (program.name, each.part))
            if beside := [Path(folder.path).with_name(each.name) for folder in found]:
                self._agents[program.name] = _reporter(program, each.reader, beside, uid, proc)
                self._folders.append(beside[0])
        self._own = OwnRecordings(own / "sessions", uid)
        self._hooks = HookLogs(own / "hooks", uid)
        self._folders += [own / "sessions", own / "hooks"]
        self.problems: dict[Path, OSError] = {}
        """Why something could not be read by the last `refresh` of all; what was said before holds."""
        self.reported: dict[Key, StateReport] = {}

    @property
    def exact(self) -> frozenset[str]:
        """The agents that report for each session whether it is open."""
        return frozenset(name for name, each in self._agents.items() if each.is_exact)

    def refresh(self, now: float, keys: AbstractSet[Key] | None = None) -> bool:
        """Return whether something new is said. `now` is in seconds. `keys` are the sessions whose records
        are read; None for all, and for new ones. Locks and logs are few or have their own times."""
        agents: list[Reporter | OwnRecordings] = [*self._agents.values(), self._own]
        has_changed = False
        refreshes: list[Callable[[float], bool]] = [
            *(partial(each.refresh, keys=keys) for each in self._agents.values()),
            self._own.refresh,
            self._hooks.refresh,
        ]
        for refresh, folder in zip(refreshes, self._folders, strict=True):
            try:
                with reading(folder):
                    has_changed = refresh(now) or has_changed
            except OSError as error:
                self.problems[folder] = error
            else:
                if keys is None:  # otherwise what could not be read may not have been asked for
                    self.problems.pop(folder, None)
        if not has_changed:
            return False
        reported: dict[Key, StateReport] = {}
        for each in agents:
            reported.update(each.reported)
        for key, hook in self._hooks.reported.items():
            known = reported.get(key)
            if known is None:
                reported[key] = hook
            elif known.state is None:
                reported[key] = known._replace(
                    state=hook.state, since_ms=hook.since_ms, about=hook.about, source=hook.source
                )
        self.reported = reported
        return True


def _reporter(program: Program, reader: str, *arguments: object) -> Reporter:
    if program.name not in AGENTS:
        from agentwatch.agents.plugins.programs import reporter_of

        return reporter_of(program.name, reader, *arguments)
    found: Reporter = imported(reader)(*arguments)
    return found
