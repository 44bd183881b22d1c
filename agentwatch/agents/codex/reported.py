"""The locks of Codex on its sessions: `thread-writer-locks/ID.lock` in its folder.

Observed in Codex 0.169: a process that has a session loaded holds a lock (flock) on an empty file, and
removes the file when it unloads the session. A killed process leaves the file without a lock. Codex forbids
debuggers to attach, so that other programs of the user cannot read which files it has open; /proc/locks shows
the locks to everyone. The lock itself is not asked for: that would keep Codex from taking it.
"""

from __future__ import annotations

from collections.abc import Container, Iterable
from pathlib import Path

from agentwatch.agents.found import Key
from agentwatch.agents.reported import Life, Said
from agentwatch.agents.small_files import own_files
from agentwatch.sources.proc import Proc

_AGENT = "codex"
_SECONDS = 1.0
_ENDING = ".lock"


class CodexLocks:
    """Reads which sessions are loaded, at most once a second."""

    def __init__(self, folders: Iterable[Path], uid: int, proc: Proc) -> None:
        """Create it without sessions.

        Args:
            folders: The folders `thread-writer-locks`.
            uid: The user whose files count.
            proc: Where the locks are read.
        """
        self._folders = tuple(folders)
        self._uid = uid
        self._proc = proc
        self._due = 0.0
        self.said: dict[Key, Said] = {}
        self.is_exact = False
        """Whether a session without a lock is not loaded."""

    def refresh(self, now: float, keys: Container[Key] | None = None) -> bool:  # noqa: ARG002 - few files
        """Read the locks if it is time, and return whether something new is said.

        Args:
            now: The time, in seconds since the epoch.
            keys: Not used: all files are read, or those whose time has come.
        """
        if 0 <= self._due - now <= _SECONDS:
            return False
        self._due = now + _SECONDS
        files = [each for folder in self._folders for each in own_files(folder, self._uid, _is_lock)]
        holders = self._proc.lock_holders() if files else {}
        said = {}
        for name, state in files:
            session_id = name.removesuffix(_ENDING)
            if (pid := (holders or {}).get(state.inode)) is not None:
                said[_AGENT, session_id] = Said(
                    _AGENT, session_id, Life.LIVE, pid, began_ms=state.changed_ns // 10**6
                )
        is_exact = holders is not None and any(folder.is_dir() for folder in self._folders)
        has_changed = (said, is_exact) != (self.said, self.is_exact)
        self.said, self.is_exact = said, is_exact
        return has_changed


def _is_lock(name: str) -> bool:
    return name.endswith(_ENDING) and not name.startswith(".")
