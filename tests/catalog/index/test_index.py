"""The database of the index is private, made again by another version, and never left half written."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from agentwatch.catalog.index.index import SessionIndex, index_path
from agentwatch.catalog.index.rows import CALL_COLUMNS, SESSION_COLUMNS, VERSION, Rows
from tests.catalog.index.machines import rows

SESSION = tuple(
    {"path": "/a", "agent": "cursor", "session_id": "s-1", "is_recording": 0, "turns": 1, "calls": 1}.get(
        name, 0
    )
    for name in SESSION_COLUMNS
)
CALL = tuple(
    {"number": 1, "tool": "read", "kind": "read", "outcome": "failed"}.get(name) for name in CALL_COLUMNS
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """The path of an index with one session, which has one call."""
    path = tmp_path / "state" / "index.db"
    with closing(SessionIndex(path, "1.0")) as index:
        index.replace([Rows(SESSION, [CALL], [])])
    return path


def test_it_lies_beside_the_saved_sessions(home: Path) -> None:
    """The index is `index.db` in the folder of agentwatch."""
    assert index_path() == home / "index.db"


def test_only_the_user_can_read_it(path: Path) -> None:
    """Folder and files are private, whatever the umask."""
    with closing(SessionIndex(path, "1.0")) as index:
        index.replace([Rows(SESSION, [CALL], [])])
        modes = {each.name: each.stat().st_mode & 0o777 for each in path.parent.iterdir()}
    assert modes == dict.fromkeys(("index.db", "index.db-wal", "index.db-shm"), 0o600)
    assert path.parent.stat().st_mode & 0o777 == 0o700


def test_it_is_written_ahead_and_has_a_version(path: Path) -> None:
    """Readers are not locked out, and the schema has a number."""
    assert rows(path, "PRAGMA journal_mode") == [("wal",)]
    assert rows(path, "PRAGMA user_version") == [(VERSION,)]


def test_what_the_same_version_has_written_is_kept(path: Path) -> None:
    """Opening an index again changes nothing."""
    with closing(SessionIndex(path, "1.0")) as index:
        assert index.counts() == (1, 1)
        assert index.stamps() == {"/a": (0, 0)}


def test_another_program_makes_it_again(path: Path) -> None:
    """An index that another version of agentwatch has filled is emptied."""
    with closing(SessionIndex(path, "1.1")) as index:
        assert index.counts() == (0, 0)


@pytest.mark.parametrize("change", ["PRAGMA user_version = 7", "DROP VIEW call; PRAGMA user_version = 0"])
def test_another_schema_makes_it_again(path: Path, change: str) -> None:
    """A database with another schema is replaced."""
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(change)
    with closing(SessionIndex(path, "1.0")) as index:
        assert index.counts() == (0, 0)


def test_a_file_that_is_no_database_is_replaced(path: Path) -> None:
    """Something else under the name of the index is replaced by an index."""
    path.write_bytes(b"no database, and long enough to be taken for the head of one" * 100)
    with closing(SessionIndex(path, "1.0")) as index:
        assert index.counts() == (0, 0)


def test_a_link_is_not_followed(path: Path, tmp_path: Path) -> None:
    """A link under the name of the index is an error, and its target is left alone."""
    target = tmp_path / "target"
    target.write_bytes(b"mine")
    path.unlink()
    path.symlink_to(target)
    with pytest.raises(OSError):  # noqa: PT011 - its number differs between systems
        SessionIndex(path, "1.0")
    assert target.read_bytes() == b"mine"


def test_a_session_is_replaced_as_a_whole(path: Path) -> None:
    """A session that fails to be written leaves the one before it."""
    broken = Rows(SESSION, [CALL, CALL], [])
    with closing(SessionIndex(path, "1.0")) as index:
        with pytest.raises(sqlite3.IntegrityError):
            index.replace([broken])
        assert index.counts() == (1, 1)
        index.replace([Rows(SESSION, [], [])])
    assert rows(path, "SELECT count(*) FROM call") == [(0,)]


def test_a_full_disk_leaves_a_valid_index(path: Path) -> None:
    """If the database cannot grow, the error is reported, and what was there before is kept."""
    with closing(SessionIndex(path, "1.0")) as index:
        [(pages,)] = rows(path, "PRAGMA page_count")
        index.connection.execute(f"PRAGMA max_page_count = {pages}")
        many = [CALL_COLUMNS and (number, *CALL[1:3], "x" * 1000, *CALL[4:]) for number in range(1, 1000)]
        with pytest.raises(sqlite3.OperationalError, match="full"):
            index.replace([Rows(SESSION, many, [])])
        assert index.counts() == (1, 1)
    assert rows(path, "PRAGMA integrity_check") == [("ok",)]


def test_no_descriptor_stays_open(path: Path) -> None:
    """Opening and closing an index leaves no descriptor."""
    before = len(os.listdir("/dev/fd"))
    for _ in range(20):
        SessionIndex(path, "1.0").close()
    assert len(os.listdir("/dev/fd")) == before
