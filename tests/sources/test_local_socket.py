"""A Unix socket may have a path of any length, though its address has room for 103 bytes."""

import os
import shutil
import socket
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from agentwatch.base.local_socket import listen, reach, short_folder
from tests.conftest import case

MOST = 103
"""The bytes of a path in an address on macOS, which has the smallest."""


class Mac(socket.socket):
    """A socket that takes only the addresses that macOS takes."""

    def bind(self, address: object) -> None:
        assert len(os.fsencode(str(address))) <= MOST
        super().bind(str(address))

    def connect(self, address: object) -> None:
        assert len(os.fsencode(str(address))) <= MOST
        super().connect(str(address))


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Return a folder with a short path, which is also the temporary one."""
    monkeypatch.setenv("TMPDIR", "")
    folder = short_folder()
    monkeypatch.setenv("TMPDIR", folder)
    yield Path(folder)
    shutil.rmtree(folder)


def far(folder: Path, length: int) -> Path:
    """Return a path of a length below a folder, whose own folder exists."""
    rest = length - len(os.fspath(folder)) - 1
    path = folder / "".join("/" if at % 100 == 0 < at < rest - 1 else "x" for at in range(rest))
    path.parent.mkdir(parents=True, exist_ok=True)
    assert len(os.fspath(path)) == length
    return path


def is_heard(path: str | Path, words: bytes = b"hello") -> bool:
    """Return whether what is said to the socket at a path arrives at one that listens there."""
    with Mac(socket.AF_UNIX) as listener, Mac(socket.AF_UNIX) as client:
        listen(listener, os.fspath(path), 1)
        reach(client, os.fspath(path))
        client.sendall(words)
        peer, _ = listener.accept()
        with peer:
            return peer.recv(100) == words


def test_a_path_may_have_any_length(short: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The socket is at its path, the user's alone, and replaces one that was left; nothing else remains."""
    paths = [far(short, length) for length in (40, 85, 86, 102, 103, 104, 107, 108, 250, 900)]
    for path in (*paths, short / ("n" * 250)):
        with case(len(os.fspath(path))):
            assert is_heard(path)
            assert is_heard(path), "the one before was left"
            status = path.lstat()
            assert (stat.S_ISSOCK(status.st_mode), stat.S_IMODE(status.st_mode)) == (True, 0o600)
            left = [each for each in path.parent.iterdir() if not each.is_dir()]
            assert left == [path]
            path.unlink()
    monkeypatch.chdir(short)
    for relative in ("s", os.path.relpath(paths[-1])):
        with case(f"relative, {len(relative)}"):
            assert is_heard(relative)
            assert Path(relative).is_socket()
    assert not [*short.glob("aw-*")], "the folder of a link was left"


def test_a_socket_that_cannot_be_made_leaves_nothing(short: Path) -> None:
    """Its folder does not exist, or a folder is at its path."""
    for path in (far(short, 60), far(short, 300)):
        path.mkdir()
        with Mac(socket.AF_UNIX) as listener, case(len(os.fspath(path))):
            with pytest.raises(IsADirectoryError):
                listen(listener, os.fspath(path), 1)
            with pytest.raises(FileNotFoundError):
                reach(listener, f"{path}/none")
        with Mac(socket.AF_UNIX) as listener, pytest.raises(FileNotFoundError):
            listen(listener, f"{path}/none/s", 1)
        assert [each for each in path.parent.iterdir() if not each.is_dir()] == []
    assert not [*short.glob("aw-*")]


def test_the_folder_of_a_link_is_the_users_alone(short: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is in TMPDIR if nobody else can replace it there and the path is short, or else in /tmp."""
    folder = Path(short_folder())
    assert folder.parent == short
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    file, shared, sticky = short / "file", short / "shared", short / "sticky"
    file.touch()
    shared.mkdir()
    shared.chmod(0o777)
    sticky.mkdir()
    sticky.chmod(0o1777)
    monkeypatch.setenv("TMPDIR", str(sticky))
    assert Path(short_folder()).parent == sticky
    long = far(short, 61)
    long.mkdir()
    for place in (file, shared, short / "none", "relative", "", long):
        monkeypatch.setenv("TMPDIR", str(place))
        with case(place):
            folder = Path(short_folder())
            assert folder.parent == Path("/tmp")
            folder.rmdir()
    monkeypatch.setenv("TMPDIR", str(short))
    real = os.stat
    owned = os.stat_result((*real(short)[:4], os.geteuid() + 1, *real(short)[5:]))
    with monkeypatch.context() as patched:
        patched.setattr(os, "stat", lambda path: owned if path == str(short) else real(path))
        folder = Path(short_folder())
    assert folder.parent == Path("/tmp"), "it is a folder of another user"
    folder.rmdir()


def test_a_folder_that_is_there_before_is_not_used(short: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """If somebody knew its name, a link of theirs would not be followed; one line says what to do."""
    known = os.urandom(8)
    monkeypatch.setattr(os, "urandom", lambda _: known)
    taken = short / f"aw-{known.hex()}"
    there = Path("/tmp", taken.name)
    taken.symlink_to(short)
    there.mkdir()
    try:
        with pytest.raises(OSError, match="set TMPDIR to one of yours") as refused:
            short_folder()
    finally:
        there.rmdir()
    assert "\n" not in str(refused.value)
    assert [*short.iterdir()] == [taken]
