"""Of a database of another program only chosen tables can be read, and nothing is written."""

import errno
import os
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from agentwatch.sources.stores import sqlite_file
from agentwatch.sources.stores.sqlite_file import opened, queried, stored_columns
from tests.conftest import case

DENIED = [
    "SELECT secret FROM account",
    "SELECT * FROM shown",
    "SELECT (SELECT secret FROM account) FROM session",
    "PRAGMA table_info(account)",
    "PRAGMA table_xinfo(account)",
    "PRAGMA journal_mode",
    "UPDATE session SET id = 'x'",
    "ATTACH DATABASE 'other.db' AS other",
    "CREATE TEMP TABLE t (x)",
]


@pytest.fixture
def database(tmp_path: Path) -> Path:
    """Return a database with sessions and a secret."""
    path = tmp_path / "some ? #%41.db"
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("CREATE TABLE session (id TEXT)")
        connection.execute("INSERT INTO session VALUES ('ses_1')")
        connection.execute("CREATE TABLE account (secret TEXT)")
        connection.execute("CREATE VIEW shown AS SELECT secret FROM account")
    return path


def test_only_a_chosen_table_can_be_read(database: Path) -> None:
    """So can the names of its columns, and of all tables; everything else is refused, also through a view."""
    before = os.listdir(database.parent)
    with opened(database, ("session",)) as connection:
        assert connection.execute("SELECT id FROM session").fetchall() == [("ses_1",)]
        assert connection.execute("PRAGMA table_xinfo(session)").fetchone()[1] == "id"
        names = connection.execute("SELECT name FROM sqlite_master ORDER BY name").fetchall()
        assert names == [("account",), ("session",), ("shown",)]
    assert os.listdir(database.parent) == before
    for statement in DENIED:
        with (
            case(statement),
            opened(database, ("session",)) as connection,
            pytest.raises(sqlite3.DatabaseError),
        ):
            connection.execute(statement)
    # The error that a user sees does not name the other tables.
    with (
        pytest.raises(OSError, match="it has no sessions that this version can read"),
        opened(database, ("session",)) as connection,
    ):
        connection.execute(DENIED[0])


def made(folder: Path, *statements: str) -> Path:
    """Return a database that these statements make."""
    path = folder / f"{len(list(folder.iterdir()))}.db"
    with closing(sqlite3.connect(path)) as connection, connection:
        for statement in statements:
            connection.execute(statement)
    return path


TABLES: dict[str, set[str]] = {
    "CREATE TABLE session (id TEXT, title TEXT)": {"id", "title"},
    'CREATE TABLE "session" (`id` TEXT PRIMARY KEY) WITHOUT ROWID': {"id"},
    "CREATE TABLE session (id TEXT, title AS (hex(zeroblob(500000000))))": {"id"},
    "CREATE TABLE session (id TEXT, title AS (hex(zeroblob(5))) STORED)": {"id"},
    "CREATE VIEW session AS SELECT 1 AS id": set(),
    "CREATE VIRTUAL TABLE session USING fts5(id)": set(),
    "CREATE TABLE other (id TEXT)": set(),
}


def test_only_columns_that_are_stored_are_read(tmp_path: Path) -> None:
    """A column that is computed needs memory that the file has not got; a virtual table runs a module."""
    for statement, columns in TABLES.items():
        with case(statement), opened(made(tmp_path, statement), ("session",)) as connection:
            assert stored_columns(connection, "session") == columns


def test_what_is_too_large_or_slow_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, database: Path
) -> None:
    """A value may have 64 MiB, all values together no more than the file, and reading ends after a time."""
    monkeypatch.setattr(sqlite_file, "_MOST_VALUE_BYTES", 1 << 20)
    path = made(tmp_path, "CREATE TABLE session (id)", "INSERT INTO session VALUES (zeroblob(1048577))")
    with pytest.raises(OSError, match="it has a value over 1 MiB"), opened(path, ("session",)) as connection:
        connection.execute("SELECT id FROM session").fetchall()
    # The default of a column that was added is the value of every row before: 100 MB in a file of 1 MB.
    path = made(
        tmp_path,
        "CREATE TABLE session (id)",
        "INSERT INTO session WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n LIMIT 100) "
        "SELECT i FROM n",
        f"ALTER TABLE session ADD COLUMN title TEXT DEFAULT '{'x' * 1_000_000}'",
    )
    with (
        pytest.raises(OSError, match="its values are larger than it"),
        opened(path, ("session",)) as connection,
    ):
        connection.execute("SELECT title FROM session").fetchall()
    # However long a statement would take.
    monkeypatch.setattr(sqlite_file, "_STEPS", 1)
    monkeypatch.setattr(sqlite_file, "_MOST_SECONDS", -1.0)
    with (
        pytest.raises(OSError, match="reading it takes longer than"),
        opened(database, ("session",)) as connection,
    ):
        connection.execute("SELECT id FROM session").fetchall()


def test_a_writer_is_never_kept_from_writing(database: Path) -> None:
    """Without a write-ahead log, the lock of a reader would make the agent's own writes fail."""
    with closing(sqlite3.connect(database, timeout=0, isolation_level=None)) as writer:
        assert writer.execute("PRAGMA journal_mode").fetchone() == ("delete",)
        reading = opened(database, ("session",))
        rows = reading.__enter__().execute("SELECT id FROM session")
        assert rows.fetchone() == ("ses_1",)
        writer.execute("INSERT INTO session VALUES ('ses_2')")
        with pytest.raises(BlockingIOError, match="it changes while it is read"):
            reading.__exit__(None, None, None)


def test_a_database_that_changes_is_read_again(database: Path) -> None:
    """It is read three times at most, within 50 ms."""
    with closing(sqlite3.connect(database, timeout=0, isolation_level=None)) as writer:
        changes = [2, 3]

        def count(connection: sqlite3.Connection) -> int:
            found = connection.execute("SELECT id FROM session").fetchall()
            if changes:
                writer.execute("INSERT INTO session VALUES (?)", (f"ses_{changes.pop()}",))
            return len(found)

        assert queried(database, ("session",), count) == 3
        changes += [4, 5, 6]
        with pytest.raises(OSError, match="it changes while it is read") as refused:
            queried(database, ("session",), count)
        assert refused.value.errno == errno.EBUSY


def test_a_half_written_database_is_not_read(database: Path) -> None:
    """A journal that counts shows that pages of a transaction may be in the file."""
    with closing(sqlite3.connect(database, timeout=0, isolation_level=None)) as writer:
        writer.execute("PRAGMA synchronous = off")  # the journal counts at once
        writer.execute("BEGIN")
        writer.execute("INSERT INTO session VALUES ('ses_2')")
        with pytest.raises(BlockingIOError, match="it is being written"), opened(database, ("session",)):
            pass
        writer.execute("ROLLBACK")
    with opened(database, ("session",)) as connection:
        assert connection.execute("SELECT id FROM session").fetchall() == [("ses_1",)]
