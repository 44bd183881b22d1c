"""A recording that can take no more: whole lines stay, it is said at once, and the exit code tells."""

from __future__ import annotations

import os
import resource
import select
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Self

import pytest

from agentwatch.outputs.stream_json import Tee
from agentwatch.recording import open_saved
from tests.builders.gaps import fits
from tests.conftest import RECORDINGS, ROOT
from tests.harness.fake_agent import command
from tests.harness.on_a_pty import saved
from tests.harness.program import AGENTWATCH
from tests.harness.terminal import Terminal

DEMO = (RECORDINGS / "demo.ndjson").read_bytes()
FULL = "/dev/full"
NO_ROOM = "the recording is not complete: No space left on device"
ON_A_DISK = """
mount -t tmpfs -o size="$1" tmpfs "$2" || exit 99
disk="$2" out="$3"; shift 3
"$@"; code=$?
cp -r "$disk"/. "$out"; exit $code
"""


class Program:
    """A program that is fed while it runs; to be used in a `with`, which ends it."""

    def __init__(
        self, argv: Sequence[str], *, limit: int | None = None, out: str = os.devnull, err: str | None = None
    ) -> None:
        """Start it; no file of its own may grow beyond `limit`, its output goes to `out`, errors to `err`."""
        limits = (resource.RLIM_INFINITY if limit is None else limit, resource.RLIM_INFINITY)
        with open(out, "wb") as stdout, open(err or os.devnull, "wb") as stderr:
            self._process = subprocess.Popen(
                argv,
                stdin=subprocess.PIPE,
                stdout=stdout,
                stderr=stderr if err else subprocess.PIPE,
                cwd=ROOT,
                start_new_session=True,
                preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, limits),  # noqa: PLW1509 - takes no lock
            )
        self.pid = self._process.pid
        self.said = b""
        self.code: int | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGKILL)
        self._process.communicate()

    def feed(self, data: bytes) -> None:
        """Write to its stdin, of which it must take all."""
        assert self._process.stdin
        fd = self._process.stdin.fileno()
        os.set_blocking(fd, False)
        while data:
            assert select.select([], [fd], [], 10)[1], "the pipe is not drained"
            data = data[os.write(fd, data[: 1 << 16]) :]

    def wait_for(self, words: str) -> None:
        """Wait until it has said so; it must still run."""
        assert self._process.stderr
        fd = self._process.stderr.fileno()
        while words.encode() not in self.said:
            assert select.select([fd], [], [], 10)[0], f"not said: {words}; but {self.said!r}"
            said = os.read(fd, 4096)
            assert said, f"it ended without {words}; {self.said!r}"
            self.said += said
        assert self._process.poll() is None

    def finish(self) -> int:
        """End its stdin, wait for its end and return its exit code, which is `code` from then on."""
        _, said = self._process.communicate(timeout=20)
        self.said += said or b""
        assert b"Traceback" not in self.said
        self.code = self._process.returncode
        return self.code


@cache
def can_mount() -> bool:
    """Whether we may have a small disk of our own."""
    with suppress(OSError):
        mount = ["unshare", "-rm", "mount", "-t", "tmpfs", "tmpfs", "/mnt"]
        return subprocess.run(mount, capture_output=True, check=False).returncode == 0
    return False


def on_a_disk(folder: Path, size: str, *arguments: str) -> list[str]:
    """Return the command of agentwatch with a disk of its own at `disk`, copied to `out` at the end."""
    if not can_mount():
        pytest.skip("no file system can be mounted here")
    for name in ("disk", "out"):
        (folder / name).mkdir(parents=True)
    places = (size, str(folder / "disk"), str(folder / "out"))
    return ["unshare", "-rm", "sh", "-c", ON_A_DISK, "sh", *places, *AGENTWATCH, *arguments]


def recorded(path: Path, limit: int, *options: str) -> Program:
    """Return a program that has recorded the demo into a file that may not grow beyond `limit` bytes."""
    with Program([*AGENTWATCH, "--print", "--record", str(path), "--no-log", *options], limit=limit) as done:
        done.feed(DEMO)
        done.finish()
    return done


@pytest.mark.parametrize("limit", [1000, 20_000, 65_536, 70_001])
def test_whole_lines_stay(tmp_path: Path, limit: int) -> None:
    """A full disk leaves the beginning of the stream, cut at the end of a line; we exit with 74."""
    path = tmp_path / "r.ndjson"
    done = recorded(path, limit)
    kept = path.read_bytes()
    assert DEMO.startswith(kept)
    assert kept == b"" or kept.endswith(b"\n")
    assert limit - len(kept) <= max(map(len, DEMO.split(b"\n"))) + 1
    assert done.code == 74
    assert b"the recording is not complete: File too large" in done.said


def test_on_a_disk_that_runs_full_it_is_said_at_once(tmp_path: Path) -> None:
    """On a disk of 256 KiB it is said while the agent writes; the pipe is drained on; the code is 74."""
    where = ("--record", str(tmp_path / "disk" / "r.ndjson"))
    with Program(on_a_disk(tmp_path, "256k", "--print", "--no-log", *where)) as program:
        program.feed(DEMO * 3)
        program.wait_for(NO_ROOM)
        program.feed(DEMO * 20)  # 2.7 MB, where the pipe holds 1 MiB
        assert program.finish() == 74
    kept = (tmp_path / "out" / "r.ndjson").read_bytes()
    assert fits(DEMO * 23, tmp_path / "out" / "r.ndjson")
    assert kept.endswith(b"\n")
    assert (200 << 10) < len(kept) <= (256 << 10)


@pytest.mark.parametrize(("then", "code"), [("", 1), ("; exit 0", 74)])
def test_an_agent_that_fills_the_disk_is_told_of(tmp_path: Path, then: str, code: int) -> None:
    """Under `run` what the agent could write is there; its code is ours, but 0 would hide what is lost."""
    where = ("--record", str(tmp_path / "disk" / "r.ndjson"))
    agent = f"cat{f' {RECORDINGS}/demo.ndjson' * 3}{then}"
    with Program(on_a_disk(tmp_path, "256k", "run", "--print", *where, "--", "sh", "-c", agent)) as program:
        assert program.finish() == code
    assert NO_ROOM.encode() in program.said
    kept = (tmp_path / "out" / "r.ndjson").read_bytes()
    assert (DEMO * 3).startswith(kept)
    assert (100 << 10) < len(kept) <= (256 << 10)


def test_room_kept_ahead_is_the_agents_alone(tmp_path: Path) -> None:
    """When others fill the disk after the start, the agent still has the room that was kept for it."""
    disk = tmp_path / "disk"
    agent = f"dd if=/dev/zero of={disk}/filler bs=4096; cat {RECORDINGS}/demo.ndjson"
    where = ("--record", str(disk / "r.ndjson"))
    with Program(on_a_disk(tmp_path, "2m", "run", "--print", *where, "--", "sh", "-c", agent)) as program:
        assert program.finish() == 0
    assert (tmp_path / "out" / "r.ndjson").read_bytes() == DEMO
    assert (tmp_path / "out" / "filler").stat().st_size > (900 << 10)


@pytest.mark.long
@pytest.mark.skipif(sys.platform != "linux", reason="the limit of another process is lifted")
def test_with_room_again_it_goes_on(tmp_path: Path) -> None:
    """When there is room again recording goes on within seconds, at a whole line; the gap is written down."""
    path, lines, fed = tmp_path / "r.ndjson", DEMO.splitlines(keepends=True), DEMO
    with Program([*AGENTWATCH, "--print", "--no-log", "--record", str(path)], limit=65_536) as program:
        program.feed(DEMO)
        program.wait_for("the recording is not complete: File too large")
        size, until = path.stat().st_size, time.monotonic() + 20
        resource.prlimit(program.pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        while path.stat().st_size == size:
            assert time.monotonic() < until, "it does not go on"
            program.feed(lines[0])
            fed += lines[0]
            time.sleep(0.01)
        program.feed(DEMO)
        assert program.finish() == 74
    assert fits(fed + DEMO, path)
    assert path.read_bytes().endswith(lines[0] + DEMO)
    assert set(path.read_bytes().splitlines(keepends=True)) <= set(lines)


def test_the_summary_tells_what_is_in_the_recording(tmp_path: Path) -> None:
    """The counts of the summary are those of the lines that the recording kept."""
    path = tmp_path / "r.ndjson"
    recorded(path, 30_000, "--output-format", "summary")
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


def test_a_live_log_that_takes_no_more_is_said_at_once(tmp_path: Path) -> None:
    """A log on a full device is said while the agent still writes; the recording is whole, the code 0."""
    path = tmp_path / "r.ndjson"
    with Program([sys.executable, "-c", _LIVE_LOG_ON_A_FULL_DEVICE, str(path)]) as program:
        program.feed(DEMO[:100_000])
        program.wait_for("the action log is not complete: No space left on device")
        program.feed(DEMO[100_000:])
        assert program.finish() == 0
    assert path.read_bytes() == DEMO


@pytest.mark.parametrize("form", ["text", "json", "stream-json", "summary"])
def test_an_output_that_takes_no_more_costs_nothing_else(tmp_path: Path, form: str) -> None:
    """When stdout is full the recording is whole, it is said in a line, and the code is not 0."""
    path = tmp_path / "r.ndjson"
    with Program([*AGENTWATCH, "--output-format", form, "--record", str(path)], out=FULL) as program:
        program.feed(DEMO * 20)
        assert program.finish() != 0
    assert program.said.count(b"\n") == 1
    assert b"No space left on device" in program.said
    assert path.read_bytes() == DEMO * 20


def test_a_stderr_that_takes_no_more_costs_nothing(tmp_path: Path) -> None:
    """Where nothing can be said either, the pipe is drained all the same, and the code still tells."""
    path = tmp_path / "r.ndjson"
    with Program([*AGENTWATCH, "--print", "--record", str(path)], limit=20_000, err=FULL) as program:
        program.feed(DEMO * 20)
        assert program.finish() == 74
    assert DEMO.startswith(path.read_bytes())


def test_a_tee_into_a_full_device_is_told(home: Path) -> None:
    """With --tee into a full device the screen and the recording go on; at the end it is said, by 74."""
    agent = command(RECORDINGS / "demo.ndjson", "--pace", "800")
    argv = ["sh", "-c", f'exec "$@" > {FULL}', "sh", *AGENTWATCH, "--tee"]
    with Terminal(argv, producer=agent, size=(100, 30), cwd=ROOT) as terminal:
        terminal.wait_for("✓ succeeded in 1:10")
        terminal.send("q")
        assert terminal.wait_exit() == 74
        assert "not all was passed on: No space left on device" in terminal.screen_text()
        assert terminal.restored(), terminal.leftovers()
    assert saved(home).read_bytes() == DEMO


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


_LIVE_LOG_ON_A_FULL_DEVICE = """
import os, sys
from pathlib import Path
from agentwatch.cli.front import watch
from agentwatch.cli.options import Options
from agentwatch.recording import ArrivalTimes, LineReader, create_file
from agentwatch.sources.pipe import PipeIntake, PipeSource

fd, times, full = create_file(Path(sys.argv[1])), ArrivalTimes(), os.open("/dev/full", os.O_WRONLY)
pipe = PipeIntake(0, fd, times)
source = PipeSource(LineReader(fd, pipe, times), pipe, log_fd=full)
sys.exit(watch(source, Options(printing=True)))
"""
