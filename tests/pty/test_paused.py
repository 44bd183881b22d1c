"""A real agent is paused by a rule, continued by a key, and stopped by a rule."""

import os
import shutil
import signal
from pathlib import Path

import pytest

from tests.conftest import RECORDINGS, case
from tests.harness.fake_agent import command
from tests.harness.on_a_pty import described, in_terminal, saved
from tests.harness.processes import is_alive, until
from tests.harness.program import watch

PLAIN = RECORDINGS / "plain.ndjson"
pytestmark = pytest.mark.system


def state_of(pid: int) -> str:
    """Return the state of a process: `T` if it is stopped."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]


def test_a_rule_pauses_the_agent_until_the_user_continues_it(home: Path) -> None:
    """The screen names the rule and the key that continues the agent; `kill -CONT` is the same as the key.

    The run then ends as usual.
    """
    for is_key in (True, False):
        agent = command(PLAIN, "--pace", "4")
        with (
            case(f"by a key: {is_key}"),
            in_terminal("run", "--on", "tool:read", "pause", "--", *agent) as terminal,
        ):
            terminal.wait_for('paused by rule "tool:read"')
            terminal.wait_for("C: continue")
            terminal.wait_for("‖ paused")
            until(lambda: state_of(described(home)["pid"]) == "T")
            if is_key:
                terminal.send("C")
            else:
                os.killpg(described(home)["pid"], signal.SIGCONT)
            terminal.wait_for("✓ succeeded")
            until(lambda: described(home)["exit_code"] == 0)
            terminal.leave()
            log = saved(home, "log").read_bytes()
            assert b'rule "tool:read" paused the agent at call 1: Read file' in log
            assert watch("-p", "--times", saved(home)).stdout == log
        shutil.rmtree(home)


def test_a_paused_agent_continues_when_the_screen_is_closed(home: Path) -> None:
    """The dialog announces it, and no stopped process is left behind."""
    agent = command(PLAIN, "--cut", "2500", "--hang")
    with in_terminal("run", "--on", "tool:read", "pause", "--", *agent) as terminal:
        terminal.wait_for('paused by rule "tool:read"')
        pid = described(home)["pid"]
        until(lambda: state_of(pid) == "T")
        terminal.press("q", "The agent is paused by rule")
        terminal.leave("l")
        assert "the agent was paused by a rule; it continues now" in terminal.screen_text()
    until(lambda: state_of(pid) != "T")
    os.kill(pid, signal.SIGTERM)
    until(lambda: not is_alive(pid))


def test_a_rule_stops_the_agent(home: Path) -> None:
    """The screen stays and shows the exit code; the last printed line names the rule."""
    agent = command(PLAIN, "--cut", "2500", "--hang")
    with in_terminal("run", "--on", "tool:read", "stop", "--", *agent) as terminal:
        terminal.wait_for("exit 143")
        assert not is_alive(described(home)["pid"])
        terminal.leave("q", 143)
        assert 'stopped by rule "tool:read"' in terminal.screen_text()


def test_an_agent_is_not_left_paused_by_a_monitor_that_is_killed(home: Path) -> None:
    """If the monitor is killed by SIGKILL, the relay continues the agent."""
    agent = command(PLAIN, "--cut", "2500", "--hang")
    with in_terminal("run", "--on", "tool:read", "pause", "--", *agent) as terminal:
        terminal.wait_for('paused by rule "tool:read"')
        pid = described(home)["pid"]
        until(lambda: state_of(pid) == "T")
        os.kill(terminal.pid, signal.SIGKILL)
        until(lambda: state_of(pid) != "T")
        os.kill(pid, signal.SIGTERM)
        until(lambda: not is_alive(pid))
