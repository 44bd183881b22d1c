"""A database that cannot be read is one line for the user; one with odd values is read."""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from agentwatch.agents.opencode import store
from agentwatch.agents.opencode.store import Database, Rows
from agentwatch.agents.opening import saved_source
from agentwatch.feed.feed import Feed
from tests.conftest import case
from tests.sources.stores.opencode.written_database import SESSION, OpencodeDatabase, lines, printed


@contextmanager
def new_database(folder: Path) -> Iterator[OpencodeDatabase]:
    """Yield an empty database in a folder of its own, which opencode has open."""
    with TemporaryDirectory(dir=folder) as parent:
        database = OpencodeDatabase(Path(parent) / "opencode.db")
        yield database
        database.close()


def test_an_older_database_lacks_columns_that_are_not_needed(database: OpencodeDatabase) -> None:
    """The title and the model of a session are optional: the model is in each message too."""
    database.session()
    database.connection.executescript(
        "ALTER TABLE session DROP COLUMN model; ALTER TABLE session DROP COLUMN agent;"
        "ALTER TABLE session DROP COLUMN title"
    )
    [line] = lines(database.path)
    assert line["info"]["directory"] == "/home/ada/app"
    assert line["info"]["model"] is None


@pytest.mark.slow
def test_a_locked_or_damaged_database_is_one_line(tmp_path: Path) -> None:
    """A database without a log that another program writes is not waited for."""
    database = OpencodeDatabase(tmp_path / "opencode.db", is_wal=False)
    database.session()
    database.begin_writing()
    done = printed(database.path, "--print")
    database.close()
    words = f"agentwatch: cannot open {database.path}:"
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"{words} it is being written by another program\n"
    database.path.with_name("opencode.db-journal").unlink(missing_ok=True)
    database.path.write_bytes(b"SQLite format 3\0" + bytes(range(256)) * 64)
    done = printed(database.path, "--print")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"{words} the database is damaged\n"


@pytest.mark.system
def test_a_log_or_a_session_that_is_missing_is_one_line(tmp_path: Path) -> None:
    """A database without the session, or without any, says so; what SQLite itself reports is passed on."""
    database = OpencodeDatabase(tmp_path / "opencode.db")
    database.close()
    for path, said in (
        (database.path, "it has no session"),
        (database.path / "ses_gone", "it has no session ses_gone"),
    ):
        with case(path.name):
            done = printed(path, "--print")
            assert done.returncode == 2
            assert done.stderr == f"agentwatch: cannot open {path}: {said}\n"
    # A log that cannot be opened.
    database = OpencodeDatabase(tmp_path / "other.db")
    database.session()
    database.close()
    (tmp_path / "other.db-wal").mkdir()
    done = printed(database.path, "--print")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"agentwatch: cannot open {database.path}: unable to open database file\n"


def test_a_database_that_cannot_be_read_now(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A database without a log is read as it is; what is read while a program begins to write is dropped. A
    Python without SQLite is one line.
    """
    database = OpencodeDatabase(tmp_path / "opencode.db")
    database.session()
    database.close()
    writes = [1, 2]

    def rows(self: Database, connection: sqlite3.Connection) -> tuple[Rows, dict[str, int]]:
        if writes:
            os.utime(database.path, (1, writes.pop()))
        return whole(self, connection)

    whole = Database._rows
    monkeypatch.setattr(Database, "_rows", rows)
    assert len(lines(database.path)) == 1
    writes += [3, 4, 5]
    with pytest.raises(OSError, match="it changes while it is read"):
        lines(database.path)
    # The module is optional when Python is built.
    monkeypatch.setattr(store, "find_spec", lambda _name: None)
    with pytest.raises(OSError, match="this Python cannot read SQLite databases"):
        lines(tmp_path / "opencode.db")


def test_data_of_any_form_is_read(tmp_path: Path) -> None:
    """A row whose data is not an object, or cannot be parsed, ends nothing."""
    values = ("", "[]", "{", "null", '{"a":NaN}', "[" * 3000, '{"type":"\\ud800"}')
    for table, value in product(("message", "part"), values):
        with case(f"{table}: {value:.80}"), new_database(tmp_path) as database:
            database.session()
            database.prompt("Build it")
            database.connection.execute(f"UPDATE {table} SET data = ?", (value,))
            assert lines(database.path)[0]["type"] == "session"


@pytest.mark.system
def test_columns_and_tables_of_any_kind(tmp_path: Path) -> None:
    """A view in the place of a table, a missing table and a missing column end in one line. SQLite checks
    no types: a column with a value of any type, or with none, ends nothing.
    """
    for trick in (
        "DROP TABLE part; CREATE VIEW part AS SELECT id, id session_id, value data FROM credential",
        "DROP TABLE part",
        "ALTER TABLE message DROP COLUMN data",
        "ALTER TABLE message DROP COLUMN data; ALTER TABLE message ADD COLUMN data AS (zeroblob(900000000))",
        "ALTER TABLE session DROP COLUMN version",
        "DROP TABLE session",
    ):
        with case(trick), new_database(tmp_path) as database:
            database.session()
            database.prompt("Build it")
            database.connection.executescript(trick)
            done = printed(database.path, "--print")
            assert (done.returncode, done.stdout) == (2, "")
            said = "it has no sessions that this version can read"
            assert done.stderr == f"agentwatch: cannot open {database.path}: {said}\n"
    # A column of any type is read.
    columns = (
        *("session.parent_id", "session.directory", "session.model", "session.time_created"),
        *("message.id", "message.time_created", "message.time_updated", "message.data"),
        *("part.id", "part.message_id", "part.time_created", "part.time_updated", "part.data"),
    )
    for column, value in product(columns, (None, b"\xff", 1.5, -1, 10**18, "x", "")):
        with case(f"{column}: {value!r}"), new_database(tmp_path) as other_database:
            table, _, name = column.partition(".")
            check_column(other_database, table, name, value)


def check_column(database: OpencodeDatabase, table: str, name: str, value: object) -> None:
    """Check that a session is read in which a column has this value, in tables without types."""
    database.connection.executescript(
        "".join(
            f"ALTER TABLE {each} RENAME TO old; CREATE TABLE {each} AS SELECT * FROM old; DROP TABLE old;"
            for each in ("session", "message", "part")
        )
    )
    database.session()
    database.prompt("Build it")
    database.connection.execute(f"UPDATE {table} SET {name} = ?", (value,))
    found = lines(database.path / SESSION)
    assert found[0]["type"] == "session"
    if name in {"time_created", "time_updated"}:
        assert [line["type"] for line in found] == ["session", "message", "part"]
    source = saved_source(database.path / SESSION)
    feed = Feed(source.reader)
    feed.advance()
    assert feed.session.lines.malformed == 0
    os.close(source.reader.fd)
