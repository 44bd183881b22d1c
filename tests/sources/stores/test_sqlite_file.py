"""Of a database of another program only chosen tables can be read, and nothing is written."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from agentwatch.sources.stores.sqlite_file import as_os_error, opened

DENIED = [
    "SELECT secret FROM account",
    "SELECT * FROM shown",
    "SELECT (SELECT secret FROM account) FROM session",
    "PRAGMA table_info(account)",
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


def test_a_chosen_table_can_be_read(database: Path) -> None:
    """So can the names of its columns, and of all tables."""
    before = os.listdir(database.parent)
    with opened(database, ("session",)) as (connection, _):
        assert connection.execute("SELECT id FROM session").fetchall() == [("ses_1",)]
        assert connection.execute("PRAGMA table_info(session)").fetchone()[1] == "id"
        names = connection.execute("SELECT name FROM sqlite_master ORDER BY name").fetchall()
        assert names == [("account",), ("session",), ("shown",)]
    assert os.listdir(database.parent) == before


@pytest.mark.parametrize("statement", DENIED)
def test_everything_else_is_refused(database: Path, statement: str) -> None:
    """Also through a view, and whatever would write."""
    with opened(database, ("session",)) as (connection, _), pytest.raises(sqlite3.DatabaseError):
        connection.execute(statement)


def test_a_refusal_is_put_in_words(database: Path) -> None:
    """The error that a user sees does not name the other tables."""
    with opened(database, ("session",)) as (connection, _), pytest.raises(sqlite3.DatabaseError) as refused:
        connection.execute(DENIED[0])
    error = as_os_error(refused.value, database)
    assert error.strerror == "it has no sessions that this version can read"
