"""A recording counts as being written for as long as a process has it open for that."""

import errno
import fcntl
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from agentwatch.base.clock import now_ms
from agentwatch.recording.saved import SavedGrowth, open_saved
from agentwatch.recording.store import create_file
from agentwatch.recording.write_lock import SavedProcess, hold, is_being_written, is_locked, release
from tests.harness.processes import is_ready

HOLDER = """
import os, subprocess, sys
from pathlib import Path
from agentwatch.recording.store import create_file
from agentwatch.recording.write_lock import hold
fd = create_file(Path(sys.argv[1]))
hold(fd)
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"], stdout=fd)
print(child.pid, flush=True)
sys.stdin.read()
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """The path of a recording that does not exist yet."""
    return tmp_path / "r.ndjson"


@pytest.fixture
def written(path: Path) -> Iterator[int]:
    """The descriptor of a recording that is being written."""
    fd = create_file(path)
    hold(fd)
    yield fd
    os.close(fd)


def is_written(path: Path, process: SavedProcess | None = None) -> bool:
    """Return whether a recording is being written, asked with a descriptor of its own."""
    fd = os.open(path, os.O_RDONLY)
    try:
        return is_being_written(fd, process)
    finally:
        os.close(fd)


@pytest.mark.slow
def test_a_child_that_writes_keeps_the_lock(path: Path) -> None:
    """When the monitor is killed, the recording is being written until its last writer has ended."""
    pipe = subprocess.PIPE
    with subprocess.Popen([sys.executable, "-c", HOLDER, str(path)], stdin=pipe, stdout=pipe) as holder:
        assert holder.stdout
        child = int(holder.stdout.readline())
        holder.kill()
        holder.wait()
        assert is_written(path)
        end = os.pidfd_open(child)
        os.kill(child, signal.SIGKILL)
        assert is_ready(end, 10)
        os.close(end)
    assert not is_written(path)


def test_a_recording_is_being_written_until_its_end(path: Path, written: int) -> None:
    """A recording is being written until its writer releases it; those who ask do not change that."""
    # A recording whose agent has ended is complete, although a process may still have it open.
    assert not is_written(path, SavedProcess(os.getpid(), now_ms(), 0))
    assert [is_written(path), is_written(path)] == [True, True]
    release(written)
    assert not is_written(path)
    # A recording that only readers have open is not being written.
    with path.open() as reader:
        fcntl.flock(reader, fcntl.LOCK_SH)
        assert not is_written(path)


def followed(path: Path) -> bool:
    """Return whether a recording is followed if it is opened until its writer ends."""
    reader = open_saved(path, None)
    os.close(reader.fd)
    return isinstance(reader.growth, SavedGrowth) and reader.growth.is_followed


def no_locks(*_: object) -> None:
    """Fail like flock on a file system without locks."""
    raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))


@pytest.mark.slow
def test_without_locks_the_process_decides(path: Path, written: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a file system without locks, a recording is being written while the agent's process lives."""
    monkeypatch.setattr(fcntl, "flock", no_locks)
    hold(written)
    release(written)
    with subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"]) as agent:
        process = SavedProcess(agent.pid, now_ms(), None)
        assert is_written(path, process)
        agent.kill()
        agent.wait()
        assert not is_written(path, process)


@pytest.mark.parametrize(("silent_seconds", "is_running"), [(5, True), (3600, False)])
def test_without_locks_and_start_times_the_growth_decides(
    path: Path, silent_seconds: int, is_running: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If only the id of a living process is known, a recording that grew lately is being written."""
    path.touch()
    grew = path.stat().st_mtime - silent_seconds
    os.utime(path, (grew, grew))
    monkeypatch.setattr(fcntl, "flock", no_locks)
    monkeypatch.setattr("agentwatch.recording.write_lock.is_alive", lambda _process: None)
    assert is_written(path, SavedProcess(os.getpid(), 0, None)) is is_running


@pytest.mark.parametrize("code", [errno.ENOLCK, errno.EOPNOTSUPP, errno.EINVAL])
def test_without_locks_the_growth_of_a_pipe_decides(
    path: Path, written: int, code: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A pipe has no process that could be asked: its recording is being written if it grew lately."""

    def refuse(*_: object) -> None:
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(fcntl, "flock", refuse)
    assert is_locked(written) is None
    assert is_written(path)
    grew = path.stat().st_mtime - 3600
    os.utime(path, (grew, grew))
    assert not is_written(path)


def test_without_locks_a_pipe_is_followed_while_it_grows(
    path: Path, written: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It has arrival times. A file without them is complete, so that printing it does not wait."""
    monkeypatch.setattr(fcntl, "flock", no_locks)
    assert not followed(path)
    path.with_suffix(".times").touch()
    assert followed(path)
    grew = path.stat().st_mtime - 61
    os.utime(path, (grew, grew))
    assert not followed(path)
    os.write(written, b"{}\n")
    assert followed(path)
