"""Reads an SQLite database of another program: chosen tables only, without a trace on disk and without delay.
The file may be damaged, or made so that reading it takes memory or time without end: only stored columns are
read, a value and all values together are limited, and so is the time.
"""

from __future__ import annotations

import errno
import os
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar
from urllib.parse import quote

if TYPE_CHECKING:
    import sqlite3

_Result = TypeVar("_Result")
_BUSY_SECONDS = 0.05
_MOST_SECONDS = 10.0
"""The longest time for which a database is open. A list of 10,000 sessions takes 0.1 s."""
_STEPS = 100_000
"""The time is checked after this number of instructions of SQLite, about 1 ms."""
_MOST_VALUE_BYTES = 64 << 20
_MORE_BYTES = 1 << 20
_PAUSES = (0.0, 0.01, 0.04)
"""The pauses before each attempt to read a database that changes, in seconds."""
_HEADER_BYTES = 28
_WRITE_VERSION = slice(18, 19)
_CHANGE_COUNTER = slice(24, 28)
_WAL = b"\x02"
"""The write version of a database with a write-ahead log."""
_JOURNAL = b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7"
"""The beginning of a rollback journal whose pages may be in the database in part."""
_SQLITE_SELECT, _SQLITE_READ, _SQLITE_PRAGMA, _SQLITE_TRANSACTION = 21, 20, 19, 22
_SQLITE_OK, _SQLITE_DENY = 0, 1


def log_of(path: Path) -> str:
    return f"{path}-wal"


class _State(NamedTuple):
    mode: bytes
    counter: bytes
    inode: int
    size: int
    changed_ns: int
    log_bytes: int | None
    """It is None if there is no such file."""
    is_half_written: bool
    """Whether a transaction of the mode with a rollback journal is written in part."""

    @property
    def is_frozen(self) -> bool:
        """Whether the database is read as a file that does not change, without a lock. With a write-ahead
        log, a reader keeps no writer from writing. Without a log no program has such a database open, and
        reading it would create the log. With a rollback journal, the lock of a reader makes the agent's own
        writes fail: 4 of 580 did."""
        return self.mode != _WAL or self.log_bytes is None


def queried(path: Path, tables: Collection[str], query: Callable[[sqlite3.Connection], _Result]) -> _Result:
    """The query is repeated twice if the database changes meanwhile. Only `tables` can be read."""
    for pause in _PAUSES:
        time.sleep(pause)
        try:
            with opened(path, tables) as connection:
                return query(connection)
        except BlockingIOError as error:
            busy = error
    raise OSError(errno.EBUSY, busy.strerror, str(path))


@contextmanager
def opened(path: Path, tables: Collection[str]) -> Iterator[sqlite3.Connection]:
    """Open a database for reading, and close it again. Only `tables` can be read."""
    import sqlite3

    before = _state(path)
    if before.is_half_written:
        raise BlockingIOError(errno.EAGAIN, "it is being written by another program", str(path))
    uri = f"file:{quote(os.path.abspath(path))}?mode=ro{'&immutable=1' if before.is_frozen else ''}"
    try:
        connection = sqlite3.connect(uri, uri=True, timeout=_BUSY_SECONDS, isolation_level=None)
        with closing(connection):
            connection.text_factory = lambda data: data.decode("utf-8", "replace")
            connection.row_factory = _counted(2 * (before.size + (before.log_bytes or 0)) + _MORE_BYTES, path)
            connection.execute("PRAGMA query_only = 1")
            connection.execute("PRAGMA trusted_schema = 0")
            connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _MOST_VALUE_BYTES)
            until = time.monotonic() + _MOST_SECONDS
            connection.set_progress_handler(lambda: time.monotonic() > until, _STEPS)
            connection.set_authorizer(_reader_of(tables))
            yield connection
    except (sqlite3.Error, UnicodeDecodeError) as error:  # the words of SQLite may contain bytes of the file
        _check_unchanged(path, before)
        raise _as_os_error(error, path) from None
    _check_unchanged(path, before)


def stored_columns(connection: sqlite3.Connection, table: str) -> frozenset[str]:
    """The columns of an ordinary table whose values are in the file. A generated column can compute a
    gigabyte from nothing, a view can show another table, and a virtual table runs a module of SQLite."""
    found = connection.execute("SELECT type, sql FROM sqlite_master WHERE name = ?", (table,)).fetchall()
    if len(found) != 1 or found[0][0] != "table" or not f"{found[0][1]}".startswith("CREATE TABLE "):
        return frozenset()
    *_, hidden = range(7)
    return frozenset(row[1] for row in connection.execute(f"PRAGMA table_xinfo({table})") if not row[hidden])


def _state(path: Path) -> _State:
    header, status = _head(path, _HEADER_BYTES)
    try:
        log_bytes = os.stat(log_of(path)).st_size
    except OSError:
        log_bytes = None
    try:
        is_half_written = _head(Path(f"{path}-journal"), len(_JOURNAL))[0] == _JOURNAL
    except OSError:
        is_half_written = False
    mode, counter = header[_WRITE_VERSION], header[_CHANGE_COUNTER]
    return _State(
        mode, counter, status.st_ino, status.st_size, status.st_mtime_ns, log_bytes, is_half_written
    )


def _head(path: Path, size: int) -> tuple[bytes, os.stat_result]:
    fd = os.open(path, os.O_RDONLY | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NONBLOCK", 0))
    try:
        return os.pread(fd, size, 0), os.fstat(fd)
    finally:
        os.close(fd)


def _check_unchanged(path: Path, before: _State) -> None:
    if before.is_frozen and _state(path) != before:
        raise BlockingIOError(errno.EAGAIN, "it changes while it is read", str(path))


def _counted(most: int, path: Path) -> Callable[[object, tuple[Any, ...]], tuple[Any, ...]]:
    """Pass rows until their values together are larger than a number of bytes."""
    left = most

    def row(_cursor: object, values: tuple[Any, ...]) -> tuple[Any, ...]:
        nonlocal left
        left -= sum(len(value) for value in values if isinstance(value, (str, bytes)))
        if left < 0:
            raise OSError(errno.EFBIG, "the database is damaged: its values are larger than it", str(path))
        return values

    return row


def _reader_of(tables: Collection[str]) -> Callable[..., int]:
    """Allow to read some tables, and nothing else; a view or a trigger could read the others."""

    def is_allowed(action: int, first: str | None, second: str | None, *_: str | None) -> int:
        if action == _SQLITE_READ:
            is_fine = first in tables or first == "sqlite_master"
        elif action == _SQLITE_PRAGMA:
            is_fine = first == "table_xinfo" and second in tables
        else:
            is_fine = action in (_SQLITE_SELECT, _SQLITE_TRANSACTION)
        return _SQLITE_OK if is_fine else _SQLITE_DENY

    return is_allowed


def _as_os_error(error: Exception, path: Path) -> OSError:
    name = getattr(error, "sqlite_errorname", "")
    if name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
        return OSError(errno.EBUSY, "it is locked by another program", str(path))
    if isinstance(error, UnicodeDecodeError) or name.startswith(("SQLITE_CORRUPT", "SQLITE_NOTADB")):
        return OSError(errno.EIO, "the database is damaged", str(path))
    if name == "SQLITE_INTERRUPT":
        return OSError(errno.ETIMEDOUT, f"reading it takes longer than {_MOST_SECONDS:.0f} s", str(path))
    if name == "SQLITE_TOOBIG":
        return OSError(errno.EFBIG, f"it has a value over {_MOST_VALUE_BYTES >> 20} MiB", str(path))
    if name in ("SQLITE_ERROR", "SQLITE_AUTH"):  # a table or a column is missing, or is not a plain table
        return OSError(errno.EINVAL, "it has no sessions that this version can read", str(path))
    return OSError(errno.EIO, f"{error}".partition("\n")[0] or "the database cannot be read", str(path))
