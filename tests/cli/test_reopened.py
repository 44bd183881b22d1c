"""A session of `run` that is opened again shows what the run knew; one that still runs is followed."""

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from agentwatch.agents.opening import saved_source
from agentwatch.analysis.status import status
from agentwatch.feed.feed import Feed
from agentwatch.session.agent_process import AgentFacts
from tests.harness.fake_agent import command
from tests.harness.on_a_pty import in_terminal, saved
from tests.harness.processes import is_alive, until
from tests.harness.program import AGENTWATCH, PLAIN, PLAIN_TEXT, environment, ran, watch

GATED = """
import os, sys
data = open(sys.argv[1], "rb").read()
half = data.index(b"\\n", len(data) // 2) + 1
os.write(1, data[:half])
open(sys.argv[2], "rb").read()  # until the test opens the FIFO
os.write(1, data[half:])
sys.exit(int(sys.argv[3]))
"""
"""An agent that writes half of a recording, and the rest when a FIFO is opened."""


@pytest.fixture
def gate(tmp_path: Path) -> Path:
    """A FIFO for which the agent waits."""
    os.mkfifo(tmp_path / "gate")
    return tmp_path / "gate"


def open_gate(gate: Path) -> None:
    """Let the agent write the rest."""
    gate.write_bytes(b"")


def state(*words: str) -> bool:
    """Return whether the only saved session is listed in one of these states.

    The lines of the agent are old, so that a session that runs may be quiet.
    """
    [found] = map(json.loads, ran("sessions", "--json", "--all").stdout.splitlines())
    return found["state"] in words


@contextmanager
def running(
    home: Path, *arguments: str | Path, stdin: int | None = None
) -> Iterator[subprocess.Popen[bytes]]:
    """Run agentwatch in the background until half of the recording is written."""
    argv = [*AGENTWATCH, *map(str, arguments)]
    quiet = subprocess.DEVNULL
    with subprocess.Popen(argv, stdin=stdin or quiet, stdout=quiet, stderr=quiet, env=environment()) as child:
        try:
            until(lambda: any(path.stat().st_size > 2000 for path in home.glob("sessions/*.ndjson")))
            yield child
        except BaseException:
            child.terminate()  # it would wait for its agent, and the agent for the test
            raise


def agent_of(gate: Path, code: int = 0) -> list[str]:
    """Return the command of the gated agent."""
    return [sys.executable, "-c", GATED, str(PLAIN), str(gate), str(code)]


@pytest.mark.slow
def test_a_failed_run_is_known_when_opened_again(home: Path) -> None:
    """The exit code and the last line of stderr are facts of the reopened session, as of the run."""
    agent = command(PLAIN, "--cut", "2500", "--exit", "4", "--stderr", "out of luck")
    assert watch("run", "-p", "--", *agent).returncode == 4
    source = saved_source(saved(home))
    facts = source.agent_facts()
    assert facts == AgentFacts(started_ms=facts.started_ms, exit_code=4, stderr="out of luck")
    assert facts.started_ms
    assert source.last_stderr(5) == source.new_stderr() == ["out of luck"]
    feed = Feed(source.reader)
    feed.advance()
    words = status(feed.session, None, facts)
    assert "exit 4" in words
    assert "out of luck" in words
    done = ran("-p", saved(home))
    assert done.returncode == 1
    assert b"out of luck" in done.stderr
    assert state("failed", "unfinished")
    # An agent that failed after its result said success has failed, for `run` and after it.
    shutil.rmtree(home / "sessions")
    agent = command(PLAIN, "--exit", "4", "--stderr", "out of luck")
    done = watch("run", "-p", "--", *agent)
    assert "the run failed, exit 4 · result says ✓: out of luck".encode() in done.stderr
    opened = ran("-p", saved(home))
    assert (opened.returncode, opened.stderr) == (1, done.stderr)
    [found] = map(json.loads, ran("sessions", "--json", "--all").stdout.splitlines())
    assert (found["state"], found["now"], found["exit_code"]) == ("failed", "exit 4 · result says ✓", 4)
    summary = json.loads(ran("-p", "--output-format", "summary", saved(home)).stdout)
    assert (summary["outcome"], summary["exit_code"]) == ("failed", 4)
    assert summary["result_outcome"] == "succeeded"
    said = "exit 4 · result says ✓"
    for to, expected in (("html", f'<strong class="outcome failed">✗ {said}'), ("markdown", said)):
        assert ran("export", saved(home), "--to", to, "-o", home / to).returncode == 0
        assert expected in (home / to).read_text()
    row = ran("sessions", "--all").stdout.decode()
    assert "✗" in row
    assert said in row
    assert "ended with exit 4" in ran("show", "--why", saved(home)).stdout.decode()


@pytest.mark.system
def test_the_screen_of_a_reopened_run(home: Path) -> None:
    """The status line of a reopened session has the exit code and the reason, and pane 4 the stderr."""
    agent = command(PLAIN, "--cut", "2500", "--exit", "4", "--stderr", "out of luck")
    watch("run", "-p", "--", *agent)
    with in_terminal(str(saved(home)), size=(160, 50)) as terminal:
        terminal.wait_for("exit 4 · stderr: out of luck")
        terminal.press("4", "4 stderr")
        terminal.leave("q", 1)


@pytest.mark.parametrize("name", ["r.json", "r.stderr"])
def test_files_beside_another_recording_are_not_facts(tmp_path: Path, name: str) -> None:
    """Files that are not a description, or not regular, are not facts, and are not waited for."""
    recording = tmp_path / "r.ndjson"
    recording.write_bytes(PLAIN.read_bytes())
    os.mkfifo(tmp_path / name)
    if name != "r.json":
        (tmp_path / "r.json").write_text('{"pid": 1, "exit_code": 4}')
    source = saved_source(recording)
    assert source.agent_facts() == AgentFacts()
    assert source.last_stderr(1) == source.new_stderr() == []


@pytest.mark.slow
def test_a_running_session_is_listed_and_followed(home: Path, gate: Path) -> None:
    """A session of `run` is listed as running, and opening it prints the calls until the agent ends."""
    with running(home, "run", "-p", "--", *agent_of(gate)) as monitor:
        assert state("working", "quiet")
        follower = subprocess.Popen(
            [*AGENTWATCH, "-p", str(saved(home))], stdout=subprocess.PIPE, env=environment()
        )
        with follower:
            assert follower.stdout
            assert follower.stdout.readline() == PLAIN_TEXT.splitlines(keepends=True)[0]
            assert follower.poll() is None
            open_gate(gate)
            assert follower.stdout.read() == PLAIN_TEXT.splitlines(keepends=True)[1]
            assert follower.wait(15) == 0
        assert monitor.wait(15) == 0
    assert state("succeeded")


@pytest.mark.slow
def test_a_running_session_outlives_its_monitor(home: Path, gate: Path) -> None:
    """When the monitor is killed, the session is running until its agent has ended."""
    with running(home, "run", "-p", "--", *agent_of(gate)) as monitor:
        monitor.kill()
        monitor.wait()
        assert state("working", "quiet")
        open_gate(gate)
        until(lambda: state("succeeded"))


@pytest.mark.slow
def test_a_piped_session_runs_until_the_pipe_ends(home: Path) -> None:
    """A recorded pipe is running while the pipe is open, and not after it has ended."""
    record = home / "sessions" / "20260101-000000-aaaaaa.ndjson"
    record.parent.mkdir(parents=True)
    reader, writer = os.pipe()
    os.write(writer, PLAIN.read_bytes()[:2500])
    with running(home, "-p", "--record", record, stdin=reader) as monitor:
        os.close(reader)
        assert state("working", "quiet")
        os.close(writer)
        assert monitor.wait(15) == 1
    assert state("unfinished")


@pytest.mark.system
def test_a_screen_that_stays_open_does_not_make_a_session_run(home: Path) -> None:
    """After the end of the agent, the session has ended although its screen is still open."""
    with in_terminal("run", "--", *command(PLAIN)) as terminal:
        terminal.wait_for("✓ succeeded in 8.7 s")
        until(lambda: state("succeeded"))
        terminal.leave()


@pytest.mark.system
def test_a_running_session_opens_following(home: Path, gate: Path) -> None:
    """A running session is listed as working, and is opened following; it ends with its agent."""
    with running(home, "run", "-p", "--", *agent_of(gate, 4)) as monitor, in_terminal() as terminal:
        terminal.wait_for("WORKING")
        terminal.press("\r", "Raise the request timeout")
        assert "✓" not in terminal.screen_text().partition("\n")[0]
        open_gate(gate)
        terminal.wait_for("✗ exit 4 · result says ✓")
        assert monitor.wait(15) == 4
        terminal.leave()


@pytest.mark.system
def test_leaving_the_screen_leaves_a_running_session_alone(home: Path, gate: Path) -> None:
    """`q` leaves a session that is being written with 0, and says nothing of the agent's stderr."""
    with running(home, "run", "-p", "--", *agent_of(gate)) as monitor:
        with in_terminal(str(saved(home))) as terminal:
            terminal.wait_for("Raise the request timeout")
            terminal.leave()
            assert "stderr" not in terminal.screen_text()
        assert is_alive(monitor.pid)
        monitor.send_signal(signal.SIGTERM)
