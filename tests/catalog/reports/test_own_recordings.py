"""The own recordings that are being written are known exactly."""

from __future__ import annotations

import errno
import fcntl
import json
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from agentwatch.agents.state_report import Life, StateReport
from agentwatch.catalog import reports
from agentwatch.catalog.reports import OwnRecordings
from agentwatch.recording.store import open_regular
from tests.catalog.started_agents import started
from tests.conftest import case

LIVE_AGENT: dict[str, object] = {"command": ["claude"], "cwd": "/repo", "ended_ms": None, "exit_code": None}


class Recordings:
    """A folder of recordings, and its reader."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.reader = OwnRecordings(folder, os.geteuid())
        self.now = 1.0

    def record(self, stem: str, **process: object) -> Path:
        """Create a recording; with fields, also the file that describes its process."""
        self.folder.mkdir(exist_ok=True)
        path = self.folder / f"{stem}.ndjson"
        path.touch()
        if process:
            path.with_suffix(".json").write_text(json.dumps({**LIVE_AGENT, **process}))
        return path

    def reported(self, after: float = 0.5) -> dict[str, StateReport]:
        """Return what is said half a second later, by the stem."""
        self.now += after
        self.reader.refresh(self.now)
        return {key[1]: reported for key, reported in self.reader.reported.items()}


@pytest.fixture
def recordings(tmp_path: Path) -> Recordings:
    """Return a folder that does not exist yet."""
    return Recordings(tmp_path / "sessions")


@contextmanager
def held(path: Path) -> Iterator[None]:
    """Hold the lock of a recording, as the process that writes it does."""
    with path.open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def test_a_recording_is_live_while_it_is_written(recordings: Recordings) -> None:
    """A recording is live while its lock is held; links and other files are not recordings."""
    assert recordings.reported() == {}
    path = recordings.record("one")
    recordings.record("two")
    (recordings.folder / "link.ndjson").symlink_to(path)
    (recordings.folder / "notes.txt").touch()
    # An agent that has ended is not live, though another process still holds the lock.
    ended = recordings.record("ended", pid=os.getpid(), started_ms=1, exit_code=0)
    with held(path), held(ended):
        assert recordings.reported() == {"one": StateReport("agentwatch", "one", Life.LIVE)}
        assert not recordings.reader.refresh(recordings.now)
    assert recordings.reported() == {}


def test_a_recording_that_cannot_be_opened_has_ended(
    recordings: Recordings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A recording that vanishes while it is read is not live."""

    def gone(path: Path) -> int:
        raise FileNotFoundError(path)

    monkeypatch.setattr(reports, "open_regular", gone)
    with held(recordings.record("one")):
        assert recordings.reported() == {}


@pytest.mark.slow
def test_the_process_of_a_recording_is_known(recordings: Recordings, tmp_path: Path) -> None:
    """The process that `run` has started keeps its recording live, also when the monitor was killed."""
    began_ms = int(time.time() * 1000)
    with started(["claude"], tmp_path) as process:
        recordings.record("one", pid=process.pid, started_ms=began_ms)
        recordings.record("past", pid=process.pid, started_ms=1000)
        reported = recordings.reported()
        assert reported == {
            "one": StateReport("agentwatch", "one", Life.LIVE, process.pid, began_ms=began_ms, runs="claude")
        }
        process.kill()
        process.wait()
        assert recordings.reported() == {}


def test_an_ended_recording_is_read_once(recordings: Recordings, monkeypatch: pytest.MonkeyPatch) -> None:
    """A recording that has ended is not opened again until it has changed."""
    path = recordings.record("one")
    settled = path.parent.stat().st_mtime - 10
    os.utime(path.parent, (settled, settled))
    assert recordings.reported() == {}
    opened: list[Path] = []
    original = open_regular

    def noted(path: Path) -> int:
        opened.append(path)
        return original(path)

    monkeypatch.setattr(reports, "open_regular", noted)
    with held(path):
        assert recordings.reported() == {}
        assert recordings.reported(70.0) == {}
        assert opened == []
        path.write_text("more")
        assert recordings.reported(70.0).keys() == {"one"}


def test_recordings_are_removed(recordings: Recordings) -> None:
    """A recording that is removed while it is written is no longer live."""
    path = recordings.record("one")
    other = recordings.record("two")
    with held(path), held(other):
        assert recordings.reported().keys() == {"one", "two"}
        path.unlink()
        assert recordings.reported().keys() == {"two"}
    assert recordings.reported() == {}
    with held(other):
        other.unlink()
        recordings.folder.rmdir()
        assert recordings.reported() == {}


def test_many_recordings_are_read_200_at_a_time(recordings: Recordings) -> None:
    """The newest recordings are read first, and the others with the next steps."""
    paths = [recordings.record(f"2026-{number:03}") for number in range(405)]
    with held(paths[0]), held(paths[404]):
        assert recordings.reported().keys() == {"2026-404"}
        assert recordings.reported().keys() == {"2026-404"}
        assert recordings.reported().keys() == {"2026-404", "2026-000"}


def test_without_locks_a_pipe_that_grows_may_be_written(
    recordings: Recordings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On NFS nobody says so: a pipe that grew lately is not known to run, and one that did not has ended."""
    grown, old = recordings.record("grown"), recordings.record("old")
    os.utime(old, (1, 1))

    def refuse(*_: object) -> None:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    with held(grown), monkeypatch.context() as patch:
        patch.setattr(fcntl, "flock", refuse)
        assert recordings.reported() == {"grown": StateReport("agentwatch", "grown", Life.UNKNOWN)}
        os.utime(grown, (1, 1))
        assert recordings.reported() == {}


def test_the_command_names_the_agent_before_the_first_line(recordings: Recordings) -> None:
    """The agent, and whether it answers one prompt, are read from the command that `run` has started."""
    cases: dict[str, tuple[list[object], str, bool | None]] = {
        "one": (["/opt/bin/codex", "exec", "--json", "x" * 10**6], "codex", True),
        "several": (["claude", "-p", "--input-format", "stream-json"], "claude", False),
        "other": (["make", "test"], "", None),
        "odd": ([7, {}], "", None),
    }
    for stem, (command, runs, has_one_prompt) in cases.items():
        recordings.record(stem, command=command, pid=os.getpid(), started_ms=int(time.time() * 1000))
        with case(stem), held(recordings.folder / f"{stem}.ndjson"):
            reported = recordings.reported(after=100.0)[stem]
            assert (reported.runs, reported.has_one_prompt) == (runs, has_one_prompt)
