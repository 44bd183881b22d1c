"""A saved session is deleted with all of its files, unless it is still being recorded."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from agentwatch.recording import saved_sessions
from agentwatch.recording.saved_sessions import delete_session
from agentwatch.recording.store import sessions_folder
from agentwatch.recording.write_lock import hold
from tests.builders.machine.saved import ENDINGS, names, save


def test_all_files_of_a_session_are_deleted() -> None:
    """Every file with the stem is gone; the files of other sessions and foreign files stay."""
    path, other = save(1, *ENDINGS[1:]), save(2, ".log")
    foreign = path.with_name(f"{path.stem}.md")
    foreign.write_bytes(b"mine")
    assert delete_session(path) == 1_100 + other.stat().st_size
    assert names() == {foreign.name, other.name, f"{other.stem}.log"}


def test_a_session_that_is_being_recorded_is_kept() -> None:
    """While its writer holds the lock, or its agent runs, nothing of a session is deleted."""
    path = save(1, ".log")
    fd = os.open(path, os.O_RDWR)
    hold(fd)
    with pytest.raises(OSError, match="it is still being recorded"):
        delete_session(path)
    os.close(fd)
    running = {"command": ["a"], "pid": os.getpid(), "started_ms": started_ms(), "exit_code": None}
    path.with_suffix(".json").write_text(json.dumps(running))
    with pytest.raises(OSError, match="it is still being recorded"):
        delete_session(path)
    assert names() == {path.name, f"{path.stem}.log", f"{path.stem}.json"}
    path.with_suffix(".json").write_text(json.dumps(running | {"exit_code": 0}))
    delete_session(path)
    assert names() == set()


def started_ms() -> int:
    """Return the start of this process, in milliseconds since the epoch."""
    from agentwatch.recording.write_lock import _started_ms

    started = _started_ms(os.getpid())
    assert started is not None
    return started


def test_files_without_a_recording_are_deleted() -> None:
    """A traceback alone is deleted too."""
    path = save(1, ".crash")
    path.unlink()
    assert delete_session(path) == 100
    assert names() == set()
    assert delete_session(path) == 0


def test_links_and_what_they_lead_to_are_kept(tmp_path: Path) -> None:
    """A link beside a recording is left, and a recording that is a link is refused."""
    (tmp_path / "mine").write_bytes(b"mine")
    path = save(1)
    path.with_suffix(".log").symlink_to(tmp_path / "mine")
    delete_session(path)
    assert names() == {f"{path.stem}.log"}
    path.symlink_to(tmp_path / "mine")
    with pytest.raises(OSError, match="it is not a regular file of this user"):
        delete_session(path)
    assert (tmp_path / "mine").read_bytes() == b"mine"


def test_the_session_of_another_user_is_kept() -> None:
    """Nothing of a session is deleted for another user than its owner."""
    path = save(1, ".log")
    with pytest.raises(OSError, match="it is not a regular file of this user"):
        delete_session(path, os.geteuid() + 1)
    assert len(names()) == 2


def test_a_foreign_file_is_kept(tmp_path: Path) -> None:
    """A file elsewhere, or one that agentwatch has not named, is refused."""
    path = save(1)
    mine = path.rename(path.with_name("mine.ndjson"))
    elsewhere = tmp_path / path.name
    elsewhere.write_bytes(b"mine")
    for each in (mine, elsewhere):
        with pytest.raises(OSError, match="not among the sessions that agentwatch has saved"):
            delete_session(each)
        assert each.exists()


def test_a_file_that_vanishes_is_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two programs may delete a session at the same time."""
    path = save(1, *ENDINGS[1:])
    unlink = os.unlink

    def raced(name: str, *, dir_fd: int) -> None:
        unlink(name, dir_fd=dir_fd)
        unlink(name, dir_fd=dir_fd)

    with monkeypatch.context() as patched:
        patched.setattr(os, "unlink", raced)
        assert delete_session(path) == 0
    assert names() == set()


def test_a_folder_that_cannot_be_written_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    """If the recording cannot be deleted, nothing else of its session is."""
    path = save(1, ".log")

    def refused(name: str, *, dir_fd: int) -> None:
        raise PermissionError(13, "Permission denied", name)

    monkeypatch.setattr(os, "unlink", refused)
    with pytest.raises(PermissionError):
        delete_session(path)
    assert len(names()) == 2


def test_one_file_that_cannot_be_deleted_keeps_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    """The files after one that cannot be deleted are deleted, and the error is reported."""
    path = save(1, ".times", ".log")
    unlink = os.unlink

    def refused(name: str, *, dir_fd: int) -> None:
        if name.endswith(".times"):
            raise OSError(5, "Input/output error", name)
        unlink(name, dir_fd=dir_fd)

    with monkeypatch.context() as patched:
        patched.setattr(os, "unlink", refused)
        with pytest.raises(OSError, match="Input/output error"):
            delete_session(path)
    assert names() == {f"{path.stem}.times"}


def test_without_a_folder_there_is_nothing_to_delete() -> None:
    """A session of a folder that is gone is reported as missing."""
    path = save(1)
    path.unlink()
    sessions_folder().rmdir()
    with pytest.raises(FileNotFoundError):
        delete_session(path)
    assert saved_sessions.saved_stems() == []
