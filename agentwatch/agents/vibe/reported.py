"""The locks of Mistral Vibe on its sessions: `logs/session/active/ID.lock.json` names its process.
Observed in 3.0.2: it is a server below the process of the terminal. A killed one leaves its file."""

from __future__ import annotations

from collections.abc import Container, Iterable
from itertools import islice
from pathlib import Path

from agentwatch.agents.description_files import json_object, own_files, time_in
from agentwatch.agents.session_entry import Key
from agentwatch.agents.state_report import Life, StateReport
from agentwatch.sources.proc import Proc

_AGENT = "vibe"
_ENDING = ".lock.json"
_MOST_LOCKS = 1000
_TOLERANCE_MS = 2000
_UNLISTED_SECONDS = 4.0
"""A session counts when it has been found: new ones are looked for every 2 s."""


class VibeLocks:
    is_exact = False

    def __init__(self, folders: Iterable[Path], uid: int, proc: Proc) -> None:
        self._folders = tuple(folders)
        self._uid = uid
        self._proc = proc
        self._seen: dict[Path, float] | None = None
        """When the lock of each written session was seen first; None before the first reading."""
        self.reported: dict[Key, StateReport] = {}

    def refresh(self, now: float, keys: Container[Key] | None = None) -> bool:
        """`keys` is not used: all locks are read, one for each session that runs. A session without a prompt
        is not written, such as the one before `--resume` opens another."""
        before, self.reported = self.reported, {}
        earlier, self._seen = self._seen, {}
        for folder in self._folders:
            locks = own_files(folder, self._uid, lambda name: name.endswith(_ENDING))
            for name, stamp in islice(locks, _MOST_LOCKS):
                session_id, path = name.removesuffix(_ENDING), folder / name
                if not (folder.parent / "unified" / session_id / "CURRENT").exists():
                    continue
                seen = self._seen[path] = 0.0 if earlier is None else earlier.get(path, now)
                pid = time_in(json_object(str(path)).get("process_id")) or 0
                holder = self._process(pid, stamp.changed_ns // 10**6)
                if holder and not 0 <= now - seen < _UNLISTED_SECONDS:
                    self.reported[_AGENT, session_id] = StateReport(_AGENT, session_id, Life.LIVE, holder)
        return self.reported != before

    def _process(self, pid: int, written_ms: int) -> int:
        """Return the process of the terminal; 0 if the lock is not held, or the system shows no processes."""
        stat = self._proc.stat(pid)
        if stat is None or self._proc.uid(pid) != self._uid or stat.began_ms > written_ms + _TOLERANCE_MS:
            return 0
        parent = self._proc.stat(stat.parent)
        return stat.parent if parent is not None and parent.name.startswith(_AGENT) else pid
