"""The recording: displaced files are detected, disk space is reserved ahead, the last bytes are synced."""

import json
import os
import sys
from pathlib import Path

import pytest

from agentwatch.cli.printing import print_session
from agentwatch.feed.feed import Feed
from agentwatch.recording.store import create_file
from agentwatch.recording.times import ArrivalTimes
from agentwatch.sources.agent_output import Reserve
from agentwatch.sources.open import KeepOptions, agent_source, pipe_source
from agentwatch.sources.pipe import PipeIntake
from agentwatch.sources.source import DiskSync, Source
from tests.builders.gaps import fits
from tests.conftest import RECORDINGS, case
from tests.harness.fake_agent import command
from tests.harness.processes import until

PLAIN = RECORDINGS / "plain.ndjson"


def displace(path: Path, way: str) -> None:
    """Displace a recording in the way that is named."""
    if way == "deleted":
        path.unlink()
    elif way == "moved":
        path.rename(path.with_name("elsewhere"))
    elif way == "linked":
        os.link(path, path.with_name("second name"))
    else:
        path.unlink()
        path.write_bytes(b"{}\n")


def piped(path: Path) -> tuple[Source, int]:
    """Return the source that records a pipe, and the end of it to which the agent writes."""
    source_fd, agent_fd = os.pipe()
    return pipe_source(source_fd, KeepOptions(recording=path, write_log=False)), agent_fd


def test_a_displaced_recording_is_reported(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """A recording that was moved, replaced, linked or deleted is reported at the end with code 74."""
    for way in ("deleted", "moved", "linked", "replaced"):
        with case(way):
            path = tmp_path / way / "r.ndjson"
            path.parent.mkdir()
            source, agent_fd = piped(path)
            os.write(agent_fd, PLAIN.read_bytes())
            displace(path, way)
            os.close(agent_fd)
            assert print_session(source, Feed(source.reader), "summary") == 74
            message = "the file was moved, replaced or linked while it was written"
            assert f"the recording is incomplete: {message}" in capfd.readouterr().err


@pytest.mark.skipif(sys.platform != "linux", reason="disk space is reserved on Linux")
def test_space_is_reserved_while_an_agent_runs(tmp_path: Path) -> None:
    """While an agent runs, disk space is reserved ahead of its recording, and released afterwards. It does
    not count in the file's size.
    """
    path, done = tmp_path / "r.ndjson", tmp_path / "done"
    waiting = f"cat '{PLAIN}'; while [ ! -e '{done}' ]; do sleep 0.01; done"
    source = agent_source(["sh", "-c", waiting], KeepOptions(recording=path, write_log=False))
    until(lambda: source.reader.growth.size() >= PLAIN.stat().st_size, what="the whole recording")
    assert path.stat().st_blocks * 512 > 1 << 20
    done.touch()
    assert print_session(source, Feed(source.reader), "summary") == 0
    assert path.read_bytes() == PLAIN.read_bytes()
    assert path.stat().st_blocks * 512 < PLAIN.stat().st_size + (1 << 16)
    # It is not part of the size, and is released on request.
    fd = create_file(tmp_path / "s.ndjson")
    reserve = Reserve(fd)
    os.write(fd, b"x" * 1000)
    kept = os.fstat(fd)
    assert kept.st_size == 1000
    assert kept.st_blocks * 512 > 1 << 20
    reserve.release()
    assert os.fstat(fd).st_blocks * 512 <= 8192
    os.close(fd)


def test_the_last_bytes_reach_the_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The content of a recording that ended has been synced to disk when `finish` returns; one that could
    not be synced is not complete.
    """
    sizes = []
    monkeypatch.setattr("agentwatch.sources.source._sync", lambda fd: sizes.append(os.fstat(fd).st_size))
    recording_fd = create_file(tmp_path / "r.ndjson")
    source_fd, agent_fd = os.pipe()
    intake = PipeIntake(source_fd, recording_fd, ArrivalTimes())
    sync = DiskSync(recording_fd, intake)
    os.write(agent_fd, PLAIN.read_bytes())
    os.close(agent_fd)
    until(intake.has_ended)
    sync.finish()
    assert sizes[-1] == PLAIN.stat().st_size
    assert not sync._thread.is_alive()

    # A failed sync.
    def fail(_fd: int) -> None:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr("agentwatch.sources.source._sync", fail)
    source, agent_fd = piped(tmp_path / "failed.ndjson")
    os.write(agent_fd, PLAIN.read_bytes())
    os.close(agent_fd)
    assert print_session(source, Feed(source.reader), "summary") == 74


def test_the_description_of_the_process_is_complete_at_every_moment(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A reader of the JSON file finds a whole object, also while the end of the agent is written into it."""
    source = agent_source(command(PLAIN), KeepOptions(write_log=False))
    files = source.written.files
    assert files is not None
    cut = os.ftruncate
    seen: list[object] = []

    def cut_and_see(fd: int, length: int) -> None:
        cut(fd, length)
        if fd == source._process_fd:
            seen.append(json.loads(files.process.read_bytes())["exit_code"])

    monkeypatch.setattr(os, "ftruncate", cut_and_see)
    assert print_session(source, Feed(source.reader), "text") == 0
    assert seen == [0]


def test_a_recording_that_somebody_changes_is_reported(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """A recording that somebody truncates is a fault before the pipe's next byte; one into which another
    process has written is not what the agent wrote. Both exit with 74.
    """
    lines, path = PLAIN.read_bytes().splitlines(keepends=True), tmp_path / "r.ndjson"
    source, agent_fd = piped(path)
    os.write(agent_fd, b"".join(lines[:4]))
    until(lambda: source.reader.growth.size() >= len(b"".join(lines[:4])), what="four lines in the file")
    assert source.fault is None
    os.truncate(path, len(lines[0]) + 3)
    assert source.fault is not None
    os.write(agent_fd, b"".join(lines[4:]))
    os.close(agent_fd)
    assert print_session(source, Feed(source.reader), "summary") == 74
    assert "the recording is incomplete: another process has truncated the file" in capfd.readouterr().err
    assert path.read_bytes() == b"".join([lines[0], *lines[4:]])
    assert fits(PLAIN.read_bytes(), path)
    # Somebody writes into it.
    source, agent_fd = piped(tmp_path / "s.ndjson")
    with (tmp_path / "s.ndjson").open("ab") as file:
        file.write(b"{}\n")
    os.write(agent_fd, PLAIN.read_bytes())
    os.close(agent_fd)
    assert print_session(source, Feed(source.reader), "summary") == 74
    assert "the recording is incomplete: another process has written into the file" in capfd.readouterr().err
    assert (tmp_path / "s.ndjson").read_bytes() == b"{}\n" + PLAIN.read_bytes()
