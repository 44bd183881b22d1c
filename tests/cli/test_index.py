"""`agentwatch sessions --index` keeps an index, reports what it did, and survives a kill and a second run."""

import re
import signal
import sqlite3
import subprocess
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.builders.machine.fake import FakeMachine, fake_machine
from tests.catalog.index.machines import rows
from tests.conftest import ROOT, case
from tests.harness.processes import until
from tests.harness.program import AGENTWATCH, environment, ran

PAGE = (ROOT / "docs" / "howto" / "statistics.md").read_text("utf-8")
QUERIES = re.findall(r"```sql\n(.*?)```", PAGE, re.DOTALL)
MADE = 1_500


@pytest.fixture
def machine(tmp_path: Path) -> FakeMachine:
    """A machine with all captures and 40 made sessions."""
    return fake_machine(tmp_path / "machine", 40)


def updated(machine: FakeMachine) -> subprocess.CompletedProcess[bytes]:
    """Update the index of a machine."""
    environ = machine.environ
    home, own = environ["HOME"], environ["AGENTWATCH_HOME"]
    return ran("sessions", "--index", HOME=home, AGENTWATCH_HOME=own)


def index_of(machine: FakeMachine) -> Path:
    return Path(machine.environ["AGENTWATCH_HOME"]) / "index.db"


def test_the_index_is_reported_and_documented(machine: FakeMachine) -> None:
    """Stdout has the path for another program; stderr the numbers of sessions and calls, and the time."""
    done = updated(machine)
    assert done.returncode == 0, done.stderr
    assert done.stdout.decode() == f"{index_of(machine)}\n"
    [(sessions, calls)] = rows(index_of(machine), "SELECT count(*), sum(calls) FROM session")
    words = rf"agentwatch: {sessions} sessions, {calls} calls · \d+ read \([\d.]+ \w+\) in [\d.]+ m?s\n"
    assert re.fullmatch(words, done.stderr.decode())
    again = updated(machine)
    assert b" 0 read (0 B) in " in again.stderr
    # Each query on the page about the index runs; that of the failures finds the commands that fail. The
    # tables of the page have the columns of the views, and no others
    assert QUERIES
    for query in QUERIES:
        with case(query):
            found = rows(index_of(machine), query)
            if "FROM failure" in query:
                assert found[0][2] >= found[-1][2] > 0
                assert {program for _, program, _, _ in found} >= {"cat", "sleep"}
    headings = {
        "session": "### `session`",
        "call": "### `call` and `failure`",
        "edit": "### `edit`",
        "path": "### `path`",
    }
    for view, heading in headings.items():
        table = PAGE.partition(heading)[2].partition("\n#")[0]
        cells: list[Any] = re.findall(r"^\| (`.*?) \|", table, re.MULTILINE)
        named = {name for cell in cells for name in re.findall(r"`(\w+)`", cell)}
        columns = {row[1] for row in rows(index_of(machine), f"PRAGMA table_info({view})")}
        assert columns - {"is_copy"} == named != set()


def test_an_index_of_nothing_is_empty(home: Path) -> None:
    """If the index cannot be created, the reason is one line, and the exit code 73."""
    home.write_bytes(b"")
    done = ran("sessions", "--index")
    assert done.returncode == 73
    assert re.fullmatch(rb"agentwatch: cannot create .*index\.db: .*\n", done.stderr)
    # Without any session, the index is empty, and no error
    home.unlink()
    done = ran("sessions", "--index")
    assert (done.returncode, done.stdout.decode()) == (0, f"{home / 'index.db'}\n")
    assert done.stderr.startswith(b"agentwatch: 0 sessions, 0 calls")
    # The index holds all sessions, so that no option chooses some
    cases: list[list[str]] = [["--json"], ["--all"], ["--repo", "a"], ["--prune"], ["--agent", "codex"]]
    for option in cases:
        with case(option):
            done = ran("sessions", "--index", *option)
            assert done.returncode == 2
            assert b"--index excludes other options" in done.stderr


@pytest.mark.system
def test_a_killed_run_leaves_a_valid_index(tmp_path: Path) -> None:
    """After a kill in the middle, the index is valid, and the next run reads the rest."""
    machine = fake_machine(tmp_path / "machine", MADE, with_captures=False)
    process = subprocess.Popen(
        [*AGENTWATCH, "sessions", "--index"], env=environment(**machine.environ), stdout=subprocess.PIPE
    )
    read = until(lambda: sessions_in(index_of(machine)) or process.poll() is not None)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert read is not True, "it ended before a session was read"
    assert rows(index_of(machine), "PRAGMA integrity_check") == [("ok",)]
    done = updated(machine)
    assert done.returncode == 0
    assert sessions_in(index_of(machine)) == MADE


def sessions_in(path: Path) -> int:
    """Return the number of sessions in an index; 0 while it does not exist or has no tables."""
    if not path.exists():
        return 0
    with closing(sqlite3.connect(path)) as connection:
        try:
            [number] = connection.execute("SELECT count(*) FROM stored_session").fetchone()
        except sqlite3.OperationalError:
            return 0
    return int(number)


@pytest.mark.system
def test_two_runs_agree_and_a_damaged_index_is_built_again(machine: FakeMachine) -> None:
    """Two runs at the same time both succeed, and each session is there once."""
    command = [*AGENTWATCH, "sessions", "--index"]
    both = [
        subprocess.Popen(command, env=environment(**machine.environ), stdout=subprocess.PIPE)
        for _ in range(2)
    ]
    assert [process.wait(60) for process in both] == [0, 0]
    for process in both:
        process.communicate()
    before = rows(index_of(machine), "SELECT agent, session_id, calls FROM session ORDER BY 1, 2")
    assert rows(index_of(machine), "PRAGMA integrity_check") == [("ok",)]
    index_of(machine).unlink()
    updated(machine)
    assert rows(index_of(machine), "SELECT agent, session_id, calls FROM session ORDER BY 1, 2") == before
    # An index whose file is damaged, at its head or inside, is built again; one line says so
    updated(machine)
    path = index_of(machine)
    count = sessions_in(path)
    for page in (0, 1):
        with case(page):
            data = bytearray(path.read_bytes())
            data[4096 * page : 4096 * page + 4096 * 3] = b"\xa5" * 4096 * 3
            path.write_bytes(data)
            done = updated(machine)
            assert (done.returncode, sessions_in(path)) == (0, count)
            lines = done.stderr.decode().splitlines()
            assert lines[0] == f"agentwatch: {path} was damaged: all sessions are read again"
            assert len(lines) == 2
