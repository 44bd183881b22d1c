"""`export --to recording` writes the same recording without secrets, and reports what it has masked."""

import json
import os
import re
import resource
import shutil
import signal
import stat
import subprocess
from pathlib import Path

import pytest

from agentwatch.recording.saved import open_saved
from tests.builders.lines import delta, init, result, started
from tests.conftest import RECORDINGS, Saver, case
from tests.harness.processes import until
from tests.harness.program import AGENTWATCH, environment, files, ran
from tests.output.redact.planted import TOKEN as SECRET

REDACT = ("export", "--to", "recording")
DEMO = RECORDINGS / "demo.ndjson"


def test_the_recording_and_its_times_are_written(tmp_path: Path) -> None:
    """The files are private, and the redacted recording has the same action log with the same times."""
    written = tmp_path / "out.ndjson"
    done = ran(*REDACT, DEMO, "-o", written)
    assert (done.returncode, done.stdout) == (0, b"")
    assert re.fullmatch(
        rb"agentwatch: wrote .+ \(\d+.* kB, 583 lines\); masked \d+ personal values \(\d+ home folder\)\n",
        done.stderr,
    )
    assert files(tmp_path) == {"out.ndjson", "out.times"}
    assert {stat.S_IMODE((tmp_path / name).stat().st_mode) for name in files(tmp_path)} == {0o600}
    assert b"/home/ada" not in written.read_bytes()
    assert b"~/src/tidepool" in written.read_bytes()
    before, after = ran("-p", "--times", DEMO).stdout, ran("-p", "--times", written).stdout
    assert after == before.replace(b"/home/ada", b"~")
    assert times_of(written) == times_of(DEMO)
    assert None not in times_of(written)
    # A file that is not there, a folder and a moment are reported in one line with 2, without a file.
    for name in ("missing.ndjson", ".", f"{DEMO}@50%"):
        with case(name):
            done = ran(*REDACT, tmp_path / name, "-o", tmp_path / "none.ndjson")
            assert done.returncode == 2
            assert done.stderr.count(b"\n") == 1
            assert files(tmp_path) == {"out.ndjson", "out.times"}
    # A device is written directly, and nothing beside it.
    devices = os.listdir("/dev")
    assert ran(*REDACT, DEMO, "-o", "/dev/null").returncode == 0
    assert os.listdir("/dev") == devices


def times_of(path: Path) -> list[int | None]:
    """Return when each line of a recording arrived."""
    reader, times = open_saved(path), []
    while lines := reader.read():
        times += [line.seen_ms for line in lines]
    os.close(reader.fd)
    return times


def test_a_stream_is_redacted_to_stdout(tmp_path: Path) -> None:
    """With -o - the recording goes to stdout and the report to stderr."""
    data = init() + delta(f"I use {SECRET}.") + result(f"I use {SECRET}.")
    done = ran(*REDACT, "-", "-o", "-", stdin=data)
    assert done.returncode == 0
    assert done.stdout.count(b"\n") == data.count(b"\n")
    assert SECRET.encode() not in done.stdout
    texts = [json.loads(line) for line in done.stdout.splitlines()]
    assert texts[1]["message"]["content"][0]["text"] == texts[2]["result"]
    assert re.fullmatch(
        rb"agentwatch: masked 2 secrets \(2 [a-z ]+\) and 1 personal value \(1 home folder\)\n", done.stderr
    )
    # What no agent has written is redacted as text: lines of JSON and others.
    data = b'{"level":"info","msg":"password=hunter2Xy94"}\nplain ' + SECRET.encode() + b"\n\n"
    done = ran(*REDACT, "-", "-o", "-", stdin=data)
    assert done.returncode == 0
    assert done.stdout.count(b"\n") == 3
    assert not re.search(b"hunter2|ghp_", done.stdout)


def test_the_report_has_no_value_and_a_session_goes_on(recording: Saver, tmp_path: Path) -> None:
    """Neither the report nor a message has a secret in it."""
    path = recording(init(), delta(f"PASSWORD=hunter2Xy94 and {SECRET} of ada@lovelace.org"))
    done = ran(*REDACT, path, "-o", tmp_path / "out.ndjson")
    assert not re.search(b"hunter2|ghp_|lovelace", done.stderr)
    # Times of what stood in the file before are not those of the redacted recording.
    written = tmp_path / "out.ndjson"
    written.write_bytes(b"")
    written.with_suffix(".times").write_bytes(b"0 1700000000000\n")
    path = recording(init())
    assert not path.with_suffix(".times").exists()
    assert ran(*REDACT, path, "-o", written, "--force").returncode == 0
    assert not written.with_suffix(".times").exists()
    # A call without an end has none afterwards, and a line that was cut stays cut.
    path = recording(init(), started("read"), b'{"type":"assis')
    done = ran(*REDACT, path, "-o", tmp_path / "out.ndjson", "--force")
    assert done.returncode == 0
    assert (tmp_path / "out.ndjson").read_bytes().endswith(b'\n{"type":"assis')


@pytest.mark.slow
def test_a_full_disk_leaves_nothing(tmp_path: Path) -> None:
    """If the copy cannot be written, one line reports it with 73, and no file is left."""
    limit = DEMO.stat().st_size // 2
    done = subprocess.run(
        [*AGENTWATCH, *REDACT, str(DEMO), "-o", str(tmp_path / "out.ndjson")],
        env=environment(PYTHONDONTWRITEBYTECODE="1"),
        capture_output=True,
        timeout=30,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)),
    )
    assert done.returncode == 73
    assert done.stderr.count(b"\n") == 1
    assert b"too large" in done.stderr
    assert files(tmp_path) == set()


@pytest.mark.system
def test_a_killed_redaction_leaves_no_file(tmp_path: Path) -> None:
    """The file has its name only when it is complete: a redaction that is killed leaves none."""
    large = tmp_path / "large.ndjson"
    with open(large, "wb") as file, open(DEMO, "rb") as demo:
        for _ in range(60):
            demo.seek(0)
            shutil.copyfileobj(demo, file)
    folder = tmp_path / "out"
    folder.mkdir()
    process = subprocess.Popen(
        [*AGENTWATCH, *REDACT, str(large), "-o", str(folder / "out.ndjson")],
        env=environment(),
    )
    copy = f"/proc/{process.pid}/fd"
    until(lambda: process.poll() is not None or any(map(_is_nameless, _links(copy))))
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    assert files(folder) == set()


def _links(folder: str) -> list[str]:
    found = []
    for name in os.listdir(folder):
        try:
            found.append(os.readlink(f"{folder}/{name}"))
        except FileNotFoundError:
            continue
    return found


def _is_nameless(link: str) -> bool:
    return "agentwatch-" in link and link.endswith("(deleted)")
