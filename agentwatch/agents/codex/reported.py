"""What Codex reports about its sessions: by its locks, and by its shared server.

The locks are `thread-writer-locks/ID.lock` in its folder.

Observed in Codex 0.169: a process that has a session loaded holds a lock (flock) on an empty file, and
removes the file when it unloads the session. A killed process leaves the file without a lock. Codex forbids
debuggers to attach, so that other programs of the user cannot read which files it has open; /proc/locks shows
the locks to everyone. The lock itself is not asked for: that would keep Codex from taking it.

The server is asked for the states of its threads only while a session is loaded. A terminal may have a server
of its own instead, which nobody can ask.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Container, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from agentwatch.agents.described import own_files
from agentwatch.agents.found import Key
from agentwatch.agents.reported import Life, Said
from agentwatch.sources.proc import Proc

if TYPE_CHECKING:
    from agentwatch.agents.codex.server import CodexServer, Thread

_AGENT = "codex"
_SECONDS = 1.0
_ENDING = ".lock"
_SOCKET = "app-server-control/app-server-control.sock"


class CodexReports:
    """Reads which sessions are loaded, and what the server says about them, at most once a second."""

    def __init__(self, folders: Iterable[Path], uid: int, proc: Proc) -> None:
        self._folders = tuple(folders)
        self._uid = uid
        self._proc = proc
        self._due = 0.0
        self._servers: dict[Path, CodexServer] = {}
        """The servers that have been asked, by their sockets."""
        self.said: dict[Key, Said] = {}
        self.is_exact = False
        """Whether a session without a lock is not loaded."""

    def refresh(self, now: float, keys: Container[Key] | None = None) -> bool:
        """Read the locks if it is time, and return whether something new is said. `now` is in seconds. `keys`
        is not used: all files are read, or those whose time has come."""
        if 0 <= self._due - now <= _SECONDS:
            return False
        self._due = now + _SECONDS
        locks = {folder: [*own_files(folder, self._uid, _is_lock)] for folder in self._folders}
        holders = self._proc.lock_holders() if any(locks.values()) else {}
        said = {}
        for folder, files in locks.items():
            ids = {
                name.removesuffix(_ENDING): state
                for name, state in files
                if holders is None or state.inode in holders
            }
            threads, source = self._threads(folder.parent / _SOCKET, now, ids) if ids else ({}, "")
            for session_id, state in ids.items():
                pid, thread = (holders or {}).get(state.inode), threads.get(session_id)
                if pid is None and thread is None:
                    continue
                known = Said(_AGENT, session_id, Life.LIVE, pid, began_ms=state.changed_ns // 10**6)
                if thread is not None and thread.state is not None:
                    known = known._replace(state=thread.state, about=thread.about, source=source)
                said[_AGENT, session_id] = known
        is_exact = holders is not None and any(folder.is_dir() for folder in self._folders)
        has_changed = (said, is_exact) != (self.said, self.is_exact)
        self.said, self.is_exact = said, is_exact
        return has_changed

    def _threads(self, socket: Path, now: float, ids: Collection[str]) -> tuple[Mapping[str, Thread], str]:
        """Return what the server of a socket says about its threads, and its name; nothing without one."""
        server = self._servers.get(socket)
        if server is None and os.path.lexists(socket):
            from agentwatch.agents.codex.server import CodexServer  # a prompt starts without it

            server = self._servers[socket] = CodexServer(socket, self._uid)
        if server is None:
            return {}, ""
        server.refresh(now, ids)
        return server.threads, f"server {socket}"


def _is_lock(name: str) -> bool:
    return name.endswith(_ENDING) and not name.startswith(".")
