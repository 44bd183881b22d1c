"""The CPU use of the agent's processes is measured; nothing is reported that was not measured."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from agentwatch.agents.opening import saved_source
from agentwatch.analysis.status import status
from agentwatch.feed.feed import Feed
from agentwatch.session.agent_process import NO_FACTS, AgentFacts
from agentwatch.sources import agent_processes
from agentwatch.sources.agent_processes import Activity
from agentwatch.sources.open import KeepOptions, agent_source
from agentwatch.sources.proc import stat_of
from tests.conftest import RECORDINGS
from tests.harness.processes import until

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="CPU times are found through /proc"),
]

IDLE = "import sys; sys.stdin.read()"
BUSY = "while True: pass"
BUSY_CHILD = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {BUSY!r}])"
ENDED_CHILD = (
    "import subprocess, sys\n"
    "spend = 'import time\\nwhile time.process_time() < 0.4: pass'\n"
    "subprocess.run([sys.executable, '-c', spend])\n"
    "sys.stdin.read()"
)
"""The child uses 0.4 s; /proc rounds the times of each process down to 10 ms, so 0.3 s at least are found."""


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take a new reading every 0.2 seconds."""
    monkeypatch.setattr(agent_processes, "_MIN_INTERVAL_SECONDS", 0.2)


@contextmanager
def running(program: str) -> Iterator[int]:
    """Run a program as the leader of its own session, and kill the whole session afterwards."""
    argv = ["/usr/bin/env", sys.executable, "-c", program]
    process = subprocess.Popen(argv, stdin=subprocess.PIPE, start_new_session=True)
    try:
        yield process.pid
    finally:
        subprocess.run(["/usr/bin/env", "kill", "-9", "--", f"-{process.pid}"], check=True)
        process.wait()
        assert process.stdin is not None
        process.stdin.close()


def pids_of(session: int) -> list[int]:
    pids = [int(path.name) for path in Path("/proc").glob("[0-9]*")]
    return [pid for pid in pids if agent_processes._session(pid) == session]


@pytest.mark.system
@pytest.mark.parametrize(("program", "is_busy"), [(IDLE, False), (BUSY, True)])
def test_an_agent_that_uses_cpu_is_busy(program: str, is_busy: bool) -> None:
    """The agent is busy or idle by the CPU time of the last seconds; a single reading shows nothing."""
    with running(program) as pid:
        asked = Activity(pid)
        assert asked.uses_cpu() is None
        until(lambda: asked.uses_cpu() is is_busy, 60)


@pytest.mark.system
def test_cpu_time_of_children_counts() -> None:
    """The CPU time of the agent's children counts: a build runs in a child while the agent waits. The CPU
    time of a child that ended counts for its parent, as builds consist of short-lived children.
    """
    with running(BUSY_CHILD) as pid:
        until(lambda: (agent_processes._cpu_seconds(pid) or 0) >= 0.5, 60)
    # Cpu time of ended children counts.
    with running(ENDED_CHILD) as other_pid:
        until(lambda: (agent_processes._cpu_seconds(other_pid) or 0) >= 0.3, 60)
        until(lambda: len(pids_of(other_pid)) == 1, 60)
        assert (agent_processes._cpu_seconds(other_pid) or 0) >= 0.3


def test_a_reading_is_cached(monkeypatch: pytest.MonkeyPatch) -> None:
    """Between two readings the answer is cached and /proc is not read."""
    readings = []

    def reading(agent: int) -> float:
        readings.append(agent)
        return float(len(readings))

    monkeypatch.setattr(agent_processes, "_MIN_INTERVAL_SECONDS", 60)
    monkeypatch.setattr(agent_processes, "_cpu_seconds", reading)
    asked = Activity(7)
    assert [asked.uses_cpu() for _ in range(100)] == [None] * 100
    assert readings == [7]


def test_old_readings_and_lost_times_do_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only the last seconds count; a total that fell, or processes that are gone, give no answer."""
    hands: dict[str, float | None] = {"now": 0.0, "used": 0.0}
    monkeypatch.setattr(agent_processes, "_cpu_seconds", lambda _agent: hands["used"])
    monkeypatch.setattr(time, "monotonic", lambda: hands["now"])
    asked = Activity(7)

    def at(now: float, used: float | None) -> bool | None:
        hands.update(now=now, used=used)
        return asked.uses_cpu()

    assert [at(0, 0), at(1, 0.5), at(2, 0.5), at(3, 0.5)] == [None, True, True, True]
    assert [at(4, 0.5), at(5, 0.5), at(5.1, 9)] == [False, False, False]
    assert [at(60, 9), at(61, 9)] == [None, False]
    assert [at(62, 3), at(63, 3), at(64, 3.5)] == [None, False, True]
    assert [at(65, None), at(66, 7), at(67, 7.03), at(69, 7.03)] == [None, None, True, False]


def test_without_proc_activity_is_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without /proc, or for a session without processes, the activity is unknown."""
    with running(IDLE) as pid:
        assert agent_processes._cpu_seconds(pid) is not None
        monkeypatch.setattr(sys, "platform", "darwin")
        assert agent_processes._cpu_seconds(pid) is None
    monkeypatch.setattr(sys, "platform", "linux")
    assert agent_processes._cpu_seconds(pid) is None
    assert stat_of(pid) is None
    assert agent_processes._session(pid) is None

    def missing(_path: str) -> list[str]:
        raise FileNotFoundError

    monkeypatch.setattr(os, "listdir", missing)
    assert agent_processes._cpu_seconds(1) is None


def test_a_stopped_agent_is_said_to_be_stopped() -> None:
    """An agent that SIGSTOP has stopped is stopped, not waiting for the model, until SIGCONT resumes it."""
    source = agent_source(["sleep", "60"], KeepOptions(record=False, write_log=False))
    feed = Feed(source.reader)
    assert status(feed.session, None, source.agent_facts()) == "waiting for the first event"
    os.kill(source.agent.pid, signal.SIGSTOP)
    until(lambda: source.agent_facts().is_stopped)
    words = status(feed.session, None, source.agent_facts())
    assert words == f"stopped by a signal, kill -CONT {source.agent.pid} resumes it"
    assert status(feed.session, None, source.agent_facts(), 20) == "stopped by a signal…"[:19] + "…"
    os.kill(source.agent.pid, signal.SIGCONT)
    until(lambda: not source.agent_facts().is_stopped)
    source.stop()
    assert not source.agent_facts().is_stopped


def test_the_facts_of_a_started_agent(tmp_path: Path) -> None:
    """A started agent has a pid while it lives, and then an exit code and a last stderr line."""
    assert saved_source(RECORDINGS / "plain.ndjson").agent_facts() == NO_FACTS
    program = "while [ ! -e $0 ]; do sleep 0.01; done; cat; printf 'a\\n no login \\n\\n' >&2; exit 3"
    go = tmp_path / "go"
    source = agent_source(["sh", "-c", program, str(go)], KeepOptions(record=False, write_log=False))
    first = source.agent_facts()
    assert (first.pid, first.exit_code, first.stderr) == (source.agent.pid, None, None)
    assert first.started_ms == source.agent.started_ms
    go.touch()
    until(lambda: source.agent_facts().exit_code == 3)
    assert source.agent_facts() == AgentFacts(None, source.agent.started_ms, 3, " no login ")
    assert source.agent_facts() is source.agent_facts()
    feed = Feed(source.reader)
    until(lambda: feed.advance() == 0 and feed.is_over)
    words = status(feed.session, None, source.agent_facts())
    assert words == "ended without a result · exit 3 · stderr: no login"
    source.finish()
