"""Processes that outlive the agent are reported, and ended when the user asks; nothing waits for them."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from agentwatch.cli.printing import print_session
from agentwatch.feed import Feed
from agentwatch.sources import agent as agents
from agentwatch.sources import process
from agentwatch.sources.agent import AgentSource
from agentwatch.sources.open import KeepOptions, agent_source
from tests.conftest import RECORDINGS
from tests.harness.fake_agent import command
from tests.harness.processes import is_alive

PLAIN = RECORDINGS / "plain.ndjson"
NOTHING_KEPT = KeepOptions(record=False, write_log=False)

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="processes are found through /proc")


@pytest.fixture
def start(monkeypatch: pytest.MonkeyPatch) -> Callable[..., AgentSource]:
    """Return a function that starts a fake agent on a short recording; stopping it takes at most 0.3 s."""
    monkeypatch.setattr(process, "_STOP_SECONDS", 0.3)

    def started(*switches: str) -> AgentSource:
        return agent_source(command(PLAIN, *switches), NOTHING_KEPT)

    return started


@pytest.mark.parametrize("switch", ["--fork", "--setsid"])
def test_a_child_left_behind_is_named(
    start: Callable[..., AgentSource], switch: str, capfd: pytest.CaptureFixture[str]
) -> None:
    """A child that holds the agent's stdout delays nothing; it is reported with its pid and left alone."""
    source = start(switch, "60")
    assert print_session(source, Feed(source.reader), "text") == 0
    stderr = capfd.readouterr().err
    found = re.fullmatch(
        r"agentwatch: process (\d+) \(sleep\), started by the agent, is still running\n", stderr
    )
    assert found
    assert is_alive(int(found[1]))
    source.agent.stop()
    assert not is_alive(int(found[1]))
    assert source.agent.survivors() == []


@pytest.mark.parametrize("switches", [(), ("--ignore-term",), ("--fork", "60", "--ignore-term")])
def test_stop_ends_all(start: Callable[..., AgentSource], tmp_path: Path, switches: tuple[str, ...]) -> None:
    """Stopping asks the agent and its children to end, and kills those that do not."""
    report = tmp_path / "report.json"
    source = start("--hang", "--report", str(report), *switches)
    feed = Feed(source.reader)
    while not report.exists():
        feed.advance()
    source.agent.stop()
    assert source.agent.exit_code == 128 + (signal.SIGKILL if switches else signal.SIGTERM)
    assert not is_alive(source.agent.pid)
    assert source.agent.survivors() == []


def test_an_agent_that_hangs_after_its_result_is_left(
    start: Callable[..., AgentSource], monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """An agent that has not exited in the grace period after its result is left running and reported."""
    monkeypatch.setattr(agents, "LATE_EXIT_MS", 50)
    source = start("--hang")
    assert print_session(source, Feed(source.reader), "text") == 0
    assert f"the agent (process {source.agent.pid}) is still running" in capfd.readouterr().err
    assert is_alive(source.agent.pid)
    os.killpg(source.agent.pid, signal.SIGKILL)
    source.agent._process.wait()


def test_our_own_children_are_left_to_those_who_wait_for_them() -> None:
    """A process that this process has started beside the agent, such as an editor, keeps its exit code."""
    writing = "import os, time\nwhile True: os.write(1, b'{}\\n'); time.sleep(0.005)"
    source = agent_source([sys.executable, "-c", writing], NOTHING_KEPT)
    try:
        child = subprocess.Popen(["sh", "-c", "exit 3"])
        os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
        for _ in range(3):  # the agent's ended processes are reaped each time when its output has grown
            size = source.reader.growth.size()
            deadline = time.monotonic() + 10
            while source.reader.growth.size() == size:
                assert time.monotonic() < deadline
                time.sleep(0.001)
        assert child.wait() == 3
    finally:
        source.stop()
