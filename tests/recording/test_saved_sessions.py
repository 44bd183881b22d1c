"""A saved session gets a name without disturbing what `run` writes beside it."""

import json
import os
import shutil
import stat
import time
from pathlib import Path

import pytest

from agentwatch.recording import saved_sessions
from agentwatch.recording.saved_sessions import (
    MOST_NAME,
    Prunable,
    delete_session,
    is_stem,
    prunable,
    rename_session,
    replace_object,
    saved_stems,
    session_files,
    session_size,
)
from agentwatch.recording.store import SessionFiles, create_file, new_session_files, sessions_folder
from agentwatch.recording.write_lock import hold, read_process
from tests.builders.machine.rows import DAY_SECONDS, ENDINGS, MARKED, names, save
from tests.conftest import case

RUNNING = {"command": ["a"], "cwd": "/", "pid": 4711, "started_ms": 1000, "ended_ms": None, "exit_code": None}


def described(path: Path) -> dict[str, object]:
    """Return the description beside a recording."""
    found = json.loads(SessionFiles(path).process.read_text())
    assert isinstance(found, dict)
    return found


def test_a_name_is_added_to_a_description() -> None:
    """A recording of a pipe gets a private file for its name; what `run` writes there stays."""
    path = save(1)
    process = SessionFiles(path).process
    rename_session(path, "The rewrite")
    assert described(path) == {"name": "The rewrite"}
    assert stat.S_IMODE(process.stat().st_mode) == 0o600
    assert read_process(process) is None
    # A name is added to what `run` has written, changed and removed again.
    path = save(1)
    SessionFiles(path).process.write_text(json.dumps(RUNNING))
    for name in ("A name that is longer than the next", "Short"):
        rename_session(path, name)
        assert described(path) == RUNNING | {"name": name}
    assert read_process(SessionFiles(path).process) is not None
    rename_session(path, "")
    assert described(path) == RUNNING
    # A session can be named while `run` has its description open; both find the other's keys.
    path = save(2)
    fd = create_file(SessionFiles(path).process)
    replace_object(fd, lambda before: RUNNING)
    rename_session(path, "The rewrite")
    replace_object(fd, lambda before: (before or {}) | {"exit_code": 0})
    os.close(fd)
    assert described(path) == RUNNING | {"exit_code": 0, "name": "The rewrite"}
    # A writer that has hung with the lock does not stop others for ever.
    path = save(3)
    rename_session(path, "a")
    with open(SessionFiles(path).process, "rb") as held:
        hold_lock(held.fileno())
        rename_session(path, "b")
    assert described(path)["name"] == "b"
    # A name is one line of bounded length; it is made safe where it is shown. What is not a description is
    # not overwritten. A name that is not text is ignored, and can be replaced.
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
    path = save(1)
    process = SessionFiles(path).process
    for text in ("[]", "{", "null", '"name"', "[" * 5000):
        with case(text[:80]):
            process.write_text(text)
            with pytest.raises(OSError, match="it does not describe a session"):
                rename_session(path, "a")
            assert process.read_text() == text
    path = save(1)
    for wrong in (None, 1, ["a"], {"a": 1}):
        with case(wrong):
            SessionFiles(path).process.write_text(json.dumps(RUNNING | {"name": wrong}))
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


def test_a_reader_finds_a_whole_description(monkeypatch: pytest.MonkeyPatch) -> None:
    """Between the write and the cut the file is complete, if the new description is shorter."""
    # A session that was deleted, or that is not ours, is not named.
    path = save(1)
    path.unlink()
    with pytest.raises(FileNotFoundError):
        rename_session(path, "a")
    assert names() == set()
    other = save(1).rename(path.with_name("mine.ndjson"))
    with pytest.raises(OSError, match="not among the sessions"):
        rename_session(other, "a")
    assert names() == {other.name}
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


def hold_lock(fd: int) -> None:
    """Take the lock that writers of a description take."""
    import fcntl

    fcntl.flock(fd, fcntl.LOCK_EX)


def test_every_file_of_a_session_counts(tmp_path: Path) -> None:
    """The size of a session is that of all its files, also of those without a recording."""
    assert saved_stems() == []
    path = save(2, *ENDINGS[1:])
    [stem] = saved_stems()
    assert stem.recording == path
    assert stem.size == session_size(path) == path.stat().st_size + 1_100
    assert stem.changed_ms == path.stat().st_mtime_ns // 10**6
    path.unlink()
    [stem] = saved_stems()
    assert (stem.recording, stem.size) == (path, 1_100)
    # The order is that of the times in the stems.
    shutil.rmtree(sessions_folder())
    old, new = save(3), save(1)
    assert [stem.recording for stem in saved_stems()] == [new, old]
    # Files with other endings, links, FIFOs and folders beside a recording are not counted.
    shutil.rmtree(sessions_folder())
    path = save(2, ".md", ".ndjson.gz", ".bookmarks.json.bak")
    path.with_suffix(".log").symlink_to(path)
    path.with_suffix(".times").mkdir()
    os.mkfifo(path.with_suffix(".json"))
    [stem] = saved_stems()
    assert stem.size == path.stat().st_size
    # A link in the place of a recording, or one of another user, leaves out all that is beside it.
    shutil.rmtree(sessions_folder())
    path = save(2, ".log")
    assert saved_stems(os.geteuid() + 1) == []
    path.rename(tmp_path / "elsewhere")
    path.symlink_to(tmp_path / "elsewhere")
    assert saved_stems() == []
    # The sessions behind a link are neither listed nor measured.
    shutil.rmtree(sessions_folder())
    path = save(2)
    sessions_folder().rename(tmp_path / "another folder")
    sessions_folder().symlink_to(tmp_path / "another folder")
    with pytest.raises(OSError, match="it is a link, which is not followed"):
        saved_stems()
    assert session_size(path) == 0


def test_only_names_of_ours_are_stems(tmp_path: Path) -> None:
    """What agentwatch names itself is its own."""
    assert is_stem(new_session_files().recording.stem)
    # A file that somebody has put among the sessions is not one of ours.
    for name in (
        "",
        "session",
        "20261120-140307",
        "20261120-140307-",
        "20261120-140307-xyzxyz",
        "20261120-140307-ABCDEF",
        "20261120-14030-abcdef",
        "2026112a-140307-abcdef",
        "²0261120-140307-abcdef",
        "20261120-140307-abcdef0123456789a",
        "20261120-140307-abcdef-1",
        ".20261120-140307-abcdef",
    ):
        with case(name):
            assert not is_stem(name)
            path = save(2)
            moved = path.rename(path.with_name(f"{name}.ndjson"))
            assert saved_stems() == []
            with pytest.raises(OSError, match="not among the sessions that agentwatch has saved"):
                session_files(moved)
    # A file elsewhere is refused, whatever its name is; the folder may be named in another way.
    path = save(2)
    with pytest.raises(OSError, match="not among the sessions"):
        session_files(tmp_path / path.name)
    with pytest.raises(OSError, match="not among the sessions"):
        session_files(path.with_suffix(".jsonl"))
    (tmp_path / "link").symlink_to(path.parent.parent)
    assert session_files(tmp_path / "link" / "sessions" / path.name).recording == path


def test_all_files_of_a_session_are_deleted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every file with the stem is gone; the files of other sessions and foreign files stay."""
    path, other = save(1, *ENDINGS[1:]), save(2, ".log")
    foreign = path.with_name(f"{path.stem}.md")
    foreign.write_bytes(b"mine")
    assert delete_session(path) == 1_100 + other.stat().st_size
    assert names() == {foreign.name, other.name, f"{other.stem}.log"}
    # A link beside a recording is left, and a recording that is a link is refused.
    shutil.rmtree(sessions_folder())
    (tmp_path / "mine").write_bytes(b"mine")
    path = save(1)
    path.with_suffix(".log").symlink_to(tmp_path / "mine")
    delete_session(path)
    assert names() == {f"{path.stem}.log"}
    path.symlink_to(tmp_path / "mine")
    with pytest.raises(OSError, match="not a regular file of this user"):
        delete_session(path)
    assert (tmp_path / "mine").read_bytes() == b"mine"
    # Nothing of a session is deleted for another user than its owner.
    shutil.rmtree(sessions_folder())
    path = save(1, ".log")
    with pytest.raises(OSError, match="not a regular file of this user"):
        delete_session(path, os.geteuid() + 1)
    assert len(names()) == 2
    # A file elsewhere, or one that agentwatch has not named, is refused.
    path = save(1)
    mine = path.rename(path.with_name("mine.ndjson"))
    elsewhere = tmp_path / path.name
    elsewhere.write_bytes(b"mine")
    for each in (mine, elsewhere):
        with pytest.raises(OSError, match="not among the sessions that agentwatch has saved"):
            delete_session(each)
        assert each.exists()
    # The files after one that cannot be deleted are deleted, and the error is reported.
    shutil.rmtree(sessions_folder())
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
    # If the recording cannot be deleted, nothing else of its session is.
    shutil.rmtree(sessions_folder())
    path = save(1, ".log")

    def forbidden(name: str, *, dir_fd: int) -> None:
        raise PermissionError(13, "Permission denied", name)

    monkeypatch.setattr(os, "unlink", forbidden)
    with pytest.raises(PermissionError):
        delete_session(path)
    assert len(names()) == 2


def started_ms() -> int:
    """Return the start of this process, in milliseconds since the epoch."""
    from agentwatch.recording.write_lock import _started_ms

    started = _started_ms(os.getpid())
    assert started is not None
    return started


def test_a_session_is_deleted_once_it_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is recorded is kept; what has no recording, or vanishes meanwhile, is deleted."""
    # A traceback alone is deleted too.
    path = save(1, ".crash")
    path.unlink()
    assert delete_session(path) == 100
    assert names() == set()
    assert delete_session(path) == 0
    # Two programs may delete a session at the same time.
    path = save(1, *ENDINGS[1:])
    unlink = os.unlink

    def raced(name: str, *, dir_fd: int) -> None:
        unlink(name, dir_fd=dir_fd)
        unlink(name, dir_fd=dir_fd)

    with monkeypatch.context() as patched:
        patched.setattr(os, "unlink", raced)
        assert delete_session(path) == 0
    assert names() == set()
    # While its writer holds the lock, or its agent runs, nothing of a session is deleted.
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
    # A session of a folder that is gone is reported as missing.
    path = save(1)
    path.unlink()
    sessions_folder().rmdir()
    with pytest.raises(FileNotFoundError):
        delete_session(path)
    assert saved_sessions.saved_stems() == []


def before(days: float) -> int:
    """Return the time some days ago, in milliseconds since the epoch."""
    return int((time.time() - days * DAY_SECONDS) * 1000)


def paths(found: Prunable) -> list[Path]:
    """Return the recordings that may be deleted."""
    return [stem.recording for stem in found.sessions]


def test_sessions_are_chosen_by_age() -> None:
    """Sessions that were last written before a time are chosen, newest first, with all their files."""
    # A session that was written today is new, and so is one that was started today.
    path = save(40)
    os.utime(path)
    assert paths(prunable(before(30))) == []
    restored = save(1)
    os.utime(restored, (0, 0))
    assert paths(prunable(before(30))) == []
    # An agent that has written nothing for a month is still recorded.
    path = save(40)
    fd = os.open(path, os.O_RDWR)
    hold(fd)
    assert prunable(before(30)) == Prunable([], recorded=1)
    os.close(fd)
    assert paths(prunable(before(30))) == [path]
    # Files whose recording is gone have the age of the newest of them.
    path.unlink()
    path = save(40, ".crash")
    path.unlink()
    assert paths(prunable(before(30))) == [path]
    os.utime(path.with_suffix(".crash"))
    assert paths(prunable(before(30))) == []
    # A stem with a thirteenth month has the age of its file.
    path.with_suffix(".crash").unlink()
    path = save(40)
    moved = path.rename(path.with_name("20261399-999999-abcdef.ndjson"))
    assert paths(prunable(before(30))) == [moved]
    moved.unlink()
    save(1)
    old, oldest = save(40, ".log"), save(50)
    found = prunable(before(30))
    assert paths(found) == [old, oldest]
    assert found.size == old.stat().st_size + oldest.stat().st_size + 100
    assert paths(prunable(before(60))) == []
    # Sessions that belong to another user are not chosen.
    save(40)
    assert paths(prunable(before(30), uid=os.geteuid() + 1)) == []


@pytest.mark.parametrize(
    ("marks", "is_kept"),
    [(MARKED, True), (b"{", True), (b"", False), (b'{"version":1,"bookmarks":[]}', False), (None, False)],
)
def test_bookmarked_sessions_are_kept_on_demand(marks: bytes | None, is_kept: bool) -> None:
    """A session with bookmarks, or whose bookmarks cannot be read, is kept if that is wanted."""
    path = save(40)
    if marks is not None:
        path.with_suffix(".bookmarks.json").write_bytes(marks)
    assert paths(prunable(before(30))) == [path]
    found = prunable(before(30), keep_bookmarked=True)
    assert (paths(found), found.bookmarked) == ([], 1) if is_kept else ([path], 0)
