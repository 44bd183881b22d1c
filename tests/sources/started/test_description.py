"""An agent is followed to its end and described, whatever its command and its folder are."""

import json
import os
import subprocess
import sys
import tracemalloc
from pathlib import Path

import pytest

from agentwatch.cli.printing import print_session
from agentwatch.feed.feed import Feed
from agentwatch.sources.open import KeepOptions, agent_source
from agentwatch.sources.process import StderrFile
from tests.harness.program import AGENTWATCH, environment

NOT_UTF8 = pytest.mark.skipif(sys.platform != "linux", reason="other file systems refuse such names")


def run(folder: Path, *agent: bytes | str, before: str = "") -> tuple[int, dict[str, object], bytes]:
    """Run an agent after `before`, in a shell; return our exit code, its description, and stderr."""
    argv = [*AGENTWATCH, "run", "--print", "--record", str(folder / "r.ndjson"), "--", *agent]
    done = subprocess.run(
        ["sh", "-c", f'{before or ":"}; exec "$@"', "sh", *argv],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        env=environment(),
        timeout=30,
        check=False,
    )
    return done.returncode, json.loads((folder / "r.json").read_bytes()), done.stderr


@pytest.mark.slow
@NOT_UTF8
def test_an_argument_that_is_not_utf8(tmp_path: Path) -> None:
    """A byte of the command that is not UTF-8 reaches the agent, and is described as an escape."""
    code, described, _ = run(tmp_path, "sh", "-c", 'test "$0" = "$(printf "caf\\351")" && exit 3', b"caf\xe9")
    assert code == 3
    assert described["exit_code"] == 3
    assert described["command"] == ["sh", "-c", 'test "$0" = "$(printf "caf\\351")" && exit 3', "caf\\xe9"]


@pytest.mark.slow
@pytest.mark.system
@NOT_UTF8
def test_a_folder_that_is_not_utf8(tmp_path: Path) -> None:
    """A byte of the working directory that is not UTF-8 is described as an escape."""
    os.mkdir(os.fsencode(tmp_path) + b"/caf\xe9")
    code, described, _ = run(tmp_path, "sh", "-c", "exit 3", before=f"cd '{tmp_path}'/caf*")
    assert (code, described["exit_code"]) == (3, 3)
    assert described["cwd"] == f"{tmp_path}/caf\\xe9"


@pytest.mark.slow
@pytest.mark.system
def test_a_folder_that_is_deleted(tmp_path: Path) -> None:
    """In a working directory that was deleted before the start, the agent runs; the directory is null. One
    that the agent deletes is described as it was at the start.
    """
    before = f"mkdir '{tmp_path}/gone'; cd '{tmp_path}/gone'; rmdir '{tmp_path}/gone'"
    code, described, stderr = run(tmp_path, "sh", "-c", "exit 3", before=before)
    assert (code, described["exit_code"], described["cwd"]) == (3, 3, None)
    assert b"Traceback" not in stderr
    # It is deleted meanwhile.
    (tmp_path / "other").mkdir()
    before = f"mkdir '{tmp_path}/gone'; cd '{tmp_path}/gone'"
    code, described, stderr = run(
        tmp_path / "other", "sh", "-c", f"rmdir '{tmp_path}/gone'; exit 3", before=before
    )
    assert (code, described["exit_code"], described["cwd"]) == (3, 3, f"{tmp_path}/gone")
    assert isinstance(described["ended_ms"], int)
    assert b"Traceback" not in stderr


@pytest.mark.slow
def test_the_folder_is_that_of_the_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The described directory is the one in which the agent was started."""
    monkeypatch.chdir(tmp_path)
    source = agent_source(["true"], KeepOptions(recording=tmp_path / "r.ndjson"))
    monkeypatch.chdir("/")
    print_session(source, Feed(source.reader), "summary")
    assert json.loads((tmp_path / "r.json").read_bytes())["cwd"] == str(tmp_path)


@pytest.fixture
def stderr(tmp_path: Path) -> tuple[StderrFile, int]:
    """Return the file, and a descriptor to write to it."""
    fd = os.open(tmp_path / "stderr", os.O_RDWR | os.O_CREAT)
    return StderrFile(fd), fd


def test_stderr_is_returned_in_lines(stderr: tuple[StderrFile, int]) -> None:
    """A line is returned when its line end arrives. 20 MB without a line end are returned in pieces, and
    less than 1 MB of them is in memory.
    """
    file, fd = stderr
    os.write(fd, b"one\ntw")
    assert file.new_lines() == ["one"]
    assert file.new_lines() == []
    os.write(fd, b"o\n")
    assert file.new_lines() == ["two"]
    # Text without a line end is not kept.
    for _ in range(20):
        os.write(fd, b"x" * 1_000_000)
    read, tracemalloc_started = 0, tracemalloc.is_tracing()
    assert not tracemalloc_started
    tracemalloc.start()
    for _ in range(400):
        read += sum(map(len, file.new_lines()))
    kept, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert kept < 1_000_000
    os.write(fd, b"\nlast\n")
    lines = file.new_lines()
    assert read + len(lines[0]) == 20_000_000
    assert lines[1:] == ["last"]
