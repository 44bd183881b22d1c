"""A session in `opencode.db` is read as it is, followed while it changes, and nothing else is read."""

import json
import os
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from agentwatch.agents.opencode import store as store_module
from agentwatch.agents.opening import saved_source, store_for
from agentwatch.feed.feed import Feed
from tests.conftest import case
from tests.harness.processes import until
from tests.sources.stores.opencode.written_database import SESSION, OpencodeDatabase, lines, opened, printed


@pytest.fixture
def followed() -> Iterator[Callable[[Path], Feed]]:
    """Return a function that returns the feed of a store, which is followed until the test ends."""
    sources = []

    def follow(path: Path) -> Feed:
        source = saved_source(path, None, follow_store=True)
        sources.append(source)
        feed = Feed(source.reader)
        feed.advance()
        return feed

    yield follow
    for source in sources:
        source.close()


def wait_for(feed: Feed, condition: Callable[[], object]) -> None:
    """Advance a feed until a condition holds."""
    until(lambda: (feed.advance(), condition())[1])


def test_a_path_names_the_newest_main_session_or_one_of_them(
    database: OpencodeDatabase, tmp_path: Path
) -> None:
    """The database alone means the main session that was changed last; a session may follow its path."""
    for name, parent in (("ses_old", None), (SESSION, None), ("ses_child", SESSION)):
        database.session(name, parent)
    assert {line["sessionID"] for line in lines(database.path)} == {SESSION}
    assert {line["sessionID"] for line in lines(database.path / "ses_old")} == {"ses_old"}
    assert {line["sessionID"] for line in lines(database.path / "ses_child")} == {"ses_child"}
    # A path that exists is that file, whatever its parent is called.
    folder = tmp_path / "folder/opencode.db"
    folder.mkdir(parents=True)
    (folder / SESSION).write_text('{"type":"x"}\n')
    assert store_for(folder / SESSION) is None


def test_lines_are_in_the_order_of_time(database: OpencodeDatabase) -> None:
    """A call that started first and ended last surrounds the other, and the subagent's lines."""
    # A row has only its last state: the line before shows the call as it was when it started.
    database.session()
    database.session("ses_child", SESSION)
    database.message("msg_2", "assistant", time={"created": 100})
    task: dict[str, Any] = {
        "metadata": {"sessionId": "ses_child"},
        "time": {"start": 110, "end": 190},
        "output": "x",
    }
    database.call("prt_a", "msg_2", "completed", **task)
    database.call("prt_b", "msg_2", "completed", time={"start": 120, "end": 130}, output="", metadata={})
    database.message("msg_3", "assistant", "ses_child", time={"created": 140})
    database.call("prt_c", "msg_3", "completed", "ses_child", time={"start": 150, "end": 160}, output="")
    found = [
        (line["part"]["callID"], line["part"]["state"]["status"], line.get("agent"), line["timestamp"])
        for line in lines(database.path)
        if line["type"] == "part"
    ]
    assert found == [
        ("call_prt_a", "running", None, 110),
        ("call_prt_b", "running", None, 120),
        ("call_prt_b", "completed", None, 130),
        ("call_prt_c", "running", "call_prt_a", 150),
        ("call_prt_c", "completed", "call_prt_a", 160),
        ("call_prt_a", "completed", None, 190),
    ]
    states = [line["part"]["state"] for line in lines(database.path) if line["type"] == "part"]
    assert states[1] == {"status": "running", "input": {"command": "make"}, "time": {"start": 120}}


def test_a_followed_database_shows_new_calls(
    database: OpencodeDatabase, followed: Callable[[Path], Feed]
) -> None:
    """A call is open while its row says so, grows with its output, and ends with its result."""
    database.session()
    database.prompt("Build it")
    feed = followed(database.path)
    session = feed.session
    assert session.run.prompt == "Build it"
    database.message("msg_2", "assistant", modelID="some-model")
    database.call("prt_2", "msg_2", "pending", input={})
    wait_for(feed, lambda: len(session.calls))
    database.call("prt_2", "msg_2", "running", metadata={"output": "building …"})
    wait_for(feed, lambda: session.calls[0].output == "building …")
    assert (session.calls[0].target, session.calls[0].outcome) == ("make", "running")
    database.call("prt_2", "msg_2", "completed", output="done", metadata={"exit": 2})
    wait_for(feed, lambda: session.calls[0].exit_code)
    assert (session.calls[0].outcome, session.calls[0].exit_code) == ("failed", 2)
    database.part("prt_3", "msg_2", "text", text="", time={"start": database.now})
    database.part("prt_3", "msg_2", "text", text="It failed.", time={"start": 1, "end": database.now})
    database.part("prt_4", "msg_2", "step-finish", reason="stop", tokens={"input": 1})
    wait_for(feed, lambda: session.text == "It failed.")
    assert len(session.calls) == 1


def test_what_has_not_changed_is_not_repeated(
    database: OpencodeDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A store returns each line once, and nothing while nothing changes."""
    database.session()
    database.prompt("Build it")
    database.message("msg_2", "assistant")
    database.call("prt_2", "msg_2", "running")
    store = opened(database.path)
    assert len(store.new_lines()) == 5
    assert store.new_lines() == []
    database.message("msg_2", "assistant", time={"created": 1}, cost=1)
    database.call("prt_2", "msg_2", "running", time={"start": 7})
    assert [json.loads(line)["type"] for line in store.new_lines()] == ["part"]
    # A store that is asked again before the next reading is due still cannot be read.
    database.connection.execute("ALTER TABLE part RENAME TO parts")
    with pytest.raises(OSError, match="no sessions"):
        store.new_lines()
    monkeypatch.setattr(store_module, "_POLL_SECONDS", 60.0)
    for _ in range(2):
        with pytest.raises(OSError, match="no sessions"):
            store.new_lines()


def test_reading_leaves_nothing_behind(database: OpencodeDatabase) -> None:
    """No connection is kept between two readings, and neither a log nor its index is created."""
    folder = database.path.parent
    database.session()
    store = opened(database.path)
    assert len(store.new_lines()) == 1
    database.prompt("Build it")
    database.close()  # while it is followed
    assert os.listdir(folder) == ["opencode.db"]
    before = database.path.read_bytes()
    assert any(b"Build it" in line for line in store.new_lines())
    assert len(lines(database.path)) == 3
    assert (os.listdir(folder), database.path.read_bytes()) == (["opencode.db"], before)


def test_no_other_table_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No statement names a table with secrets or all columns of one, and the connection may not read it."""
    database = OpencodeDatabase(tmp_path / "opencode.db")
    database.session()
    database.prompt("Build it")
    statements: list[str] = []
    allowed: list[bool] = []
    connect = sqlite3.connect

    class Traced(sqlite3.Connection):
        def close(self) -> None:
            try:
                self.execute("SELECT value FROM credential").fetchall()
            except sqlite3.DatabaseError:
                allowed.append(False)
            super().close()

    def traced(*arguments: Any, **options: Any) -> sqlite3.Connection:
        connection: sqlite3.Connection = connect(*arguments, **options, factory=Traced)
        connection.set_trace_callback(statements.append)
        return connection

    monkeypatch.setattr(sqlite3, "connect", traced)
    assert len(lines(database.path)) == 3
    database.close()
    read = [each for each in statements if "credential" not in each]
    assert any("FROM part" in each for each in read)
    assert not any("*" in each for each in read)
    assert allowed == [False]


@pytest.mark.system
def test_each_command_opens_a_database(database: OpencodeDatabase) -> None:
    """A database can be given wherever a recording can."""
    database.session()
    database.prompt("Build it")
    database.message("msg_2", "assistant")
    database.call("prt_2", "msg_2", "completed", output="x", metadata={"exit": 0})
    for command in ("--print", "replay", "doctor"):
        options = ["--print", "--speed", "1000"] if command == "replay" else []
        with case(command):
            done = printed(database.path, command, *options)
            assert (done.returncode, done.stderr) == (0, "")
            assert ("make" in done.stdout) is (command != "doctor")
