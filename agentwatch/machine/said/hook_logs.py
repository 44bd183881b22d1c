"""What the hooks of agents have logged: `hooks/AGENT/SESSION.log` in the folder of agentwatch.

Each line is a JSON object: `{"event":"PermissionRequest","tool":"shell","at_ms":1770823449274}`. A log does
not say whether the agent still runs: one that is killed leaves its last line.
"""

import os
from contextlib import suppress
from heapq import nlargest
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import orjson

from agentwatch.machine.process import Life, Said
from agentwatch.machine.standing import State
from agentwatch.recording import open_regular
from agentwatch.wire.fields import Fields, number, text
from agentwatch.wire.found import Key
from agentwatch.wire.small_files import FileState, file_state, own_files

_FULL_SECONDS = 5.0
"""The time between two readings of all logs. In between, only those that changed last are asked."""
_MOST_AGENTS = 32
_MOST_LOGS = 256
_MOST_RECENT = 64
_MOST_BYTES = 4 << 10
_ENDING = ".log"
_STATES = {
    "permissionrequest": State.ASKS,
    "userpromptsubmit": State.WORKING,
    "beforesubmitprompt": State.WORKING,
    "beforeagent": State.WORKING,
    "pretooluse": State.WORKING,
    "posttooluse": State.WORKING,
    "beforetool": State.WORKING,
    "aftertool": State.WORKING,
    "beforeshellexecution": State.WORKING,
    "aftershellexecution": State.WORKING,
    "beforemcpexecution": State.WORKING,
    "aftermcpexecution": State.WORKING,
    "stop": State.YOUR_TURN,
    "afteragent": State.YOUR_TURN,
    "sessionend": None,
}
"""What each event means, by its name in small letters: agents write the names differently. After the end of
a session nothing is said. Other events change nothing."""


class _Log(NamedTuple):
    """A log, and what it said when it had this state."""

    key: Key
    state: FileState
    said: Said | None


class HookLogs:
    """Reads the logs that have changed."""

    def __init__(self, folder: Path, uid: int) -> None:
        """Create it without logs.

        Args:
            folder: The folder `hooks`.
            uid: The user whose files count.
        """
        self._folder = folder
        self._uid = uid
        self._full_due = 0.0
        self._logs: dict[Path, _Log] = {}
        """The logs that changed last come first."""
        self.said: dict[Key, Said] = {}

    def refresh(self, now: float) -> bool:
        """Read what has changed, and return whether something new is said.

        Args:
            now: The time, in seconds since the epoch.
        """
        if 0 <= self._full_due - now <= _FULL_SECONDS:
            paths = list(islice(self._logs, _MOST_RECENT))
            states = {path: state for path in paths if (state := file_state(path, self._uid)) is not None}
        else:
            self._full_due = now + _FULL_SECONDS
            states = self._list()
            self._logs = {path: self._logs[path] for path in states if path in self._logs}
        has_changed = False
        for path, state in states.items():
            known = self._logs.get(path)
            if known is None or known.state != state:
                key = (path.parent.name, path.name.removesuffix(_ENDING))
                self._logs[path] = _Log(key, state, _said(path, key))
                has_changed = True
        if not has_changed and len(self.said) == sum(each.said is not None for each in self._logs.values()):
            return False
        recent = sorted(self._logs.items(), key=lambda each: each[1].state.changed_ns, reverse=True)
        self._logs = dict(recent)
        before, self.said = self.said, {log.key: log.said for log in self._logs.values() if log.said}
        return before != self.said

    def _list(self) -> dict[Path, FileState]:
        """Return the logs that changed last."""
        try:
            with os.scandir(self._folder) as entries:
                agents = [
                    Path(each.path)
                    for each in islice(entries, _MOST_AGENTS)
                    if each.is_dir(follow_symlinks=False)
                ]
        except OSError:
            return {}
        found = (
            (agent / name, state)
            for agent in agents
            for name, state in own_files(agent, self._uid, lambda name: name.endswith(_ENDING))
        )
        return dict(nlargest(_MOST_LOGS, found, key=lambda each: each[1].changed_ns))


def _said(path: Path, key: Key) -> Said | None:
    """Return what the last lines of a log say; None if they say nothing."""
    lines = _last_lines(path)
    last: Said | None = None
    for fields in reversed(lines):
        name = (text(fields, "event") or "").lower()
        if name not in _STATES:
            continue
        state = _STATES[name]
        if state is None or (last is not None and state is not last.state):
            break
        about = "permission" if state is State.ASKS else ""
        last = Said(*key, Life.UNKNOWN, state=state, since_ms=number(fields, "at_ms"), about=about)
    return last


def _last_lines(path: Path) -> list[Fields]:
    """Return the complete lines among the last 4 KiB of a log that are JSON objects."""
    try:
        fd = open_regular(path)
    except OSError:
        return []
    try:
        begin = max(os.fstat(fd).st_size - _MOST_BYTES, 0)
        data = os.pread(fd, _MOST_BYTES, begin)
    except OSError:
        return []
    finally:
        os.close(fd)
    complete = data[: data.rfind(b"\n") + 1].split(b"\n")[1 if begin else 0 :]

    found: list[Fields] = []
    for line in complete:
        with suppress(ValueError):
            fields = orjson.loads(line)
            if isinstance(fields, dict):
                found.append(fields)
    return found
