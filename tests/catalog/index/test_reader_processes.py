"""Many sessions are read by several processes, with the same rows as by one."""

import os
import signal
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from agentwatch.base import helper_process
from agentwatch.catalog import reader_processes
from agentwatch.catalog.index import SessionIndex, update
from agentwatch.catalog.reader_processes import read_sessions
from agentwatch.catalog.statistics import Chosen, Statistics, statistics
from tests.builders.helper_processes import are_over, helper_processes
from tests.builders.machine.fake import fake_machine
from tests.catalog.index.machines import Indexed

pytestmark = pytest.mark.slow


@pytest.fixture
def indexed(tmp_path: Path) -> Indexed:
    """A machine with captures of all agents and 13 made sessions, and the path of an index."""
    return Indexed(fake_machine(tmp_path / "machine", 13), tmp_path / "state" / "index.db")


@pytest.fixture
def several(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Three cores, and no session is too small for a process."""
    monkeypatch.setattr(reader_processes, "_LEAST_BYTES", 1)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _pid: {0, 1, 2}, raising=False)
    started = helper_processes(monkeypatch)
    yield
    assert are_over(started)


def found_in(indexed: Indexed) -> Statistics:
    """Return the statistics over all sessions of a machine, whose index is made again."""
    indexed.path.unlink(missing_ok=True)
    indexed.update()
    with closing(sqlite3.connect(indexed.path)) as connection:
        return statistics(connection, Chosen())._replace(spent=[])


def children() -> list[int]:
    """Return the numbers of the processes that this one has started."""
    return [int(pid) for pid in Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()]


def by_path(indexed: Indexed) -> dict[Path, Any]:
    """Return the rows of each session, each read once, and kill the processes after the first."""
    rows: dict[Path, Any] = {}
    for entry, read in read_sessions(indexed.found()):
        assert entry.path not in rows
        for pid in children() if not rows else ():
            os.kill(pid, signal.SIGKILL)
        rows[entry.path] = read
    return rows


def test_several_processes_read_what_one_reads(
    indexed: Indexed, monkeypatch: pytest.MonkeyPatch, several: None
) -> None:
    """The statistics are those of one process, and no session lacks. A small job starts no process, and on
    a system that does not say which cores we may use, all count."""
    by_several = found_in(indexed)
    with monkeypatch.context() as patched:
        patched.setattr(reader_processes, "_LEAST_BYTES", 1 << 30)
        patched.setattr(helper_process, "_START", "raise SystemExit(1)")
        assert found_in(indexed) == by_several
    assert by_several.of_sessions.sums.sessions > 20
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    assert found_in(indexed) == by_several


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="the children are found in /proc")
def test_what_a_killed_process_was_reading_is_read_here(indexed: Indexed, several: None) -> None:
    """If the processes are killed, each session has its rows all the same."""
    rows = by_path(indexed)
    assert {*rows} == {entry.path for entry in indexed.found()}


def test_without_another_process_all_is_read_here(
    indexed: Indexed, monkeypatch: pytest.MonkeyPatch, several: None
) -> None:
    """A process that cannot be started, or that ends at once, costs no session."""
    expected = {entry.path for entry in indexed.found()}
    with monkeypatch.context() as patched:
        patched.setattr(helper_process, "_START", "raise SystemExit(1)")
        assert {entry.path for entry, _ in read_sessions(indexed.found())} == expected
    for program in ("/no/python", None):
        monkeypatch.setattr("sys.executable", program)
        assert {entry.path for entry, _ in read_sessions(indexed.found())} == expected


def test_the_processes_end_with_the_reading(indexed: Indexed, several: None) -> None:
    """If the index cannot be written, the processes are ended with it."""
    with closing(SessionIndex(indexed.path, "1.0")) as index:
        index.connection.execute("PRAGMA query_only = 1")
        with pytest.raises(sqlite3.OperationalError):
            update(index, indexed.found())
