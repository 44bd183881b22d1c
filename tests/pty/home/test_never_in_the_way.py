"""The list changes nothing that belongs to others, and nothing of theirs stops it."""

import os
import re
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.builders.machine.fake import FakeMachine, fake_machine
from tests.catalog.reports.claude_registry import Registry
from tests.catalog.started_agents import started
from tests.harness.on_a_pty import in_terminal

SECRETS = (".claude/.credentials.json", ".codex/auth.json", ".gemini/oauth_creds.json")
pytestmark = pytest.mark.system


@pytest.fixture
def machine(tmp_path: Path) -> FakeMachine:
    """Return a machine whose newest sessions end now."""
    return fake_machine(tmp_path / "m", 20, newest_ms=round(time.time() * 1000), with_captures=False)


@pytest.fixture
def database(machine: FakeMachine) -> Iterator[Path]:
    """Return a database of opencode with a write-ahead log, which its program has open."""
    path = machine.home / ".local/share/opencode/opencode.db"
    path.parent.mkdir(parents=True)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("CREATE TABLE session (id TEXT, title TEXT, directory TEXT, time_updated INT)")
        row = ("ses_1", "Port the tides", "/w", round(time.time() * 1000))
        connection.execute("INSERT INTO session VALUES (?, ?, ?, ?)", row)
        connection.commit()
        assert path.with_name(f"{path.name}-wal").stat().st_size
        yield path


def ended_in(screen: str) -> int:
    """Return the number of sessions that have ended, by the headings of the days."""
    return sum(map(int, re.findall(r"│ ENDED(?: [A-Z0-9 ]+?)?  (\d+) ", screen)))


def on_disk(home: Path) -> dict[str, tuple[int, int, bytes]]:
    """Return the time, the mode and the content of each file that is not our own."""
    files = [path for path in home.rglob("*") if ".agentwatch" not in path.parts]
    return {
        str(path): (
            path.stat().st_mtime_ns,
            path.stat().st_mode,
            path.read_bytes() if path.is_file() else b"",
        )
        for path in files
        if not path.name.endswith("-shm")  # readers of SQLite mark in it what they read
    }


def test_nothing_of_others_is_changed(machine: FakeMachine, database: Path) -> None:
    """Listing, previewing, searching and opening change no file and end no process of an agent."""
    for name in SECRETS:
        (machine.home / name).write_text("secret")
    records = machine.home / ".claude/sessions"
    records.mkdir()
    key = next(key for key in machine.made if key[0] == "claude")
    with started(["claude"], machine.home) as process:
        Registry(records).write(process.pid, sessionId=key[1], name="", status="waiting")
        Registry(records).write(file="999999999.json", sessionId="gone", procStart="1")
        before = on_disk(machine.home)
        with in_terminal(env=machine.environ) as terminal:
            terminal.wait_for("Port the tides")
            terminal.wait_for("! asks")
            terminal.wait_for("Run the tests, part 15")  # the rows come in several reports: jj needs three
            terminal.press(" jj", "Preview · Run the tests")
            terminal.send("/pytest\r")
            terminal.wait_for(re.compile(r"hits · 2[1-9] sessions"))  # the agents of this machine are more
            terminal.press("\x1b", "search “pytest”")
            terminal.press("\x1b", "Port the tides")
            terminal.press("g\r", "1 Transcript")
            terminal.press("\x1b", "Port the tides")
            terminal.leave()
        assert process.poll() is None
        assert on_disk(machine.home) == before
    assert database.exists()


def test_a_folder_of_our_own_that_cannot_be_written_is_no_error(machine: FakeMachine) -> None:
    """The counts for `status` cannot be kept; the list works, and says why an ended session cannot ring."""
    (machine.home / ".agentwatch").write_text("a file")
    with in_terminal(env=machine.environ) as terminal:
        terminal.wait_for("Run the tests, part 3")
        terminal.send("Gr")  # the last row: the first may be an agent that runs on this machine
        terminal.wait_for("it cannot ring")
        terminal.press("\r", "1 Transcript")
        terminal.press("\x1b", "Run the tests, part 3")
        terminal.leave()
    assert (machine.home / ".agentwatch").read_text() == "a file"


def test_what_is_no_folder_of_sessions_is_left_out(machine: FakeMachine) -> None:
    """A file or a FIFO in the place of a folder, and a FIFO in that of a session, hide no other session."""
    for name in (".cursor", ".claude/sessions", ".local"):
        (machine.home / name).write_text("x")
    os.mkfifo(machine.home / ".amp")
    (machine.home / ".copilot").rename(machine.home / "copilot")
    (machine.home / ".copilot").mkdir()
    os.mkfifo(machine.home / ".copilot/session-state")
    project = next((machine.home / ".claude/projects").iterdir())
    os.mkfifo(project / "0f4c2b7e-1111-4222-8333-444455556666.jsonl")
    (project / "0f4c2b7e-1111-4222-8333-444455556667.jsonl").mkdir()
    with in_terminal(env=machine.environ) as terminal:
        terminal.wait_for("Run the tests, part 3")
        terminal.wait_until(lambda: ended_in(terminal.screen_text()) == 19, what="19 that have ended")
        terminal.leave()
