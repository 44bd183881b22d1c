"""The database of the index is private, made again by another version, and never left half written."""

import os
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from agentwatch.agents.session_entry import Reach, SessionEntry
from agentwatch.catalog.index import SessionIndex, index_path, update
from agentwatch.catalog.index_rows import Rows
from agentwatch.catalog.index_schema import TABLES, VERSION, path_of
from tests.builders.lines import completed, init, line, result, started, user
from tests.builders.machine.fake import fake_machine
from tests.catalog.index.machines import Indexed, rows
from tests.conftest import case

SESSION = tuple(
    {"path": "/a", "agent": "cursor", "session_id": "s-1", "is_recording": 0, "turns": 1, "calls": 1}.get(
        name, 0
    )
    for name in TABLES["stored_session"]
)
CALL = tuple(
    {"number": 1, "tool": "read", "kind": "read", "outcome": "failed"}.get(name)
    for name in TABLES["stored_call"]
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """The path of an index with one session, which has one call."""
    path = tmp_path / "state" / "index.db"
    with closing(SessionIndex(path, "1.0")) as index:
        index.replace([Rows(SESSION, [CALL], [])])
    return path


def test_the_index_is_private_and_kept(home: Path, path: Path) -> None:
    """It lies beside the saved sessions; opening it again changes nothing, and leaves no descriptor."""
    assert index_path() == home / "index.db"
    with closing(SessionIndex(path, "1.0")) as index:
        assert index.counts() == (1, 1)
        assert {path: stamp[:2] for path, stamp in index.stamps().items()} == {"/a": (0, 0)}
        index.replace([Rows(SESSION, [CALL], [])])
        modes = {each.name: each.stat().st_mode & 0o777 for each in path.parent.iterdir()}
    # Folder and files are private, whatever the umask.
    assert modes == dict.fromkeys(("index.db", "index.db-wal", "index.db-shm"), 0o600)
    assert path.parent.stat().st_mode & 0o777 == 0o700
    # Readers are not locked out, and the schema has a number.
    assert rows(path, "PRAGMA journal_mode") == [("wal",)]
    assert rows(path, "PRAGMA user_version") == [(VERSION,)]
    before = len(os.listdir("/dev/fd"))
    for _ in range(20):
        SessionIndex(path, "1.0").close()
    assert len(os.listdir("/dev/fd")) == before


def test_what_another_program_has_written_is_replaced(path: Path) -> None:
    """An index of another version or schema, and what is not a database, are made again."""
    for change in (
        "another version",
        f"PRAGMA user_version = {VERSION + 1}",
        "DROP VIEW call; PRAGMA user_version = 0",
    ):
        with case(change):
            if "PRAGMA" in change:
                with closing(sqlite3.connect(path)) as connection:
                    connection.executescript(change)
            with closing(SessionIndex(path, "1.0" if "PRAGMA" in change else "1.1")) as index:
                assert index.counts() == (0, 0)
            path.unlink()
            with closing(SessionIndex(path, "1.0")) as index:
                index.replace([Rows(SESSION, [CALL], [])])
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
        many = [(number, *CALL[1:3], "x" * 1000, *CALL[4:]) for number in range(1, 1000)]
        with pytest.raises(sqlite3.OperationalError, match="full"):
            index.replace([Rows(SESSION, many, [])])
        assert index.counts() == (1, 1)
    assert rows(path, "PRAGMA integrity_check") == [("ok",)]


DAY_NS = 86_400 * 10**9


@pytest.fixture
def indexed(tmp_path: Path) -> Indexed:
    """A machine with captures of all agents and 13 made sessions, and the path of an index."""
    return Indexed(fake_machine(tmp_path / "machine", 13), tmp_path / "state" / "index.db")


def failing(session_id: str, calls: int) -> bytes:
    """Return the lines of a session whose commands fail."""
    pairs = (
        started("shell", f"c-{number}", command="cd web && npx tsc --noEmit", session_id=session_id)
        + completed(
            "shell", f"c-{number}", {"failure": {"exitCode": 2, "command": ""}}, session_id=session_id
        )
        for number in range(calls)
    )
    return (
        init(session_id=session_id)
        + user("Type check.")
        + b"".join(pairs)
        + result("", session_id=session_id)
    )


def test_every_session_is_in_the_index(indexed: Indexed) -> None:
    """Each session is a row with what its agent writes; one that cannot be read has the reason."""
    broken = indexed.record("20261122-120000-000abcdef", failing("s-1", 1))
    found = [each for each in indexed.found() if each.reach is not Reach.LISTED]
    broken.unlink()
    broken.mkdir()
    done = indexed.update(found)
    assert done.read == len(found) > 30
    assert (done.removed, done.unreadable) == (0, 1)
    assert done.size == sum(each.size for each in found)
    [(problem, calls)] = indexed.rows("SELECT problem, calls FROM session WHERE problem IS NOT NULL")
    assert ("it is a folder" in problem, calls) == (True, 0)
    keys = indexed.rows("SELECT agent, session_id FROM stored_session WHERE NOT is_recording")
    assert {*keys} == {each.key for each in found if each.agent != "agentwatch"}
    counted = "SELECT count(*) FROM stored_call WHERE session = stored_session.id"
    assert indexed.rows(f"SELECT path FROM stored_session WHERE calls <> ({counted})") == []
    agents = {agent for [agent] in indexed.rows("SELECT DISTINCT agent FROM session WHERE calls > 0")}
    assert agents == {
        *("claude", "cline", "codex", "copilot", "cursor", "droid", "gemini", "kimi", "opencode", "pi"),
        *("qwen", "vibe"),
    }
    # The row of a session has its times, its repository, its prompt, its tokens and its outcome.
    [key] = [key for key in indexed.machine.made if key[0] == "codex"][:1]
    columns = "format, prompt, repository, outcome, turns, calls, failed, seen_ms >= began_ms, problem"
    [row] = indexed.rows(f"SELECT {columns} FROM session WHERE session_id = ?", key[1])
    assert row[0] == "codex-rollout"
    assert row[1].startswith("Run the tests, part ")
    assert row[2].startswith("repo-")
    assert row[3:] == ("succeeded", 1, 1, 0, 1, None)


def test_names_and_requests_are_found_without_reading_all_rows(indexed: Indexed) -> None:
    """Their indexes are there after the first update, and stay after the next one."""
    for _ in range(2):
        indexed.update()
        for index, query in {
            "path_by_name": "SELECT path FROM stored_path WHERE name = 'app.py'",
            "session_of_request": "SELECT session FROM stored_request WHERE request = 'r-1'",
        }.items():
            with case(index):
                [(*_, how)] = indexed.rows(f"EXPLAIN QUERY PLAN {query}")
                assert f"INDEX {index}" in how
        indexed.record("20261122-120000-000abcdef", failing("s-1", 1))


def test_a_call_has_its_program_and_its_error(indexed: Indexed) -> None:
    """A failed command is a failure with its program, its exit code, and the facts of its session."""
    path = indexed.record("20261122-120000-000abcdef", failing("s-1", 2))
    indexed.update()
    columns = "agent, session_id, number, tool, kind, program, target, exit_code"
    assert indexed.rows(f"SELECT {columns} FROM failure WHERE session_path = ?", str(path)) == [
        ("cursor", "s-1", number, "shell", "execute", "tsc", "cd web && npx tsc --noEmit", 2)
        for number in (1, 2)
    ]
    # Half a surrogate pair, NUL, quotes and huge numbers in a session are data.
    command = "'; DROP TABLE call; --\x00\x1b[31m"
    path = indexed.record(
        "20261122-120000-000abcdef",
        init(session_id="s-\ud83d"),
        user("\ud83d half"),
        started("shell", "c-1", command=command, timestamp_ms=1 << 80),
        completed("shell", "c-1", {"success": {"exitCode": 1 << 70}}),
        b"\xff\xfe no JSON\n",
    )
    indexed.update()
    assert indexed.rows(
        "SELECT target FROM call JOIN session ON id = session WHERE session.path = ?", str(path)
    ) == [(command,)]
    # The path of a session is text, and bytes that are not UTF-8 become an escape.
    path = Path(os.fsdecode(b"/m-\xff/a.ndjson"))
    assert path_of(SessionEntry("agentwatch", "a", path, 1, 1)) == "/m-\\udcff/a.ndjson"


@pytest.mark.system
def test_only_what_has_changed_is_read_again(indexed: Indexed) -> None:
    """A session is read again when its size or its time changes; one that is gone is removed."""
    path = indexed.record("20261122-120000-000abcdef", failing("s-1", 1))
    assert indexed.update().read > 30
    assert indexed.update() == (0, 0, 0, 0)
    path.write_bytes(failing("s-1", 3))
    done = indexed.update()
    assert (done.read, done.size) == (1, path.stat().st_size)
    assert indexed.rows("SELECT count(*) FROM failure WHERE session_path = ?", str(path)) == [(3,)]
    os.utime(path, ns=(DAY_NS, DAY_NS))
    assert indexed.update().read == 1
    # A file, or a row of a database, may have a time that SQLite cannot hold in nanoseconds.
    for changed_ns in (1 << 63, -(1 << 63) - 1):
        found = [
            each._replace(changed_ns=changed_ns) if each.path == path else each for each in indexed.found()
        ]
        assert (indexed.update(found).read, indexed.update(found).read) == (1, 0)
    path.unlink()
    assert indexed.update() == (0, 0, 1, 0)
    assert indexed.rows("SELECT count(*) FROM stored_session WHERE path = ?", str(path)) == [(0,)]
    assert indexed.rows(
        "SELECT count(*) FROM stored_call WHERE session NOT IN (SELECT id FROM stored_session)"
    ) == [(0,)]


def test_another_process_changes_no_answer(indexed: Indexed) -> None:
    """What two processes read at once is stored once, and the queries of a snapshot see one state of it."""
    found, ids = indexed.found(), "SELECT id, path FROM stored_session ORDER BY id"
    kept: list[tuple[Any, ...]] = []

    def meanwhile(_done: int, _total: int) -> None:
        if not kept:
            indexed.update(found[::-1])
            kept.extend(indexed.rows(ids))

    with closing(SessionIndex(indexed.path, "1.0")) as index:
        assert update(index, found, meanwhile).read == len(kept) > 30
        assert indexed.rows(ids) == kept
        with index.snapshot():
            before = index.counts()
            assert indexed.update(found[:5]).removed > 20
            assert index.counts() == before
        assert index.counts() < before


@pytest.mark.system
@pytest.mark.parametrize(
    ("recorded", "kept", "counted"),
    [
        ([2], 2, ["recording"]),
        ([1], 2, ["file"]),
        ([1, 1], 2, ["recording", "recording"]),
        ([3], 2, ["recording"]),
    ],
)
def test_a_session_that_lies_there_twice_counts_once(
    indexed: Indexed, recorded: list[int], kept: int, counted: list[str]
) -> None:
    """Of our own recordings and the agent's own file of a session, those with more calls count."""
    session_id = "11111111-2222-4333-8444-555555555555"
    for number, calls in enumerate(recorded):
        indexed.record(f"20261122-12000{number}-000abcdef", failing(session_id, calls))
    folder = indexed.machine.home / ".cursor/projects/-a/agent-transcripts" / session_id
    folder.mkdir(parents=True)
    content = [
        {"type": "tool_use", "id": f"t-{number}", "name": "Shell", "input": {"command": "ls"}}
        for number in range(kept)
    ]
    (folder / f"{session_id}.jsonl").write_bytes(
        line({"role": "user", "message": {"content": [{"type": "text", "text": "Go"}]}})
        + line({"role": "assistant", "message": {"content": content}})
    )
    indexed.update()
    found = indexed.rows("SELECT is_recording, calls FROM session WHERE session_id = ?", session_id)
    assert ["recording" if is_recording else "file" for is_recording, _ in found] == counted
    query = "SELECT count(*) FROM call JOIN session ON session.id = call.session WHERE session_id = ?"
    assert indexed.rows(query, session_id) == [(sum(count for _, count in found),)]


@pytest.mark.system
def test_a_large_session_is_read(indexed: Indexed) -> None:
    """Calls of a session beyond those that are written at once are all there, and its prompt is kept."""
    path = indexed.record("20261122-120000-000abcdef", failing("s-1", 12_000))
    indexed.update()
    assert indexed.rows("SELECT calls, failed, prompt FROM session WHERE path = ?", str(path)) == [
        (12_000, 12_000, "Type check.")
    ]
    assert indexed.rows("SELECT count(*), max(number) FROM failure WHERE session_path = ?", str(path)) == [
        (12_000, 12_000)
    ]
