"""The files of a session are private, share one stem, and overwrite nothing."""

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from agentwatch.base.files import state_folder
from agentwatch.recording.store import (
    create_file,
    nameless_file,
    new_session_files,
    open_regular,
    saved_recordings,
    sessions_folder,
)
from tests.conftest import case


@contextmanager
def open_mask() -> Iterator[None]:
    """Run the block with umask 0."""
    before = os.umask(0)
    try:
        yield
    finally:
        os.umask(before)


def mode(path: Path) -> int:
    """Return the permission bits of a file."""
    return stat.S_IMODE(path.stat().st_mode)


def test_a_new_file_is_private_and_appends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A created file is private whatever the umask, and every write appends."""
    path = tmp_path / "a"
    with open_mask():
        fd = create_file(path)
    assert mode(path) == 0o600
    os.write(fd, b"one")
    os.lseek(fd, 0, os.SEEK_SET)
    os.write(fd, b"two")
    os.close(fd)
    assert path.read_bytes() == b"onetwo"
    # An existing name is refused, a dangling link included, and what is there stays as it was.
    for kind in ("file", "folder", "link", "dangling", "fifo"):
        with case(kind):
            path, other = tmp_path / f"taken by a {kind}", tmp_path / f"other of {kind}"
            match kind:
                case "file":
                    path.write_text("mine")
                case "folder":
                    path.mkdir()
                case "fifo":
                    os.mkfifo(path)
                case _:
                    if kind == "link":
                        other.write_text("mine")
                    path.symlink_to(other)
            with pytest.raises(FileExistsError):
                create_file(path)
            assert other.exists() == (kind == "link")
            if kind in ("file", "link"):
                assert path.read_text() == "mine"
    # What is not a regular file is refused at once; a FIFO without a writer does not block.
    for kind in ("fifo", "folder", "link", "link to a device", "socket", "none"):
        with case(kind):
            path, other = tmp_path / kind, tmp_path / f"other than {kind}"
            other.write_text("mine")
            match kind:
                case "fifo":
                    os.mkfifo(path)
                case "folder":
                    path.mkdir()
                case "link":
                    path.symlink_to(other)
                case "link to a device":
                    path.symlink_to("/dev/zero")
                case "socket":
                    os.mknod(path, stat.S_IFSOCK | 0o600)
            with pytest.raises(OSError, match=r"."):
                open_regular(path)
            if kind == "link":
                os.close(open_regular(path, follow_links=True))
            else:
                with pytest.raises(OSError, match=r"."):
                    open_regular(path, follow_links=True)
    # The file used when nothing is to be kept can be written and read, and has no name in any folder.
    (nowhere := tmp_path / "nowhere").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(nowhere))
    fd = nameless_file()
    assert list(nowhere.iterdir()) == []
    assert os.fstat(fd).st_nlink == 0
    assert stat.S_IMODE(os.fstat(fd).st_mode) == 0o600
    os.write(fd, b"one")
    os.lseek(fd, 0, os.SEEK_SET)
    os.write(fd, b"two")
    assert os.pread(fd, 10, 0) == b"onetwo"
    os.close(fd)

    # If no folder can be written, the file is in memory; without such files, it is an error.
    def refuse(**_: str) -> None:
        raise FileNotFoundError(errno.ENOENT, "no usable temporary directory")

    monkeypatch.setattr("tempfile.mkstemp", refuse)
    if hasattr(os, "memfd_create"):
        fd = nameless_file()
        os.write(fd, b"one")
        os.lseek(fd, 0, os.SEEK_SET)
        os.write(fd, b"two")
        assert os.pread(fd, 10, 0) == b"onetwo"
        os.close(fd)
    monkeypatch.delattr(os, "memfd_create", raising=False)
    with pytest.raises(FileNotFoundError):
        nameless_file()


def test_the_folder_of_sessions_is_private(
    home: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Sessions are saved in a folder with mode 0700, whatever the umask; the environment names it."""
    assert sessions_folder() == home / "sessions"
    with open_mask():
        files = new_session_files()
    assert files.recording.parent == home / "sessions"
    assert mode(home / "sessions") == 0o700
    assert list((home / "sessions").iterdir()) == []
    # Only recordings are listed, from newest to oldest by the time in their names.
    assert saved_recordings() == []
    folder = new_session_files().recording.parent
    names = ["20260101-000000-ffffff", "20261120-120000-000000", "20261120-115959-aaaaaa"]
    for name in names:
        (folder / f"{name}.ndjson").touch()
        (folder / f"{name}.log").touch()
    assert [path.stem for path in saved_recordings()] == [names[1], names[2], names[0]]
    # The files of a session differ only in their ending, and no two sessions share a stem.
    files = new_session_files()
    paths = [files.recording, files.times, files.log, files.stderr, files.process]
    assert {path.stem for path in paths} == {files.recording.stem}
    assert [path.suffix for path in paths] == [".ndjson", ".times", ".log", ".stderr", ".json"]
    assert len({new_session_files().recording for _ in range(50)}) == 50
    # AGENTWATCH_HOME is the folder; without it, or if it is empty, the user's state folder has one.
    assert state_folder() == home
    assert sessions_folder() == home / "sessions"
    assert state_folder({"AGENTWATCH_HOME": "/x"}) == Path("/x")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    assert state_folder({"AGENTWATCH_HOME": ""}).name == "agentwatch"
    # By default, sessions are saved under the user's state folder.
    monkeypatch.delenv("AGENTWATCH_HOME")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    assert sessions_folder().is_relative_to(tmp_path)
    assert sessions_folder().name == "sessions"


@pytest.mark.parametrize("kind", ["link", "dangling", "loop", "file"])
def test_a_sessions_folder_that_is_no_folder(home: Path, tmp_path: Path, kind: str) -> None:
    """A link or a file in the place of the sessions folder is refused; what it leads to stays as it was."""
    home.mkdir()
    other = tmp_path / "other"
    match kind:
        case "link":
            other.mkdir()
            other.chmod(0o755)  # whatever the umask: its mode would change if it was taken for ours
            (other / "20260101-000000-ffffff.ndjson").touch()
        case "file":
            (home / "sessions").touch()
    if kind != "file":
        (home / "sessions").symlink_to(home / "sessions" if kind == "loop" else other)
    for use in (new_session_files, saved_recordings):
        with pytest.raises(OSError, match="it is a file" if kind == "file" else "it is a link"):
            use()
    assert kind != "link" or (mode(other) == 0o755 and len(list(other.iterdir())) == 1)
