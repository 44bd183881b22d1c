"""A saved session gets a name without disturbing what `run` writes beside it."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path

import pytest

from agentwatch.recording.saved_sessions import MOST_NAME, read_name, rename_session, replace_object
from agentwatch.recording.store import SessionFiles, create_file
from agentwatch.recording.write_lock import read_process
from tests.builders.machine.saved import names, save
from tests.conftest import case

RUNNING = {"command": ["a"], "cwd": "/", "pid": 4711, "started_ms": 1000, "ended_ms": None, "exit_code": None}


def described(path: Path) -> dict[str, object]:
    """Return the description beside a recording."""
    found = json.loads(SessionFiles(path).process.read_text())
    assert isinstance(found, dict)
    return found


def test_a_recording_of_a_pipe_gets_a_file_for_its_name() -> None:
    """The new file has only the name, is private, and describes no process."""
    path = save(1)
    process = SessionFiles(path).process
    assert read_name(process) == ""
    rename_session(path, "The rewrite")
    assert described(path) == {"name": "The rewrite"}
    assert stat.S_IMODE(process.stat().st_mode) == 0o600
    assert read_name(process) == "The rewrite"
    assert read_process(process) is None


def test_the_other_keys_stay() -> None:
    """A name is added to what `run` has written, changed and removed again."""
    path = save(1)
    SessionFiles(path).process.write_text(json.dumps(RUNNING))
    for name in ("A name that is longer than the next", "Short"):
        rename_session(path, name)
        assert described(path) == RUNNING | {"name": name}
    assert read_process(SessionFiles(path).process) is not None
    rename_session(path, "")
    assert described(path) == RUNNING


def test_what_run_writes_into_its_open_file_is_not_lost() -> None:
    """A session can be named while `run` has its description open; both find the other's keys."""
    path = save(1)
    fd = create_file(SessionFiles(path).process)
    replace_object(fd, lambda before: RUNNING)
    rename_session(path, "The rewrite")
    replace_object(fd, lambda before: (before or {}) | {"exit_code": 0})
    os.close(fd)
    assert described(path) == RUNNING | {"exit_code": 0, "name": "The rewrite"}


def test_a_name_is_one_line() -> None:
    """A name is one line of bounded length; it is made safe where it is shown."""
    path = save(1)
    for given, kept in {
        "  two\nlines\tand \x00 more ": "two lines and \x00 more",
        "\ud800": "?",
        "é" * 1000: "é" * MOST_NAME,
        "\x1b[31m": "\x1b[31m",
        "   ": "",
    }.items():
        with case(f"{given!r:.80}"):
            rename_session(path, given)
            assert described(path).get("name", "") == kept
            assert read_name(SessionFiles(path).process) == kept


def test_a_file_of_something_else_is_left() -> None:
    """What is not a description is not overwritten."""
    path = save(1)
    process = SessionFiles(path).process
    for text in ("[]", "{", "null", '"name"', "[" * 5000):
        with case(text[:80]):
            process.write_text(text)
            with pytest.raises(OSError, match="it does not describe a session"):
                rename_session(path, "a")
            assert process.read_text() == text
            assert read_name(process) == ""


def test_a_name_of_another_type_is_none() -> None:
    """A name that is not text is ignored, and can be replaced."""
    path = save(1)
    for name in (None, 1, ["a"], {"a": 1}):
        with case(name):
            SessionFiles(path).process.write_text(json.dumps(RUNNING | {"name": name}))
            assert read_name(SessionFiles(path).process) == ""
            rename_session(path, "a")
            assert described(path) == RUNNING | {"name": "a"}


@pytest.mark.parametrize("kind", ["link", "fifo", "folder"])
def test_only_a_regular_file_is_written(tmp_path: Path, kind: str) -> None:
    """A link, a FIFO or a folder in the place of the description is refused, and delays nothing."""
    path = save(1)
    process = SessionFiles(path).process
    (tmp_path / "mine").write_text("{}")
    match kind:
        case "link":
            process.symlink_to(tmp_path / "mine")
        case "fifo":
            os.mkfifo(process)
        case "folder":
            process.mkdir()
    with pytest.raises(OSError, match=r"."):
        rename_session(path, "a")
    assert (tmp_path / "mine").read_text() == "{}"


def test_a_session_that_is_gone_gets_no_file() -> None:
    """A session that was deleted, or that is not ours, is not named."""
    path = save(1)
    path.unlink()
    with pytest.raises(FileNotFoundError):
        rename_session(path, "a")
    assert names() == set()
    other = save(1).rename(path.with_name("mine.ndjson"))
    with pytest.raises(OSError, match="not among the sessions"):
        rename_session(other, "a")
    assert names() == {other.name}


def test_a_full_disk_leaves_the_description(monkeypatch: pytest.MonkeyPatch) -> None:
    """If a longer description cannot be written, the old one is there again."""
    path = save(1)
    process = SessionFiles(path).process
    process.write_text(json.dumps(RUNNING))
    pwrite, size = os.pwrite, process.stat().st_size

    def full(fd: int, data: bytes, offset: int) -> int:
        if offset >= size + 2:
            raise OSError(28, "No space left on device")
        return pwrite(fd, data[: size + 2 - offset], offset)

    monkeypatch.setattr(os, "pwrite", full)
    with pytest.raises(OSError, match="No space left on device"):
        rename_session(path, "A name")
    assert described(path) == RUNNING
    assert process.stat().st_size == size


def test_a_reader_finds_a_whole_description(monkeypatch: pytest.MonkeyPatch) -> None:
    """Between the write and the cut the file is complete, if the new description is shorter."""
    path = save(1)
    process = SessionFiles(path).process
    process.write_text(json.dumps(RUNNING | {"name": "x" * 100}))
    found = []
    ftruncate = os.ftruncate

    def noted(fd: int, size: int) -> None:
        found.append(described(path))
        ftruncate(fd, size)

    monkeypatch.setattr(os, "ftruncate", noted)
    rename_session(path, "")
    assert found == [RUNNING]


def test_a_held_lock_delays_a_name_for_a_moment_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """A writer that has hung with the lock does not stop others for ever."""
    path = save(1)
    rename_session(path, "a")
    with open(SessionFiles(path).process, "rb") as held:
        hold_lock(held.fileno())
        rename_session(path, "b")
    assert read_name(SessionFiles(path).process) == "b"


def hold_lock(fd: int) -> None:
    """Take the lock that writers of a description take."""
    import fcntl

    fcntl.flock(fd, fcntl.LOCK_EX)
