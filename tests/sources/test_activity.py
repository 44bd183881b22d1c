"""What our agent's processes do is measured, and nothing is said that was not."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from agentwatch.agent_facts import NO_FACTS
from agentwatch.analysis.status import status
from agentwatch.feed import Feed
from agentwatch.sources import activity
from agentwatch.sources.activity import Activity
from agentwatch.sources.open import Keep, agent_source, saved_source
from tests.conftest import RECORDINGS

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="CPU times are found through /proc")

IDLE = "import sys; sys.stdin.read()"
BUSY = "while True: pass"
BUSY_CHILD = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {BUSY!r}])"
ENDED_CHILD = (
    "import subprocess, sys\n"
    "spend = 'import time\\nwhile time.process_time() < 0.3: pass'\n"
    "subprocess.run([sys.executable, '-c', spend])\n"
    "sys.stdin.read()"
)


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a reading be due after a fifth of a second."""
    monkeypatch.setattr(activity, "_EVERY_SECONDS", 0.2)


@contextmanager
def running(program: str) -> Iterator[int]:
    """Run a program as the leader of a session of its own, and end all of it afterwards."""
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
    """Return the processes of a session."""
    pids = [int(path.name) for path in Path("/proc").glob("[0-9]*")]
    return [pid for pid in pids if activity._session(pid) == session]


def until(answer: Callable[[], object], wanted: object) -> None:
    """Ask until the answer is the wanted one, for ten seconds at most."""
    deadline = time.monotonic() + 10
    while answer() != wanted:
        assert time.monotonic() < deadline, answer()
        time.sleep(0.01)


@pytest.mark.parametrize(("program", "is_busy"), [(IDLE, False), (BUSY, True)])
def test_what_uses_cpu_is_busy(program: str, is_busy: bool) -> None:
    """It is busy or idle by the CPU time of the last seconds; one reading tells nothing."""
    with running(program) as pid:
        asked = Activity(pid)
        assert asked.uses_cpu() is None
        until(asked.uses_cpu, is_busy)


def test_what_the_agent_started_counts() -> None:
    """A build that the agent waits for uses the CPU, not the agent."""
    with running(BUSY_CHILD) as pid:
        until(lambda: (activity._cpu_seconds(pid) or 0) >= 0.5, wanted=True)


def test_what_has_ended_still_counts() -> None:
    """The time of a short-lived child is its parent's when it has ended: a build is made of such."""
    with running(ENDED_CHILD) as pid:
        until(lambda: (activity._cpu_seconds(pid) or 0) >= 0.3, wanted=True)
        until(lambda: len(pids_of(pid)), 1)
        assert (activity._cpu_seconds(pid) or 0) >= 0.3


def test_it_looks_no_oftener_than_it_should(monkeypatch: pytest.MonkeyPatch) -> None:
    """Between two readings the answer stays, and costs nothing."""
    readings = []

    def reading(agent: int) -> float:
        readings.append(agent)
        return float(len(readings))

    monkeypatch.setattr(activity, "_EVERY_SECONDS", 60)
    monkeypatch.setattr(activity, "_cpu_seconds", reading)
    asked = Activity(7)
    assert [asked.uses_cpu() for _ in range(100)] == [None] * 100
    assert readings == [7]


def test_old_readings_and_lost_times_do_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is the last seconds that are told; a sum that fell tells nothing, nor do processes that are gone."""
    hands: dict[str, float | None] = {"now": 0.0, "used": 0.0}
    monkeypatch.setattr(activity, "_cpu_seconds", lambda _agent: hands["used"])
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


def test_where_there_is_no_proc_nothing_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    """On another system, without /proc, and of a session without processes, no activity is told."""
    with running(IDLE) as pid:
        assert activity._cpu_seconds(pid) is not None
        monkeypatch.setattr(sys, "platform", "darwin")
        assert activity._cpu_seconds(pid) is None
    monkeypatch.setattr(sys, "platform", "linux")
    assert activity._cpu_seconds(pid) is None
    assert activity._ticks(pid) is None
    assert activity._session(pid) is None

    def missing(_path: str) -> list[str]:
        raise FileNotFoundError

    monkeypatch.setattr(os, "listdir", missing)
    assert activity._cpu_seconds(1) is None


def test_the_facts_of_our_agent() -> None:
    """An agent that we started is a process while it lives, then an exit code and a last word."""
    assert saved_source(RECORDINGS / "plain.ndjson").agent_facts() == NO_FACTS
    program = "import sys; sys.stdin.read(); print('a\\n no login \\n', file=sys.stderr); sys.exit(3)"
    waiting = "import time; time.sleep(0.5); " + program
    source = agent_source([sys.executable, "-c", waiting], Keep(record=False, write_log=False))
    first = source.agent_facts()
    assert (first.pid, first.exit_code, first.stderr) == (source.agent.pid, None, None)
    assert first.started_ms == source.agent.started_ms
    until(lambda: source.agent_facts().exit_code, 3)
    assert source.agent_facts() == (None, source.agent.started_ms, 3, " no login ", None)
    assert source.agent_facts() is source.agent_facts()
    feed = Feed(source.reader)
    until(lambda: feed.advance() == 0 and feed.is_over, wanted=True)
    words = status(feed.session, None, source.agent_facts())
    assert words == "ended without a result · exit 3 · stderr: no login"
    source.finish()
