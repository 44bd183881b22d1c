"""The databases in which opencode and Goose keep all sessions. Only the columns named here are read.

A database is opened for each reading and closed again, at most once a second and only if its files have
changed. Others of its tables hold the user's credentials.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from agentwatch.machine.found import Found, Metadata, Reach
from agentwatch.machine.places.beside import folder_in, id_in, is_id, name_in, text_in, time_in
from agentwatch.machine.places.folder import Kind, Spot, Stamp
from agentwatch.sources.stores.sqlite_file import queried, stored_columns
from agentwatch.wire.on_disk.iso_time import iso_ms

if TYPE_CHECKING:
    import sqlite3

_MOST_ROWS = 100_000
_LOG = "-wal"
_FRESH_NS = 100_000_000
"""A database that was written less than 100 ms before it was read is read again: the clock of a file system
may advance only every 10 ms, and another write in that time would not be noticed."""
Row = Mapping[str, Any]


class Rows:
    """Reads the sessions in one table, and remembers the rows, so that only changed ones are taken apart."""

    def __init__(self, table: str, columns: Sequence[str], found: Callable[[Path, Row], Found]) -> None:
        """Read the sessions of a table.

        Args:
            table: The table.
            columns: The columns that are read; those that the table does not have are None in the row.
                The first one is the id.
            found: Returns the session in a row, given its address.
        """
        self._table = table
        self._columns = columns
        self._found = found
        self._known: dict[str, dict[str, tuple[tuple[object, ...], Found]]] = {}
        """The rows and their sessions, by the id, for each database."""

    def read(self, spot: Spot) -> Sequence[Found]:
        """Return the sessions in a database.

        Raises:
            OSError: It cannot be read now.
        """
        path, stamp = spot.path, spot.stamp
        if stamp is None:
            self._known.pop(path, None)
            return []
        known = self._known.get(path, {})
        spot.folder.files[spot.name] = stamp._replace(changed_ns=-1)  # it is read again if this fails
        rows = self._rows(Path(path))
        if abs(time.time_ns() - stamp.changed_ns) >= _FRESH_NS:
            spot.folder.files[spot.name] = stamp
        now = self._known[path] = {}
        for row in rows:
            session_id = row[0]
            if not is_id(session_id) or session_id in now:
                continue
            values, found = known.get(session_id, (None, None))
            if found is None or values != row:
                found = self._of(Path(path, session_id), dict(zip(self._columns, row, strict=True)), stamp)
            now[session_id] = (row, found)
        return [found for _, found in now.values()]

    def _of(self, path: Path, row: Row, stamp: Stamp) -> Found:
        found = self._found(path, row)
        changed_ms = found.metadata.changed_ms
        changed_ns = stamp.changed_ns if changed_ms is None else changed_ms * 10**6
        return found._replace(changed_ns=changed_ns, inode=stamp.inode)

    def _rows(self, path: Path) -> list[tuple[object, ...]]:
        """Return the rows of the table; none if it has not got the table, or Python has no SQLite.

        Raises:
            OSError: They cannot be read.
        """
        if find_spec("_sqlite3") is None:
            return []
        return queried(path, (self._table,), self._select)

    def _select(self, connection: sqlite3.Connection) -> list[tuple[object, ...]]:
        there = stored_columns(connection, self._table)
        if self._columns[0] not in there:
            return []
        chosen = ", ".join(name if name in there else f"NULL AS {name}" for name in self._columns)
        select = f"SELECT {chosen} FROM {self._table} LIMIT {_MOST_ROWS}"  # noqa: S608 - constants
        return connection.execute(select).fetchall()


def _opencode(path: Path, row: Row) -> Found:
    model: object = None
    if isinstance(row["model"], str):
        with suppress(ValueError):
            model = orjson.loads(row["model"])
    metadata = Metadata(
        title=text_in(row["title"]),
        cwd=folder_in(row["directory"]),
        model=name_in(model.get("id")) if isinstance(model, dict) else None,
        began_ms=time_in(row["time_created"]),
        changed_ms=time_in(row["time_updated"]),
        is_archived=time_in(row["time_archived"]) is not None,
    )
    return Found("opencode", row["id"], path, 0, 0, 0, Reach.STORE, id_in(row["parent_id"]), metadata)


def _goose(path: Path, row: Row) -> Found:
    metadata = Metadata(
        title=text_in(row["name"]) or text_in(row["description"]),
        cwd=folder_in(row["working_dir"]),
        began_ms=_time(row["created_at"]),
        changed_ms=_time(row["updated_at"]),
    )
    return Found("goose", row["id"], path, 0, 0, 0, Reach.LISTED, None, metadata)


def _time(value: object) -> int | None:
    """Return a time of Goose: `2026-11-21 23:00:00` in UTC."""
    return iso_ms(value) if isinstance(value, str) else time_in(value)


def _database_of(name: str, accepts: Callable[[str], bool]) -> str | None:
    """Return the database that a file belongs to: itself, or the one whose log it is."""
    database = name.removesuffix(_LOG)
    return database if accepts(database) else None


_OPENCODE_COLUMNS = (
    *("id", "parent_id", "directory", "title", "model"),
    *("time_created", "time_updated", "time_archived"),
)
_GOOSE_COLUMNS = ("id", "name", "description", "working_dir", "created_at", "updated_at")


def is_opencode_database(name: str) -> bool:
    """Return whether a file has the name of a database of opencode."""
    return name.startswith("opencode") and name.endswith(".db")


def opencode_databases(below: Callable[[str], Kind | None], only: str = "") -> Kind:
    """Return the kind of a folder with databases of opencode: `opencode.db`, or `opencode-CHANNEL.db`.

    Args:
        below: What the folders in it hold.
        only: The name of the only file that counts; empty for these two forms.
    """
    accepts = only.__eq__ if only else is_opencode_database
    rows = Rows("session", _OPENCODE_COLUMNS, _opencode)
    return Kind("opencode", lambda name: _database_of(name, accepts), rows.read, below=below, is_polled=True)


def goose_database() -> Kind:
    """Return the kind of the folder with the database of Goose, `sessions.db`."""
    rows = Rows("sessions", _GOOSE_COLUMNS, _goose)
    return Kind("goose", lambda name: _database_of(name, "sessions.db".__eq__), rows.read, is_polled=True)
