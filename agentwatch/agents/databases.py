"""The databases in which agents keep all sessions. Only the columns that are asked for are read: other
tables hold the user's credentials."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from agentwatch.agents.description_files import is_id
from agentwatch.agents.places import Spot, Stamp
from agentwatch.agents.session_entry import SessionEntry
from agentwatch.base.clock import wall_ns
from agentwatch.sources.stores.sqlite_file import queried, stored_columns

if TYPE_CHECKING:
    import sqlite3

_MOST_ROWS = 100_000
_LOG = "-wal"
_FRESH_NS = 100_000_000
"""A younger one is read again: another write within the 10 ms of a file system's clock is not noticed."""
Row = Mapping[str, Any]


class Computed(NamedTuple):
    name: str
    select: str
    own: tuple[str, ...]
    needs: Mapping[str, tuple[str, ...]]
    """The columns of other tables that it reads. Without one of them, or an index that begins with the first,
    the value is None: looking it up for each session would read the whole table each time."""


class Rows:
    """Reads the sessions in one table, and remembers the rows, so that only changed ones are taken apart."""

    def __init__(
        self,
        table: str,
        columns: Sequence[str],
        found: Callable[[Path, Row], SessionEntry],
        computed: Sequence[Computed] = (),
    ) -> None:
        """Read the sessions of a table. `columns` begin with the id; those that the table does not have are
        None in the row. `computed` are values that other tables have; the row has them by their names."""
        self._table = table
        self._computed = computed
        self._columns = columns
        self._found = found
        self._known: dict[str, dict[str, tuple[tuple[object, ...], SessionEntry]]] = {}
        """The rows and their sessions, by the id, for each database."""

    def read(self, spot: Spot) -> Sequence[SessionEntry]:
        """Return the sessions in a database. Raise `OSError` if it cannot be read now."""
        path, stamp = spot.path, spot.stamp
        if stamp is None:
            self._known.pop(path, None)
            return []
        known = self._known.get(path, {})
        spot.folder.files[spot.name] = stamp._replace(changed_ns=-1)  # it is read again if this fails
        rows = self._rows(Path(path))
        if abs(wall_ns() - stamp.changed_ns) >= _FRESH_NS:
            spot.folder.files[spot.name] = stamp
        now = self._known[path] = {}
        for row in rows:
            session_id = row[0]
            if not is_id(session_id) or session_id in now:
                continue
            values, found = known.get(session_id, (None, None))
            if found is None or values != row:
                names = [*self._columns, *(each.name for each in self._computed)]
                found = self._of(Path(path, session_id), dict(zip(names, row, strict=True)), stamp)
            now[session_id] = (row, found)
        return [found for _, found in now.values()]

    def _of(self, path: Path, row: Row, stamp: Stamp) -> SessionEntry:
        found = self._found(path, row)
        changed_ms = found.metadata.changed_ms
        changed_ns = stamp.changed_ns if changed_ms is None else changed_ms * 10**6
        return found._replace(changed_ns=changed_ns, inode=stamp.inode)

    def _rows(self, path: Path) -> list[tuple[object, ...]]:
        if find_spec("_sqlite3") is None:
            return []
        tables = {self._table, *(name for each in self._computed for name in each.needs)}
        return queried(path, tables, self._select)

    def _select(self, connection: sqlite3.Connection) -> list[tuple[object, ...]]:
        there = stored_columns(connection, self._table)
        if self._columns[0] not in there:
            return []
        chosen = ", ".join(name if name in there else f"NULL AS {name}" for name in self._columns)
        for each in self._computed:
            is_there = there.issuperset(each.own) and all(
                _can_look_up(connection, *need) for need in each.needs.items()
            )
            chosen += f", {each.select if is_there else 'NULL'} AS {each.name}"
        select = f"SELECT {chosen} FROM {self._table} LIMIT {_MOST_ROWS}"  # noqa: S608 - constants
        return connection.execute(select).fetchall()


def _can_look_up(connection: sqlite3.Connection, table: str, columns: Sequence[str]) -> bool:
    if not stored_columns(connection, table).issuperset(columns):
        return False
    made = connection.execute("SELECT sql FROM sqlite_master WHERE type = 'index' AND tbl_name = ?", (table,))
    return any(f"ON `{table}` (`{columns[0]}`" in f"{sql}" for (sql,) in made)


def database_of(name: str, accepts: Callable[[str], bool]) -> str | None:
    database = name.removesuffix(_LOG)
    return database if accepts(database) else None
