"""Recording to a full disk keeps whole lines, reports the failure at once, and sets the exit code."""

import os
import resource
import selectors
import signal
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Self

import pytest

from agentwatch.output.stream_json import Tee
from agentwatch.recording.saved import open_saved
from tests.builders.gaps import fits
from tests.conftest import RECORDINGS, ROOT
from tests.harness.fake_agent import command
from tests.harness.on_a_pty import saved
from tests.harness.processes import is_ready, until
from tests.harness.program import AGENTWATCH
from tests.harness.terminal import Terminal

DEMO = (RECORDINGS / "demo.ndjson").read_bytes()
FULL = "/dev/full"
NO_SPACE = "the recording is incomplete: No space left on device"
ON_A_DISK = """
mount -t tmpfs -o size="$1" tmpfs "$2" || exit 99
disk="$2" out="$3"; shift 3
"$@"; code=$?
cp -r "$disk"/. "$out"; exit $code
"""

pytestmark = pytest.mark.slow


class Program:
    """A program that is fed while it runs; use it in a `with`, which kills it."""

    def __init__(
        self, argv: Sequence[str], *, limit: int | None = None, out: str = os.devnull, err: str | None = None
    ) -> None:
        """Start the program: its files cannot exceed `limit` bytes, stdout goes to `out`, stderr to `err`."""
        limits = (resource.RLIM_INFINITY if limit is None else limit, resource.RLIM_INFINITY)
        with open(out, "wb") as stdout, open(err or os.devnull, "wb") as stderr:
            self._process = subprocess.Popen(
                argv,
                stdin=subprocess.PIPE,
                stdout=stdout,
                stderr=stderr if err else subprocess.PIPE,
                cwd=ROOT,
                env=os.environ | {"PYTHONDONTWRITEBYTECODE": "1"},  # under a limit it could be cut off
                start_new_session=True,
                preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, limits),  # noqa: PLW1509 - takes no lock
            )
        self.pid = self._process.pid
        self.stderr = b""
        self.code: int | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGKILL)
        self._process.communicate()

    def feed(self, data: bytes) -> None:
        """Write to the program's stdin, which must accept everything."""
        assert self._process.stdin
        fd = self._process.stdin.fileno()
        os.set_blocking(fd, False)
        while data:
            assert is_ready(fd, 10, selectors.EVENT_WRITE), "the pipe is not drained"
            data = data[os.write(fd, data[: 1 << 16]) :]

    def wait_for(self, words: str) -> None:
        """Wait until the program has printed these words to stderr; it must still run."""
        assert self._process.stderr
        fd = self._process.stderr.fileno()
        while words.encode() not in self.stderr:
            assert is_ready(fd, 10), f"not printed: {words}; {self.stderr!r}"
            data = os.read(fd, 4096)
            assert data, f"it ended without {words}; {self.stderr!r}"
            self.stderr += data
        assert self._process.poll() is None

    def finish(self) -> int:
        """Close stdin, wait for the program to end, and return its exit code, also available as `code`."""
        _, rest = self._process.communicate(timeout=20)
        self.stderr += rest or b""
        assert b"Traceback" not in self.stderr
        self.code = self._process.returncode
        return self.code


@cache
def can_mount() -> bool:
    """Return whether a small disk can be mounted here."""
    with suppress(OSError):
        mount = ["unshare", "-rm", "mount", "-t", "tmpfs", "tmpfs", "/mnt"]
        return subprocess.run(mount, capture_output=True, check=False).returncode == 0
    return False


def on_a_disk(folder: Path, size: str, *arguments: str) -> list[str]:
    """Return a command that runs agentwatch with a disk mounted at `disk`, copied to `out` at the end."""
    if not can_mount():
        pytest.skip("no file system can be mounted here")
    for name in ("disk", "out"):
        (folder / name).mkdir(parents=True)
    places = (size, str(folder / "disk"), str(folder / "out"))
    return ["unshare", "-rm", "sh", "-c", ON_A_DISK, "sh", *places, *AGENTWATCH, *arguments]


def recorded(path: Path, limit: int, *options: str) -> Program:
    """Return a program that has recorded the demo to a file that cannot grow beyond `limit` bytes."""
    with Program([*AGENTWATCH, "--print", "--record", str(path), "--no-log", *options], limit=limit) as done:
        done.feed(DEMO)
        done.finish()
    return done


@pytest.mark.parametrize(
    "limit", [20_000, *(pytest.param(limit, marks=pytest.mark.system) for limit in (1000, 65_536, 70_001))]
)
def test_whole_lines_are_kept(tmp_path: Path, limit: int) -> None:
    """A full disk leaves the beginning of the stream, cut at the end of a line; the exit code is 74."""
    path = tmp_path / "r.ndjson"
    done = recorded(path, limit)
    kept = path.read_bytes()
    assert DEMO.startswith(kept)
    assert kept == b"" or kept.endswith(b"\n")
    assert limit - len(kept) <= max(map(len, DEMO.split(b"\n"))) + 1
    assert done.code == 74
    assert b"the recording is incomplete: File too large" in done.stderr


def test_a_full_disk_is_reported_at_once(tmp_path: Path) -> None:
    """A full disk of 256 KiB is reported while the agent writes, the pipe is drained, the exit code is 74."""
    where = ("--record", str(tmp_path / "disk" / "r.ndjson"))
    with Program(on_a_disk(tmp_path, "256k", "--print", "--no-log", *where)) as program:
        program.feed(DEMO * 3)
        program.wait_for(NO_SPACE)
        program.feed(DEMO * 20)  # 2.7 MB; the pipe holds 1 MiB
        assert program.finish() == 74
    kept = (tmp_path / "out" / "r.ndjson").read_bytes()
    assert fits(DEMO * 23, tmp_path / "out" / "r.ndjson")
    assert kept.endswith(b"\n")
    assert (200 << 10) < len(kept) <= (256 << 10)


@pytest.mark.system
@pytest.mark.parametrize(
    ("way", "then", "code"),
    [("--direct", "", 1), ("--direct", "; exit 0", 74), ("--no-log", "", 74), ("--no-log", "; exit 3", 3)],
)
def test_an_agent_that_fills_the_disk_is_reported(tmp_path: Path, way: str, then: str, code: int) -> None:
    """Under `run`, all that fits is kept; only with --direct the agent fails; code 0 becomes 74."""
    where = (way, "--record", str(tmp_path / "disk" / "r.ndjson"))
    agent = "cat" + f" '{RECORDINGS}/demo.ndjson'" * 3 + then
    with Program(on_a_disk(tmp_path, "256k", "run", "--print", *where, "--", "sh", "-c", agent)) as program:
        assert program.finish() == code
    assert NO_SPACE.encode() in program.stderr
    kept = (tmp_path / "out" / "r.ndjson").read_bytes()
    assert (DEMO * 3).startswith(kept)
    assert (100 << 10) < len(kept) <= (256 << 10)


@pytest.mark.system
@pytest.mark.parametrize("way", ["--direct", "--no-log"])
def test_reserved_space_stays_available_to_the_agent(tmp_path: Path, way: str) -> None:
    """Disk space reserved ahead of the recording stays available to the agent when others fill the disk."""
    disk = tmp_path / "disk"
    agent = f"dd if=/dev/zero of='{disk}/filler' bs=4096; cat '{RECORDINGS}/demo.ndjson'"
    where = (way, "--record", str(disk / "r.ndjson"))
    with Program(on_a_disk(tmp_path, "2m", "run", "--print", *where, "--", "sh", "-c", agent)) as program:
        assert program.finish() == 0
    assert (tmp_path / "out" / "r.ndjson").read_bytes() == DEMO
    assert (tmp_path / "out" / "filler").stat().st_size > (900 << 10)


@pytest.mark.long
@pytest.mark.skipif(sys.platform != "linux", reason="the limit of another process is lifted")
def test_recording_resumes_when_there_is_space(tmp_path: Path) -> None:
    """When there is space again, recording resumes within seconds at a whole line, and the gap is noted."""
    path, lines, fed = tmp_path / "r.ndjson", DEMO.splitlines(keepends=True), DEMO
    with Program([*AGENTWATCH, "--print", "--no-log", "--record", str(path)], limit=65_536) as program:
        program.feed(DEMO)
        program.wait_for("the recording is incomplete: File too large")
        size = path.stat().st_size
        resource.prlimit(program.pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))

        def has_resumed() -> bool:
            nonlocal fed
            program.feed(lines[0])
            fed += lines[0]
            return path.stat().st_size != size

        until(has_resumed)
        program.feed(DEMO)
        assert program.finish() == 74
    assert fits(fed + DEMO, path)
    assert path.read_bytes().endswith(lines[0] + DEMO)
    assert set(path.read_bytes().splitlines(keepends=True)) <= set(lines)


@pytest.mark.system
def test_the_summary_counts_the_recorded_lines(tmp_path: Path) -> None:
    """The summary counts the lines that the recording kept."""
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


@pytest.mark.parametrize(
    "form",
    ["text", *(pytest.param(form, marks=pytest.mark.system) for form in ("json", "stream-json", "summary"))],
)
def test_a_full_stdout_costs_no_recorded_byte(tmp_path: Path, form: str) -> None:
    """When stdout is full, the recording is complete, one line reports it, and the exit code is not 0."""
    path = tmp_path / "r.ndjson"
    with Program([*AGENTWATCH, "--output-format", form, "--record", str(path)], out=FULL) as program:
        program.feed(DEMO * 20)
        assert program.finish() != 0
    assert program.stderr.count(b"\n") == 1
    assert b"No space left on device" in program.stderr
    assert path.read_bytes() == DEMO * 20


@pytest.mark.system
def test_a_full_output_device_costs_no_recorded_byte(tmp_path: Path) -> None:
    """A full log device is reported while the agent writes; the recording is complete, the exit code 0.
    When stderr is full as well as the disk, the pipe is still drained, and code 74 reports the loss.
    """
    path = tmp_path / "r.ndjson"
    with Program([sys.executable, "-c", _LIVE_LOG_ON_A_FULL_DEVICE, str(path)]) as program:
        program.feed(DEMO[:100_000])
        program.wait_for("the action log is incomplete: No space left on device")
        program.feed(DEMO[100_000:])
        assert program.finish() == 0
    assert path.read_bytes() == DEMO
    # A full stderr.
    path = tmp_path / "s.ndjson"
    with Program([*AGENTWATCH, "--print", "--record", str(path)], limit=20_000, err=FULL) as program:
        program.feed(DEMO * 20)
        assert program.finish() == 74
    assert DEMO.startswith(path.read_bytes())


@pytest.mark.system
def test_a_tee_into_a_full_device_is_reported(home: Path) -> None:
    """With --tee into a full device, screen and recording continue; at the end the exit code is 74."""
    agent = command(RECORDINGS / "demo.ndjson", "--pace", "800")
    argv = ["sh", "-c", f'exec "$@" > {FULL}', "sh", *AGENTWATCH, "--tee"]
    with Terminal(argv, producer=agent, size=(100, 30), cwd=ROOT) as terminal:
        terminal.wait_for("✓ succeeded in 1:10")
        terminal.leave("q", 74)
        assert "the copy to stdout is incomplete: No space left on device" in terminal.screen_text()
        assert terminal.restored(), terminal.leftovers()
    assert saved(home).read_bytes() == DEMO


def test_a_full_sink_is_a_fault(tmp_path: Path) -> None:
    """A full output device is a fault; a reader that goes away is not. A sink receives every byte of a
    recording, even of one that ended before the sink was opened.
    """
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
    # All of an ended recording is passed on.
    sink, reader = tmp_path / "sink", open_saved(recording)
    Tee(reader.fd, reader.growth, os.open(sink, os.O_CREAT | os.O_WRONLY)).finish()
    assert sink.read_bytes() == DEMO


_LIVE_LOG_ON_A_FULL_DEVICE = """
import os, sys
from pathlib import Path
from agentwatch.cli.front import watch
from agentwatch.cli.options import Options
from agentwatch.recording.lines import LineReader
from agentwatch.recording.store import create_file
from agentwatch.recording.times import ArrivalTimes
from agentwatch.sources.pipe import PipeIntake, PipeSource

fd, times, full = create_file(Path(sys.argv[1])), ArrivalTimes(), os.open("/dev/full", os.O_WRONLY)
pipe = PipeIntake(0, fd, times)
source = PipeSource(LineReader(fd, pipe, times), pipe, log_fd=full)
sys.exit(watch(source, Options(printing=True)))
"""
