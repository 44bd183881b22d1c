"""The file of an export is whole, or it is not there."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from agentwatch.cli.export.output import write_file
from agentwatch.faults import Fault
from tests.harness.program import environment

INTERRUPTED = """
import sys, time
from pathlib import Path
from agentwatch.cli.export.output import write_file

def pieces():
    yield b"half" * 1000
    print("half", flush=True)
    time.sleep(60)

write_file(Path(sys.argv[1]), pieces(), replaces=True)
"""


def mode_of(path: Path) -> int:
    """Return the permissions of a file."""
    return stat.S_IMODE(path.stat().st_mode)


def test_a_new_file_is_private(tmp_path: Path) -> None:
    """A new file can only be read by the user, whatever the umask; its size is returned."""
    before = os.umask(0)
    try:
        assert write_file(tmp_path / "a", [b"one", b"", b"two"], replaces=False) == 6
    finally:
        os.umask(before)
    assert (tmp_path / "a").read_bytes() == b"onetwo"
    assert mode_of(tmp_path / "a") == 0o600


def test_a_replaced_file_keeps_its_permissions(tmp_path: Path) -> None:
    """A file that is named explicitly is replaced, and keeps its permissions."""
    path = tmp_path / "a"
    path.write_bytes(b"longer than before")
    path.chmod(0o644)
    inode = path.stat().st_ino
    write_file(path, [b"new"], replaces=True)
    assert path.read_bytes() == b"new"
    assert mode_of(path) == 0o644
    assert path.stat().st_ino != inode


def test_a_file_is_not_replaced_unasked(tmp_path: Path) -> None:
    """Without the permission to replace it, an existing file is left alone."""
    (tmp_path / "a").write_bytes(b"old")
    with pytest.raises(Fault, match="it already exists and is not overwritten") as raised:
        write_file(tmp_path / "a", [b"new"], replaces=False)
    assert raised.value.exit_code == 73
    assert [path.name for path in tmp_path.iterdir()] == ["a"]
    assert (tmp_path / "a").read_bytes() == b"old"


def test_the_target_of_a_link_is_replaced(tmp_path: Path) -> None:
    """A link stays a link, and a link without a target gets one."""
    (tmp_path / "target").write_bytes(b"old")
    (tmp_path / "link").symlink_to("target")
    (tmp_path / "dangling").symlink_to("made")
    write_file(tmp_path / "link", [b"new"], replaces=True)
    write_file(tmp_path / "dangling", [b"new"], replaces=True)
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "target").read_bytes() == (tmp_path / "made").read_bytes() == b"new"


@pytest.mark.parametrize(
    ("name", "reason"),
    [("", "it is a folder"), ("none/a", "no such file or directory"), ("file/a", "not a directory")],
)
def test_a_path_that_can_be_no_file_is_a_fault(tmp_path: Path, name: str, reason: str) -> None:
    """A folder, and a file in no folder, are reported in one line with the exit code 73."""
    (tmp_path / "file").touch()
    with pytest.raises(Fault, match=reason) as raised:
        write_file(tmp_path / name, [b"new"], replaces=True)
    assert raised.value.exit_code == 73
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_a_device_is_written_directly() -> None:
    """A device is no file to replace; if it is full, that is reported."""
    assert write_file(Path(os.devnull), [b"abc"], replaces=True) == 3
    with pytest.raises(Fault, match="no space left on device"):
        write_file(Path("/dev/full"), [b"abc"], replaces=True)


def test_an_error_while_writing_leaves_nothing(tmp_path: Path) -> None:
    """If the exporter fails, or the user interrupts it, the old file is there, and no other."""
    (tmp_path / "a").write_bytes(b"old")

    def pieces(error: BaseException) -> Iterator[bytes]:
        yield b"half"
        raise error

    for error in (Fault("no", 2), KeyboardInterrupt(), OSError(28, "No space left on device")):
        with pytest.raises((Fault, KeyboardInterrupt)):
            write_file(tmp_path / "a", pieces(error), replaces=True)
        assert [path.name for path in tmp_path.iterdir()] == ["a"]
        assert (tmp_path / "a").read_bytes() == b"old"


@pytest.mark.parametrize("exists", [True, False])
def test_a_killed_export_leaves_the_old_file(tmp_path: Path, exists: bool) -> None:
    """Killed in the middle, an export has changed nothing under the name of its file."""
    path = tmp_path / "a"
    if exists:
        path.write_bytes(b"old")
    argv = [sys.executable, "-c", INTERRUPTED, str(path)]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, env=environment()) as program:
        assert program.stdout is not None
        assert program.stdout.readline() == b"half\n"
        program.send_signal(signal.SIGKILL)
    assert path.exists() is exists
    assert not exists or path.read_bytes() == b"old"
