"""A recording that can take no more: whole lines stay, it is said at once, and the exit code tells."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from agentwatch.outputs.stream_json import Tee
from agentwatch.recording import open_saved
from tests.conftest import RECORDINGS, ROOT

DEMO = (RECORDINGS / "demo.ndjson").read_bytes()


def record(path: Path, limit: int, *options: str) -> subprocess.CompletedProcess[bytes]:
    """Record the demo into a file that may not grow beyond `limit` bytes."""
    return subprocess.run(
        [sys.executable, "-m", "agentwatch", "--print", "--record", str(path), "--no-log", *options],
        input=DEMO,
        capture_output=True,
        cwd=ROOT,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)),
        start_new_session=True,
        timeout=30,
        check=False,
    )


@pytest.mark.parametrize("limit", [1000, 20_000, 65_536, 70_001])
def test_whole_lines_stay(tmp_path: Path, limit: int) -> None:
    """A full disk leaves the beginning of the stream, cut at the end of a line; we exit with 74."""
    path = tmp_path / "r.ndjson"
    done = record(path, limit)
    kept = path.read_bytes()
    assert DEMO.startswith(kept)
    assert kept == b"" or kept.endswith(b"\n")
    assert limit - len(kept) <= max(map(len, DEMO.split(b"\n"))) + 1
    assert done.returncode == 74
    assert b"the recording is not complete" in done.stderr
    assert b"Traceback" not in done.stderr


def test_the_summary_tells_what_is_in_the_recording(tmp_path: Path) -> None:
    """The counts of the summary are those of the lines that the recording kept."""
    path = tmp_path / "r.ndjson"
    record(path, 30_000, "--output-format", "summary")
    lines = path.read_bytes().splitlines()
    again = subprocess.run(
        [sys.executable, "-m", "agentwatch", "--output-format", "summary", str(path)],
        capture_output=True,
        cwd=ROOT,
        start_new_session=True,
        check=False,
    )
    assert f'"total":{len(lines)},'.encode() in again.stdout
    assert again.returncode == 1


def test_a_log_that_takes_no_more_is_said() -> None:
    """An action log on a full device costs neither the recording nor the exit code; it is said."""
    done = subprocess.run(
        [sys.executable, "-c", _LOG_ON_A_FULL_DEVICE, str(RECORDINGS / "plain.ndjson")],
        capture_output=True,
        cwd=ROOT,
        timeout=30,
        start_new_session=True,
        check=False,
    )
    assert done.returncode == 0
    assert b"the action log is not complete" in done.stderr


def test_a_sink_that_takes_no_more_is_told(tmp_path: Path) -> None:
    """What cannot be passed on because its device is full is a fault; a reader that goes away is none."""
    recording = tmp_path / "r.ndjson"
    recording.write_bytes(DEMO)
    reader = open_saved(recording)
    full = Tee(reader.fd, reader.growth, os.open("/dev/full", os.O_WRONLY))
    full.finish()
    assert full.fault is not None
    drain, gone = os.pipe()
    os.close(drain)
    left = Tee(reader.fd, reader.growth, gone)
    left.finish()
    assert left.fault is None


def test_all_of_an_ended_recording_is_passed_on(tmp_path: Path) -> None:
    """A sink gets every byte of a recording, also of one that ended before it was looked at."""
    recording, sink = tmp_path / "r.ndjson", tmp_path / "sink"
    recording.write_bytes(DEMO)
    reader = open_saved(recording)
    Tee(reader.fd, reader.growth, os.open(sink, os.O_CREAT | os.O_WRONLY)).finish()
    assert sink.read_bytes() == DEMO


_LOG_ON_A_FULL_DEVICE = """
import os, sys
from pathlib import Path
from agentwatch.feed import Feed
from agentwatch.printing import print_session
from agentwatch.recording import open_saved
from agentwatch.sources import Source

full = os.open("/dev/full", os.O_WRONLY)
source = Source(open_saved(Path(sys.argv[1])), log_fd=full)
sys.exit(print_session(source, Feed(source.reader), "text"))
"""
