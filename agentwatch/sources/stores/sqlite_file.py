"""Opens an SQLite database of another program for reading: chosen tables only, without a trace on disk."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Collection, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

if TYPE_CHECKING:
    import sqlite3

_BUSY_SECONDS = 0.05
_WRITE_VERSION = 18
_WAL = 2
"""The write version, in byte 18 of the file, of a database with a write-ahead log."""
_SQLITE_SELECT, _SQLITE_READ, _SQLITE_PRAGMA, _SQLITE_TRANSACTION = 21, 20, 19, 22
_SQLITE_OK, _SQLITE_DENY = 0, 1


def log_of(path: Path) -> str:
    """Return the path of a database's write-ahead log."""
    return f"{path}-wal"


@contextmanager
def opened(path: Path, tables: Collection[str]) -> Iterator[tuple[sqlite3.Connection, bool]]:
    """Open a database for reading, and yield it with whether it is read as a file that does not change.

    Reading a database in the mode of a write-ahead log creates the log and its index if they are missing.
    Without a log no program has it open, so it is read as it is.

    Args:
        path: The database.
        tables: The only tables that can be read.
    """
    import sqlite3

    fd = os.open(path, os.O_RDONLY | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NONBLOCK", 0))
    try:
        mode = os.pread(fd, 1, _WRITE_VERSION)
    finally:
        os.close(fd)
    is_frozen = mode == bytes([_WAL]) and not os.path.exists(log_of(path))
    uri = f"file:{quote(os.path.abspath(path))}?mode=ro{'&immutable=1' if is_frozen else ''}"
    connection = sqlite3.connect(uri, uri=True, timeout=_BUSY_SECONDS, isolation_level=None)
    with closing(connection):
        connection.text_factory = lambda data: data.decode("utf-8", "replace")
        connection.execute("PRAGMA query_only = 1")
        connection.execute("PRAGMA trusted_schema = 0")
        connection.set_authorizer(_reader_of(tables))
        yield connection, is_frozen


def _reader_of(tables: Collection[str]) -> Callable[..., int]:
    """Return what allows to read some tables, and nothing else; a view or a trigger could read the others."""

    def is_allowed(action: int, first: str | None, second: str | None, *_: str | None) -> int:
        if action == _SQLITE_READ:
            is_fine = first in tables or first == "sqlite_master"
        elif action == _SQLITE_PRAGMA:
            is_fine = first == "table_info" and second in tables
        else:
            is_fine = action in (_SQLITE_SELECT, _SQLITE_TRANSACTION)
        return _SQLITE_OK if is_fine else _SQLITE_DENY

    return is_allowed


def as_os_error(error: sqlite3.Error, path: Path) -> OSError:
    """Return why a database cannot be read, in words for the user."""
    name = getattr(error, "sqlite_errorname", "")
    if name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
        return OSError(errno.EBUSY, "it is locked by another program", str(path))
    if name.startswith(("SQLITE_CORRUPT", "SQLITE_NOTADB")):
        return OSError(errno.EIO, "the database is damaged", str(path))
    if name in ("SQLITE_ERROR", "SQLITE_AUTH"):  # a table or a column is missing, or is no plain table
        return OSError(errno.EINVAL, "it has no sessions that this version can read", str(path))
    return OSError(errno.EIO, f"{error}".partition("\n")[0] or "the database cannot be read", str(path))
