"""Processes that outlive the agent are reported, and ended when the user asks; nothing waits for them."""

from __future__ import annotations

import os
import re
import signal
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from agentwatch.cli.printing import print_session
from agentwatch.feed import Feed
from agentwatch.sources import agent as agents
from agentwatch.sources.agent import AgentSource
from agentwatch.sources.open import KeepOptions, agent_source
from agentwatch.sources.started import process
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
