"""Reads the rows of a session from `opencode.db`, an SQLite database in which opencode keeps all sessions.

The database is opened for each reading, and closed again: an open connection would keep opencode from
removing its write-ahead log. The size and the modification time of the files show whether anything changed.
"""

from __future__ import annotations

import errno
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agentwatch.sources.stores.sqlite_file import log_of, queried, stored_columns
from agentwatch.wire.opencode.rows import (
    MessageRow,
    PartRow,
    Rows,
    SessionRow,
    as_object,
    as_text,
    as_time,
)

if TYPE_CHECKING:
    import sqlite3

_COLUMNS = {
    "session": ("id", "parent_id", "directory", "version", "time_created", "time_updated"),
    "message": ("id", "session_id", "time_created", "time_updated", "data"),
    "part": ("id", "session_id", "message_id", "time_created", "time_updated", "data"),
}
"""The tables that are read, with the columns that each must have. Others hold the user's credentials."""
_OPTIONAL = ("title", "agent", "model", "revert")
"""Columns of `session` that older versions lack."""
_MOST_SESSIONS = 10_000
_FRESH_NS = 100_000_000
"""Files that were written less than 100 ms before a reading are read again: the clock of a file system may
advance only every 10 ms, and another write in that time would not be noticed."""


class Database:
    """Reads one session, and its subagents' sessions, from a database."""

    def __init__(self, path: Path, session_id: str | None) -> None:
        """Read a session.

        Args:
            path: The database.
            session_id: The session; None for the main session that was changed last.
        """
        self._path = path
        self._session_id = session_id
        self._seen: tuple[object, ...] = ()
        """The sizes and times of the files when they were read last."""
        self._is_fresh = False
        self._updated: dict[str, int] = {}
        """When each message and part was changed last, by its id."""

    def has_changed(self) -> bool:
        """Return whether the files have changed since they were read."""
        return self._is_fresh or self._signature() != self._seen

    def read(self) -> Rows:
        """Return all sessions, and the messages and parts that were changed since the last reading.

        Raises:
            OSError: The database cannot be read: it is locked, damaged, or not opencode's.
        """
        signature, now_ns = self._signature(), time.time_ns()
        rows, updated = queried(self._path, _COLUMNS.keys(), self._rows)
        self._updated |= updated
        self._seen = signature
        self._is_fresh = any(abs(now_ns - each[2]) < _FRESH_NS for each in signature)
        return rows

    def _signature(self) -> tuple[tuple[int, int, int], ...]:
        """Return the inode, size and modification time of the database and of its write-ahead log."""
        found = []
        for name in (self._path, log_of(self._path)):
            try:
                status = os.stat(name)
            except FileNotFoundError:
                continue
            found.append((status.st_ino, status.st_size, status.st_mtime_ns))
        return tuple(found)

    def _rows(self, connection: sqlite3.Connection) -> tuple[Rows, dict[str, int]]:
        connection.execute("BEGIN")
        sessions = self._sessions(connection)
        messages: list[MessageRow] = []
        parts: list[PartRow] = []
        updated: dict[str, int] = {}
        for session in sessions:
            messages += (
                MessageRow(row[0], session.id, as_time(row[2]), as_object(row[3]))
                for row in _changed(connection, _MESSAGES, session.id, self._updated, updated)
            )
            parts += (
                PartRow(row[0], row[4], session.id, as_time(row[2]), as_object(row[3]))
                for row in _changed(connection, _PARTS, session.id, self._updated, updated)
            )
        return Rows(sessions, messages, parts), updated

    def _sessions(self, connection: sqlite3.Connection) -> list[SessionRow]:
        """Return the session that is shown, and its subagents' sessions, each after its parent."""
        columns = {table: stored_columns(connection, table) for table in _COLUMNS}
        if any(not columns[table].issuperset(needed) for table, needed in _COLUMNS.items()):
            raise OSError(errno.EINVAL, "it has no sessions that this version can read", str(self._path))
        chosen = [*_COLUMNS["session"], *(name for name in _OPTIONAL if name in columns["session"])]
        select = f"SELECT {', '.join(chosen)} FROM session "  # noqa: S608 - the names are constants
        if self._session_id is None:
            where = "WHERE parent_id IS NULL ORDER BY time_updated DESC, id LIMIT 1"
            found = connection.execute(select + where).fetchall()
        else:
            found = connection.execute(select + "WHERE id = ?", (self._session_id,)).fetchall()
        if not found:
            name = "session" if self._session_id is None else f"session {self._session_id}"
            raise OSError(errno.ENOENT, f"it has no {name}", str(self._path))
        sessions: list[SessionRow] = []
        known: set[str] = set()
        while found and len(sessions) < _MOST_SESSIONS:
            row = dict(zip(chosen, found.pop(0), strict=True))
            session = _session(row)
            if session.id in known:
                continue
            known.add(session.id)
            sessions.append(session)
            found += connection.execute(select + "WHERE parent_id = ? ORDER BY time_created", (session.id,))
        self._session_id = sessions[0].id
        return sessions


_MESSAGES = (
    "SELECT id, time_updated FROM message WHERE session_id = ?",
    "SELECT id, time_updated, time_created, data, session_id FROM message WHERE id = ?",
)
_PARTS = (
    "SELECT id, time_updated FROM part WHERE session_id = ?",
    "SELECT id, time_updated, time_created, data, message_id FROM part WHERE id = ?",
)


def _changed(
    connection: sqlite3.Connection,
    queries: tuple[str, str],
    session_id: str,
    known: dict[str, int],
    updated: dict[str, int],
) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of a session that are new or were changed, and note the times of their changes."""
    times, row_by_id = queries
    for row_id, changed in connection.execute(times, (session_id,)).fetchall():
        if isinstance(row_id, str) and (row_id not in known or known[row_id] != changed):
            for row in connection.execute(row_by_id, (row_id,)):
                if isinstance(row[4], str):
                    updated[row_id] = changed
                    yield row


def _session(row: dict[str, Any]) -> SessionRow:
    info = {
        "id": row["id"],
        "parentID": as_text(row["parent_id"]),
        **{key: as_text(row.get(key)) for key in ("directory", "title", "version", "agent")},
        "model": as_object(row.get("model")) or None,
    }
    return SessionRow(
        id=as_text(row["id"]) or "",
        parent_id=as_text(row["parent_id"]),
        created=as_time(row["time_created"]),
        info=info,
        reverted_to=as_text(as_object(row.get("revert")).get("messageID")),
    )
