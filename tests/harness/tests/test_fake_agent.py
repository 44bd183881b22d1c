"""The fake agent behaves as the tests that use it assume."""

import json
import os
import signal
import socket
import subprocess
import time
from pathlib import Path

import pytest

from tests.conftest import case
from tests.harness.fake_agent import command
from tests.harness.processes import is_ready, until
from tests.harness.tests.conftest import INIT, RECORDING, RESULT, TEXT

pytestmark = pytest.mark.slow


def play(recording: Path, *switches: str) -> tuple[int, bytes, bytes]:
    """Run the fake agent to its end, and return its exit code and what it wrote to stdout and stderr."""
    done = subprocess.run(command(recording, *switches), capture_output=True, timeout=10, check=False)
    return done.returncode, done.stdout, done.stderr


def writes(recording: Path, *switches: str) -> list[bytes]:
    """Return the single writes of the fake agent, which a datagram socket as stdout keeps separate."""
    ours, stdout = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    argv = command(recording, *switches)
    with ours, stdout:
        subprocess.run(argv, stdout=stdout.fileno(), timeout=10, check=True)
        got = []
        while is_ready(ours):
            got.append(ours.recv(1 << 16))
        return got


def timed(recording: Path) -> list[bytes]:
    """Give the recording the times of three reads, and return those."""
    recording.with_suffix(".times").write_text("0 1000\n5 5000\n# no read\n9 13000\n")
    return [RECORDING[:5], RECORDING[5:9], RECORDING[9:]]


def test_it_plays_and_ends_as_the_switches_say(recording: Path) -> None:
    """It writes the recording unchanged, as often or as far as asked, and ends by its code or the signal."""
    cut = len(INIT) + 7
    for switches, code, stdout, stderr in (
        ((), 0, RECORDING, b""),
        (("--exit", "3", "--stderr", "first", "--stderr", "second"), 3, RECORDING, b"first\nsecond\n"),
        (("--cut", str(cut)), 0, RECORDING[:cut], b""),
        (("--cut", str(cut), "--pace", "1000"), 0, RECORDING[:cut], b""),
        (("--die", "KILL"), -signal.SIGKILL, RECORDING, b""),
        (("--die", "SIGTERM"), -signal.SIGTERM, RECORDING, b""),
        (("--die", "11"), -signal.SIGSEGV, RECORDING, b""),
        (("--repeat", "50"), 0, RECORDING * 50, b""),
    ):
        with case(switches):
            assert play(recording, *switches) == (code, stdout, stderr)
    # With --pace each write is a line, with --times one of the recorded reads.
    assert writes(recording, "--pace", "1000") == [INIT, TEXT, RESULT]
    reads = timed(recording)
    assert writes(recording, "--times", "--speed", "10000") == reads
    # A reader that goes away ends it with 1, and without a word.
    argv = command(recording, "--repeat", "100000")
    with subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as agent:
        assert agent.stdout
        assert agent.stderr
        agent.stdout.read(1)
        agent.stdout.close()
        assert agent.stderr.read() == b""
    assert agent.returncode == 1


@pytest.mark.costs
def test_the_times_are_kept(recording: Path) -> None:
    """With --pace the lines, and with --times the reads, take the time that they should."""
    begun = time.monotonic()
    writes(recording, "--pace", "10")
    assert time.monotonic() - begun >= 2 / 10
    timed(recording)
    begun = time.monotonic()
    writes(recording, "--times", "--speed", "40")
    assert time.monotonic() - begun >= 12 / 40


def test_stderr_forever_is_more_than_a_pipe_holds(recording: Path) -> None:
    """A noisy agent writes over 64 KiB to stderr before its first line, and more while it waits."""
    _, stdout, noise = play(recording, "--stderr-forever")
    argv = command(recording, "--stderr-forever", "--hang")
    with subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as slow:
        assert slow.stderr
        assert len(slow.stderr.read(len(noise) + 1)) > len(noise) > 1 << 16
        slow.terminate()
        assert slow.communicate(timeout=10)[0] == stdout == RECORDING


def test_burst_is_exact_and_valid(recording: Path) -> None:
    """A burst is exactly the given number of bytes in numbered assistant lines of the recording's session."""
    _, stdout, _ = play(recording, "--burst", "200003")
    burst = stdout.removeprefix(RECORDING)
    events = [json.loads(line) for line in burst.splitlines()]
    assert len(burst) == 200003
    assert {(event["type"], event["session_id"]) for event in events} == {("assistant", "s-1")}
    texts = [event["message"]["content"][0]["text"] for event in events]
    assert [int(text.split()[0]) for text in texts] == list(range(200))


def test_a_hanging_agent_is_ended_by_a_signal_only(recording: Path, tmp_path: Path) -> None:
    """It has reported what it wrote: lines, bytes, and the slowest write. It may ignore SIGTERM."""
    for number, (switches, signals, stdout, lines) in enumerate(
        (
            (("--hang",), (signal.SIGTERM,), RECORDING, 3),
            (("--hang", "--repeat", "50"), (signal.SIGTERM,), RECORDING * 50, 150),
            (("--hang-before-result",), (signal.SIGTERM,), INIT + TEXT, 2),
            (("--hang", "--ignore-term"), (signal.SIGTERM, signal.SIGINT), RECORDING, 3),
        )
    ):
        report, written = tmp_path / f"report-{number}", tmp_path / f"stdout-{number}"
        argv = command(recording, *switches, "--report", str(report))
        # A pipe may hold no more than 4 KiB, if its user has many pipes.
        with case(switches), written.open("wb") as file, subprocess.Popen(argv, stdout=file) as agent:
            until(report.exists, what="report")
            facts = json.loads(report.read_bytes())
            assert agent.poll() is None
            for each in signals:
                agent.send_signal(each)
            assert agent.wait(10) == -signals[-1]
            assert written.read_bytes() == stdout
            assert (facts["lines"], facts["bytes"]) == (lines, len(stdout))
            assert facts["worst_write_ms"] > 0


def test_child_holds_stdout_open(recording: Path, tmp_path: Path) -> None:
    """The agent ends while its child, in its group or in its own session, holds stdout open."""
    for switch in ("--fork", "--setsid"):
        report = tmp_path / f"report{switch}"
        argv = command(recording, switch, "60", "--report", str(report))
        with case(switch), subprocess.Popen(argv, stdout=subprocess.PIPE, start_new_session=True) as agent:
            assert agent.wait(10) == 0
            assert agent.stdout
            assert os.read(agent.stdout.fileno(), 1 << 16) == RECORDING
            assert not is_ready(agent.stdout)
            [child] = json.loads(report.read_bytes())["children"]
            assert os.getpgid(child) == (agent.pid if switch == "--fork" else child)
            os.kill(child, signal.SIGKILL)
            assert agent.stdout.read() == b""
