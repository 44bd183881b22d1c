"""The database of the index: its file, what is written to it, and how it is brought up to date."""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing, contextmanager, suppress
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from agentwatch.agents.session_entry import Reach, SessionEntry
from agentwatch.base.files import state_folder
from agentwatch.catalog.index_schema import (
    INDEXES,
    MARK_COPIES,
    MARK_DUPLICATES,
    SCHEMA,
    TABLES,
    VERSION,
    changed_ns_of,
    path_of,
)
from agentwatch.recording.store import create_file, open_regular, private_folder

if TYPE_CHECKING:
    from agentwatch.catalog.index_rows import Rows
    from agentwatch.catalog.places import Known

_BUSY_SECONDS = 60.0
"""How long an update waits for the transaction of another one, which takes less than a second."""
_SUFFIXES = ("", "-wal", "-shm")
_SESSION, *_PARTS = TABLES
_INSERT_SESSION, *_INSERT_PARTS = [
    f"INSERT INTO {table} ({', '.join(names)}) VALUES ({', '.join('?' * len(names))})"  # noqa: S608 - constants
    for table, columns in TABLES.items()
    for names in [[*columns] if table == _SESSION else ["session", *columns]]
]


def index_path() -> Path:
    return state_folder() / "index.db"


def remove_index(path: Path) -> None:
    """Remove an index that is not open; it is built again when it is opened. Raise `OSError`."""
    for suffix in _SUFFIXES:
        path.with_name(path.name + suffix).unlink(missing_ok=True)


class SessionIndex:
    """Several processes may use it at the same time. It stays valid if one of them is killed."""

    def __init__(self, path: Path, program: str) -> None:
        """Open an index; create it if it does not exist, or is of another version. `program` is the version
        of agentwatch: another one may read a session differently. Raise `OSError` if the file or its folder
        cannot be created, or is a link, and `sqlite3.Error` if the database cannot be used."""
        self._program = program
        self.path = path
        self.was_damaged = False
        """Whether the file was no database, and was replaced."""
        private_folder(path.parent)
        connection = _connected(path)
        try:
            is_ours = self._is_ours(connection)
        except sqlite3.OperationalError:  # locked, or the disk is full
            connection.close()
            raise
        except sqlite3.DatabaseError:  # it is not a database
            is_ours, self.was_damaged = False, True
        if not is_ours:
            connection.close()
            remove_index(path)
            connection = _connected(path)
        self.connection = connection
        """Only the index itself writes its tables; others query them."""
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = NORMAL")
        if connection.execute("PRAGMA user_version").fetchone() == (0,):
            self._create()

    def stamps(self) -> dict[str, Known]:
        """Return the size and the time of change of each session, in bytes and ns, and its agent and id, by
        its path."""
        found = self.connection.execute(
            "SELECT path, size, changed_ns, agent, session_id FROM stored_session"
        )
        return {row[0]: row[1:] for row in found}

    def replace(self, sessions: Sequence[Rows], *, keeps_same: bool = False) -> None:
        """With `keeps_same`, a session that another process has stored meanwhile keeps its rows and id."""
        where = "SELECT size, changed_ns FROM stored_session WHERE path = ?"
        with self._transaction():
            stamps = [self.connection.execute(where, rows.session[:1]).fetchone() for rows in sessions]
            if keeps_same:
                found = zip(sessions, stamps, strict=True)
                sessions = [rows for rows, stamp in found if stamp != _STAMP(rows.session)]
            if any(stamps):
                self._remove(rows.session[0] for rows in sessions)
            for session, *parts in sessions:
                key = self.connection.execute(_INSERT_SESSION, session).lastrowid
                for insert, rows in zip(_INSERT_PARTS, parts, strict=True):
                    self.connection.executemany(insert, ((key, *row) for row in rows))

    def remove(self, paths: Iterable[str]) -> None:
        with self._transaction():
            self._remove(paths)

    def mark_duplicates(self) -> None:
        """Find sessions that are in it as our recording and as the agent's file, or that copy a history. The
        SQL indexes for that search and for `find --path` are created first."""
        with self._transaction():
            for statement in (*INDEXES, *MARK_DUPLICATES, *MARK_COPIES):
                self.connection.execute(statement)

    def counts(self) -> tuple[int, int]:
        """The sessions and the calls, without those that are there twice."""
        query = "SELECT count(*), coalesce(sum(calls), 0) FROM session"
        sessions, calls = self.connection.execute(query).fetchone()
        return sessions, calls

    def snapshot(self) -> AbstractContextManager[None]:
        """Let all queries see one state, whatever other processes write meanwhile."""
        return self._transaction("BEGIN")

    def close(self) -> None:
        self.connection.close()

    def _is_ours(self, connection: sqlite3.Connection) -> bool:
        """An empty database is ours too."""
        [version] = connection.execute("PRAGMA user_version").fetchone()
        if version == 0:
            tables: object = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
            return tables == (0,)
        if version != VERSION:
            return False
        made_by: object = connection.execute("SELECT program FROM made_by").fetchone()
        return made_by == (self._program,)

    def _create(self) -> None:
        """Another process may have done so in the meantime."""
        with self._transaction():
            if self.connection.execute("PRAGMA user_version").fetchone() != (0,):
                return
            for statement in SCHEMA.split(";\n"):
                self.connection.execute(statement)
            self.connection.execute("INSERT INTO made_by VALUES (?)", (self._program,))
            self.connection.execute(f"PRAGMA user_version = {VERSION}")

    def _remove(self, paths: Iterable[str]) -> None:
        found = [(path,) for path in paths]
        where = "FROM stored_session WHERE path = ?"
        execute = self.connection.executemany
        for table in _PARTS:
            execute(f"DELETE FROM {table} WHERE session = (SELECT id {where})", found)  # noqa: S608 - constants
        execute(f"DELETE {where}", found)

    @contextmanager
    def _transaction(self, begin: str = "BEGIN IMMEDIATE") -> Iterator[None]:
        self.connection.execute(begin)
        try:
            yield
        except BaseException:  # also a signal: half of a session must not be committed; it is raised again
            with suppress(sqlite3.Error):  # a full disk has rolled back already
                self.connection.execute("ROLLBACK")
            raise
        self.connection.execute("COMMIT")


def _connected(path: Path) -> sqlite3.Connection:
    """Open a database that only the user may read: SQLite would follow a link, and let others read it."""
    try:
        fd = create_file(path)
    except FileExistsError:
        fd = open_regular(path)
    os.close(fd)
    return sqlite3.connect(path, timeout=_BUSY_SECONDS, isolation_level=None)


_MOST_CALLS = 2_000
"""Sessions are written after this many calls. The reading processes have work for 0.03 s meanwhile."""
_MOST_SECONDS = 1.0
"""Sessions are written after this time. A process that is killed loses what was read since."""
_PROBLEM = [*TABLES[_SESSION]].index("problem")
_STAMP = itemgetter(*map([*TABLES[_SESSION]].index, ("size", "changed_ns")))


class Updated(NamedTuple):
    read: int = 0
    """The number of sessions that are new or have changed."""
    size: int = 0
    """Their bytes."""
    removed: int = 0
    unreadable: int = 0
    """The number of those in `read` that could not be read."""


def update(
    index: SessionIndex,
    every: Iterable[SessionEntry],
    progress: Callable[[int, int], None] | None = None,
    stamps: Mapping[str, Known] | None = None,
    same: Container[str] = (),
) -> Updated:
    """Read the sessions that are new or have changed, and remove those that no longer exist. `progress` gets
    the bytes that were read, and those to be read. Sessions at the paths in `same` are as in `stamps`. Raise
    `sqlite3.Error` if the index cannot be written."""
    sessions = {path_of(found): found for found in every if found.reach is not Reach.LISTED}
    stamps = index.stamps() if stamps is None else stamps
    gone = [path for path in stamps if path not in sessions and path not in same]
    due = [
        found
        for path, found in sessions.items()
        if path not in stamps or stamps[path][:2] != (found.size, changed_ns_of(found))
    ]
    if not due and not gone:
        return Updated()
    from agentwatch.catalog.reader_processes import read_sessions  # imports all that decodes: 30 ms

    index.remove(gone)
    total, done, unreadable = sum(found.size for found in due), 0, 0
    read: list[Rows] = []
    calls, written_at = 0, time.monotonic()
    with closing(read_sessions(due)) as returned:
        for found, rows in returned:
            read.append(rows)
            calls += len(rows.calls)
            unreadable += rows.session[_PROBLEM] is not None
            done += found.size
            if progress is not None:
                progress(done, total)
            if calls >= _MOST_CALLS or time.monotonic() - written_at >= _MOST_SECONDS:
                index.replace(read, keeps_same=True)
                read, calls, written_at = [], 0, time.monotonic()
    index.replace(read, keeps_same=True)
    index.mark_duplicates()
    return Updated(len(due), done, len(gone), unreadable)
