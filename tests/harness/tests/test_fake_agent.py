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


def play(recording: Path, *switches: str) -> subprocess.CompletedProcess[bytes]:
    """Run the fake agent to its end."""
    argv = command(recording, *switches)
    return subprocess.run(argv, capture_output=True, timeout=10, check=False)


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


def wait_for_report(path: Path) -> dict[str, int]:
    """Wait until the agent has written its report, and return it."""
    until(path.exists, what="report")
    facts: dict[str, int] = json.loads(path.read_bytes())
    return facts


def test_plays_the_bytes_as_they_are(recording: Path) -> None:
    """Without switches the agent writes the recording unchanged and exits with 0."""
    done = play(recording)
    assert (done.returncode, done.stdout, done.stderr) == (0, RECORDING, b"")


def test_pace_is_one_write_for_each_line(recording: Path) -> None:
    """With --pace the agent writes line by line."""
    assert writes(recording, "--pace", "1000") == [INIT, TEXT, RESULT]


def timed(recording: Path) -> list[bytes]:
    """Give the recording the times of three reads, and return those."""
    recording.with_suffix(".times").write_text("0 1000\n5 5000\n# no read\n9 13000\n")
    return [RECORDING[:5], RECORDING[5:9], RECORDING[9:]]


def test_times_plays_the_reads_of_the_sidecar(recording: Path) -> None:
    """With --times the writes are the recorded reads."""
    reads = timed(recording)
    assert writes(recording, "--times", "--speed", "10000") == reads


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


def test_exit_code_and_stderr(recording: Path) -> None:
    """The exit code and the lines on stderr are those of the switches."""
    done = play(recording, "--exit", "3", "--stderr", "first", "--stderr", "second")
    assert (done.returncode, done.stdout, done.stderr) == (3, RECORDING, b"first\nsecond\n")


def test_stderr_forever_is_more_than_a_pipe_holds(recording: Path) -> None:
    """A noisy agent writes over 64 KiB to stderr before its first line, and more while it waits."""
    quick = play(recording, "--stderr-forever")
    argv = command(recording, "--stderr-forever", "--hang")
    with subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as slow:
        assert slow.stderr
        assert len(slow.stderr.read(len(quick.stderr) + 1)) > len(quick.stderr) > 1 << 16
        slow.terminate()
        assert slow.communicate(timeout=10)[0] == quick.stdout == RECORDING


def test_burst_is_exact_and_valid(recording: Path) -> None:
    """A burst is exactly the given number of bytes in numbered assistant lines of the recording's session."""
    done = play(recording, "--burst", "200003")
    burst = done.stdout.removeprefix(RECORDING)
    events = [json.loads(line) for line in burst.splitlines()]
    assert len(burst) == 200003
    assert {(event["type"], event["session_id"]) for event in events} == {("assistant", "s-1")}
    texts = [event["message"]["content"][0]["text"] for event in events]
    assert [int(text.split()[0]) for text in texts] == list(range(200))


def test_cut_ends_in_the_middle_of_a_line(recording: Path) -> None:
    """With --cut the agent writes only that many bytes."""
    cut = len(INIT) + 7
    for pace in ("0", "1000"):
        with case(f"pace {pace}"):
            assert play(recording, "--cut", str(cut), "--pace", pace).stdout == RECORDING[:cut]


def test_hang_ends_by_a_signal_only(recording: Path, tmp_path: Path) -> None:
    """A hanging agent has reported everything that it wrote, and SIGTERM ends it."""
    report = tmp_path / "report"
    argv = command(recording, "--hang", "--report", str(report))
    with subprocess.Popen(argv, stdout=subprocess.PIPE) as agent:
        facts = wait_for_report(report)
        assert agent.poll() is None
        agent.terminate()
        assert agent.communicate(timeout=10)[0] == RECORDING
    assert agent.returncode == -signal.SIGTERM
    assert (facts["lines"], facts["bytes"]) == (3, len(RECORDING))


def test_hang_before_result_holds_the_result_back(recording: Path, tmp_path: Path) -> None:
    """With --hang-before-result the agent writes everything up to the result line, and then hangs."""
    report = tmp_path / "report"
    argv = command(recording, "--hang-before-result", "--report", str(report))
    with subprocess.Popen(argv, stdout=subprocess.PIPE) as agent:
        wait_for_report(report)
        agent.terminate()
        assert agent.communicate(timeout=10)[0] == INIT + TEXT


def test_ignore_term_leaves_other_signals(recording: Path, tmp_path: Path) -> None:
    """An agent that ignores SIGTERM is ended by SIGINT."""
    report = tmp_path / "report"
    argv = command(recording, "--hang", "--ignore-term", "--report", str(report))
    with subprocess.Popen(argv, stdout=subprocess.DEVNULL) as agent:
        wait_for_report(report)
        agent.terminate()
        agent.send_signal(signal.SIGINT)
        assert agent.wait(10) == -signal.SIGINT


@pytest.mark.parametrize("switch", ["--fork", "--setsid"])
def test_child_holds_stdout_open(recording: Path, tmp_path: Path, switch: str) -> None:
    """The agent ends while its child, in its group or in its own session, holds stdout open."""
    report = tmp_path / "report"
    argv = command(recording, switch, "60", "--report", str(report))
    with subprocess.Popen(argv, stdout=subprocess.PIPE, start_new_session=True) as agent:
        assert agent.wait(10) == 0
        assert agent.stdout
        assert os.read(agent.stdout.fileno(), 1 << 16) == RECORDING
        assert not is_ready(agent.stdout)
        [child] = json.loads(report.read_bytes())["children"]
        assert os.getpgid(child) == (agent.pid if switch == "--fork" else child)
        os.kill(child, signal.SIGKILL)
        assert agent.stdout.read() == b""


def test_die_is_by_the_signal(recording: Path) -> None:
    """The agent plays to the end and is then ended by the signal."""
    for name, number in (("KILL", signal.SIGKILL), ("SIGTERM", signal.SIGTERM), ("11", signal.SIGSEGV)):
        with case(name):
            done = play(recording, "--die", name)
            assert (done.stdout, done.returncode) == (RECORDING, -number)


def test_repeat_and_report(recording: Path, tmp_path: Path) -> None:
    """The report contains the lines and bytes written, and the slowest write."""
    report = tmp_path / "report"
    assert play(recording, "--repeat", "50", "--report", str(report)).stdout == RECORDING * 50
    facts = wait_for_report(report)
    assert (facts["lines"], facts["bytes"]) == (150, 50 * len(RECORDING))
    assert facts["worst_write_ms"] > 0


def test_reader_that_goes_away_ends_the_agent(recording: Path) -> None:
    """When the reader of its stdout goes away, the agent exits with 1 and prints nothing."""
    argv = command(recording, "--repeat", "100000")
    with subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as agent:
        assert agent.stdout
        assert agent.stderr
        agent.stdout.read(1)
        agent.stdout.close()
        assert agent.stderr.read() == b""
    assert agent.returncode == 1
