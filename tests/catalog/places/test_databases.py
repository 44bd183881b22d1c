"""The rows of opencode's databases are sessions; nothing else of the databases is read."""

import os
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from agentwatch.agents import databases
from agentwatch.agents.opencode.store import database_at
from agentwatch.agents.session_entry import Reach, SessionEntry
from agentwatch.catalog import places as places_module
from agentwatch.catalog.local_session import LocalSession
from tests.builders.machine.fake import FakeMachine, fake_machine
from tests.builders.machine.searched import all_found, found_in, let_age, places_of, put
from tests.conftest import case

NEWEST = ("opencode", "ses_dffa10acfffeCKln6OxYBgiynF")
WITH_PARTS = ("opencode", "ses_dffa13782ffelHLUckf3PpCxdw")


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeMachine:
    """Return a machine whose databases may be read again at once."""
    monkeypatch.setattr(places_module, "_POLL_S", 0.0)
    machine = fake_machine(tmp_path)
    shutil.rmtree(machine.home / ".local/share/opencode/storage")
    return machine


def database(machine: FakeMachine) -> Path:
    """Return the path of opencode's database."""
    return machine.home / ".local/share/opencode/opencode.db"


def change(path: Path, *statements: str, values: tuple[object, ...] = ()) -> None:
    with closing(sqlite3.connect(path)) as connection, connection:
        for statement in statements:
            connection.execute(statement, values)


def test_a_change_is_seen_by_the_next_look(machine: FakeMachine) -> None:
    """A database changes without its folder; removed, it takes its sessions with it, and brings them back."""
    places = places_of(machine)
    all_found(places)
    places.refresh(2.0)
    folder = database(machine).parent
    let_age([folder])
    places.refresh(4.0)
    change(database(machine), "UPDATE session SET time_archived = 5, time_updated = time_updated + 1")
    let_age([folder])
    found = places.refresh(6.0).found
    assert [each.metadata.is_archived for each in found] == [True] * 5
    path = database(machine)
    path.rename(path.with_name("away"))
    assert len(places.refresh(8.0).vanished) == 5
    path.with_name("away").rename(path)
    assert len(places.refresh(10.0).found) == 5


def test_a_database_that_does_not_change_is_not_read(
    machine: FakeMachine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its size, time and inode show it, and those of its log."""
    let_age(machine.home.rglob("*"))
    places = places_of(machine)
    all_found(places)

    def fail(*_: object) -> None:
        raise AssertionError

    with monkeypatch.context() as patch:
        patch.setattr(databases, "queried", fail)
        for second in range(1, 40):
            assert places.refresh(2.0 * second) == ([], [])
            assert places.check([NEWEST]) == ([], [])


def test_what_is_only_in_the_log_is_read(machine: FakeMachine) -> None:
    """Opencode keeps its write-ahead log open; no file is left there by reading."""
    path = database(machine)
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA journal_mode = wal").fetchone() == ("wal",)
        connection.execute("UPDATE session SET title = 'In the log'")
        connection.commit()
        assert found_in(machine)[NEWEST].metadata.title == "In the log"
    let_age([path])
    before = sorted(os.listdir(path.parent))
    assert found_in(machine)[NEWEST].metadata.title == "In the log"
    assert sorted(os.listdir(path.parent)) == before


def test_what_is_no_database_has_no_sessions(machine: FakeMachine, monkeypatch: pytest.MonkeyPatch) -> None:
    """All other sessions are found, and a Python without sqlite is not an error."""
    with monkeypatch.context() as patch:
        patch.setattr(databases, "find_spec", lambda _: None)
        found = found_in(machine)
        assert found
        assert "opencode" not in {agent for agent, _ in found}
    for content in (b"", b"not a database", b"SQLite format 3\0" + bytes(100)):
        with case(content[:20]):
            database(machine).write_bytes(content)
            assert "opencode" not in {agent for agent, _ in found_in(machine)}


def replaced(machine: FakeMachine, *statements: str) -> list[SessionEntry]:
    """Return the sessions of a database of opencode that these statements make."""
    database(machine).unlink()
    change(database(machine), *statements)
    return [each for each in found_in(machine).values() if each.agent == "opencode"]


def test_a_table_of_another_form_is_read_as_far_as_it_goes(machine: FakeMachine) -> None:
    """Columns that are missing are unknown, and a view could show the table that holds the credentials."""
    # The table of another version has fewer columns; without an id there are no sessions.
    create = "CREATE TABLE session (id TEXT, directory TEXT)"
    (found,) = replaced(machine, create, "INSERT INTO session VALUES ('ses_1', '/w')")
    assert (found.id, found.reach, found.metadata.cwd) == ("ses_1", Reach.STORE, "/w")
    assert found.changed_ns == database(machine).stat().st_mtime_ns
    assert replaced(machine, "CREATE TABLE session (title TEXT)", "INSERT INTO session VALUES ('x')") == []
    assert replaced(machine, "CREATE TABLE other (id TEXT)") == []
    # A view is not read.
    statements = (
        "CREATE TABLE account (id TEXT)",
        "INSERT INTO account VALUES ('secret')",
        "CREATE VIEW session AS SELECT id FROM account",
    )
    assert replaced(machine, *statements) == []
    assert replaced(machine, "CREATE VIEW session AS SELECT name AS id FROM sqlite_master") == []
    # The id becomes a part of an address.
    for name in ("/etc/passwd", "a/b", "..", ".", "a b", "é", "", "x" * 300, "a\nb", 7, None):
        with case(name):
            database(machine).unlink()
            change(database(machine), "CREATE TABLE session (id, title)")
            change(database(machine), "INSERT INTO session VALUES (?, 'x')", values=(name,))
            assert "opencode" not in {agent for agent, _ in found_in(machine)}


def test_a_session_of_opencode_2_is_listed_with_what_is_known(machine: FakeMachine) -> None:
    """Its messages are not read: its row and its opening say so. A copy of one from before is read there."""
    found = replaced(
        machine,
        "CREATE TABLE session (id, time_updated)",
        "CREATE TABLE session_v2 (id, directory, version, time_updated)",
        "INSERT INTO session VALUES ('ses_copied', 5), ('ses_continued', 5)",
        "INSERT INTO session_v2 VALUES ('ses_copied', '/w', '1.18', 5), ('ses_continued', '/w', '2.1', 6),"
        " ('ses_new', '/w', '2.0.8', 7)",
    )
    reasons = {each.id: (each.reach, each.metadata.problem) for each in found}
    assert reasons == {
        "ses_copied": (Reach.STORE, ""),
        "ses_continued": (Reach.LISTED, "this version does not read opencode 2.1"),
        "ses_new": (Reach.LISTED, "this version does not read opencode 2.0.8"),
    }
    new = next(each for each in found if each.id == "ses_new")
    assert (new.metadata.cwd, LocalSession(new).judged(0).now) == ("/w", new.metadata.problem)
    needed = ("parent_id", "directory", "version", "time_created")
    change(database(machine), *(f"ALTER TABLE session ADD COLUMN {name}" for name in needed))
    for table, columns in (("message", "data"), ("part", "message_id, data")):
        change(
            database(machine), f"CREATE TABLE {table} (id, session_id, time_created, time_updated, {columns})"
        )
    with pytest.raises(OSError, match="does not read opencode 2"):
        database_at(new.path).new_lines()


def test_a_row_that_changes_is_reported_alone(machine: FakeMachine, monkeypatch: pytest.MonkeyPatch) -> None:
    """The others are not reported again, and a row that is gone vanishes."""
    # The time of a session is behind that of its newest message and of its parts.
    places = places_of(machine)
    all_found(places)
    of_session = f"SELECT id FROM message WHERE session_id = '{WITH_PARTS[1]}'"
    newest = f"({of_session} ORDER BY time_created DESC, id DESC LIMIT 1)"
    at_ms = 1795302999000
    for number, (table, key) in enumerate((("part", "message_id"), ("message", "id")), 1):
        with case(table):
            change(
                database(machine),
                f"UPDATE {table} SET time_updated = {at_ms + number} WHERE {key} = {newest}",
            )
            (found,) = places.check([WITH_PARTS]).found
            assert (found.key, found.metadata.changed_ms) == (WITH_PARTS, at_ms + number)
    change(
        database(machine),
        f"UPDATE session SET title = 'New', time_updated = 1795302999000 WHERE id = '{NEWEST[1]}'",
    )
    (found,) = places.check([NEWEST]).found
    assert (found.key, found.metadata.title) == (NEWEST, "New")
    assert found.changed_ns == 1795302999000 * 10**6
    change(database(machine), f"DELETE FROM session WHERE id = '{NEWEST[1]}'")
    assert places.check([NEWEST]) == ([], [NEWEST])
    # However often its sessions are checked, a database is read once a second.
    monkeypatch.setattr(places_module, "_POLL_S", 1000.0)
    change(database(machine), "UPDATE session SET title = 'New'")
    assert places.check([WITH_PARTS]) == ([], [])
    monkeypatch.setattr(places_module, "_POLL_S", 0.0)
    assert len(places.check([WITH_PARTS]).found) == 4
    # What was known of a locked database holds until it can be read.
    change(database(machine), "UPDATE session SET title = 'Other'")
    with closing(sqlite3.connect(database(machine), isolation_level=None)) as connection:
        connection.execute("PRAGMA synchronous = off")  # the journal counts at once
        connection.execute("BEGIN EXCLUSIVE")
        connection.execute("UPDATE session SET title = 'Newer'")
        assert places.check([WITH_PARTS]) == ([], [])
        connection.execute("COMMIT")
    assert len(places.check([WITH_PARTS]).found) == 4


def test_the_messages_of_old_sessions_are_not_looked_up(machine: FakeMachine) -> None:
    """Only those of the 200 sessions that have changed last: it takes 20 us for each."""
    change(database(machine), "UPDATE part SET time_updated = 1795302999000")
    columns = "id, project_id, slug, directory, title, version, time_created, time_updated"
    newer = [f"('ses_{number}', 'p', 's', '/w', 't', '1', 1, 1795302998000)" for number in range(200)]
    insert = f"INSERT INTO session ({columns}) VALUES "
    change(database(machine), insert + ", ".join(newer[:195]))
    assert found_in(machine)[WITH_PARTS].metadata.changed_ms == 1795302999000
    change(database(machine), insert + ", ".join(newer[195:]))
    assert found_in(machine)[WITH_PARTS].metadata.changed_ms == 1795302549210


def test_a_table_without_an_index_is_not_searched_for_each_session(machine: FakeMachine) -> None:
    """A database of 10,000 sessions and messages would take a minute; its own times count."""
    change(database(machine), "UPDATE part SET time_updated = 1795302999000")
    assert found_in(machine)[WITH_PARTS].metadata.changed_ms == 1795302999000
    for index in ("part_message_id_id_idx", "part_session_idx"):
        change(database(machine), f"DROP INDEX {index}")
    assert found_in(machine)[WITH_PARTS].metadata.changed_ms != 1795302999000
    change(database(machine), "DROP TABLE part")
    assert found_in(machine)[WITH_PARTS].metadata.changed_ms != 1795302999000


COLUMNS = "id, parent_id, directory, title, model, time_created, time_updated, time_archived"


def test_a_column_may_hold_anything(machine: FakeMachine) -> None:
    """SQLite keeps any value in any column."""
    cases: list[Any] = [None, 7, 1.5, -1, 1 << 62, b"\xff", "", "x", "[1]", '{"id":3}', "x" * 10**6]
    for value in cases:
        with case(f"{value!r:.40}"):
            database(machine).unlink()
            change(database(machine), f"CREATE TABLE session ({COLUMNS})")
            places = ", ".join("?" * 7)
            change(database(machine), f"INSERT INTO session VALUES ('ses_1', {places})", values=(value,) * 7)
            (found,) = [each for each in found_in(machine).values() if each.agent == "opencode"]
            assert len(found.metadata.title) <= 1000
            assert found.metadata.cwd is None
            assert found.parent is None or found.parent == value


def test_the_database_of_a_preview_of_opencode_counts(machine: FakeMachine) -> None:
    """Its name has the channel; other files are left out."""
    folder = database(machine).parent
    database(machine).rename(folder / "opencode-dev.db")
    put(folder / "other.db")
    assert sum(each.path.parent.name == "opencode-dev.db" for each in found_in(machine).values()) == 5
