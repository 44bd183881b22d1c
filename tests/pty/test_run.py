"""`agentwatch run` starts the agent, watches it, and exits with its code."""

import signal
from pathlib import Path

import pytest

from tests.conftest import RECORDINGS
from tests.harness.fake_agent import command
from tests.harness.on_a_pty import DEMO, FIRST_CALLS, described, in_terminal, in_two_parts, saved
from tests.harness.processes import is_alive
from tests.harness.program import watch

PLAIN = RECORDINGS / "plain.ndjson"
pytestmark = pytest.mark.slow


@pytest.mark.system
def test_a_failing_agent(home: Path) -> None:
    """The agent's exit code is passed on; its stderr is on the screen, in a file, and printed at the end."""
    agent = command(PLAIN, "--cut", "2500", "--exit", "3", "--stderr", "boom: out of luck")
    with in_terminal("run", "--", *agent) as terminal:
        terminal.wait_for("ended without a result · exit 3 · stderr: boom: out of luck")
        terminal.wait_for("◌ unfinished")
        terminal.press("4", "│ boom: out of luck")
        terminal.leave("q", 3)
        assert "ended without a result, exit 3: boom: out of luck" in terminal.screen_text()
    assert saved(home, "stderr").read_bytes() == b"boom: out of luck\n"
    assert saved(home).read_bytes() == PLAIN.read_bytes()[:2500]
    facts = described(home)
    assert facts["command"] == agent
    assert facts["exit_code"] == 3
    assert isinstance(facts["ended_ms"], int)


@pytest.mark.system
def test_a_nonzero_exit_after_success(home: Path) -> None:
    """An agent whose result says success but whose exit code is not 0 does not count as a success."""
    with in_terminal("run", "--", *command(PLAIN, "--exit", "3", "--stderr", "boom")) as terminal:
        terminal.wait_for("✗ exit 3 · result says ✓ 8.7 s")
        terminal.wait_for("✗ exit 3 · result says ✓ in 8.7 s")
        terminal.wait_for("\n stderr: boom ")
        terminal.press("4", "│ boom")
        terminal.leave("q", 3)
    assert described(home)["exit_code"] == 3


def test_an_agent_that_succeeds(home: Path) -> None:
    """The recording of an agent that succeeds is what it wrote, its log is complete, the exit code 0."""
    with in_terminal("run", "--", *command(DEMO, "--pace", "800")) as terminal:
        terminal.wait_for("✓ succeeded in 1:10")
        terminal.wait_until(lambda: saved(home, "log").read_bytes().count(b"\n") > 15, what="log")
        terminal.leave()
    assert saved(home).read_bytes() == DEMO.read_bytes()
    assert saved(home, "log").read_bytes() == watch("-p", "--times", saved(home)).stdout
    assert described(home)["exit_code"] == 0


@pytest.mark.system
def test_q_asks_while_the_agent_runs(home: Path) -> None:
    """While the agent runs `q` asks; esc returns to the screen, which keeps updating."""
    with in_terminal("run", "--", *command(DEMO, "--pace", "100", "--hang")) as terminal:
        terminal.wait_for("◐ running")
        for key in ("q", "\x03"):
            terminal.press(key, "The agent is still running.")
            terminal.wait_gone("still running.", "\x1b")
        assert terminal.exit_status() is None
        terminal.wait_for("Created new file tests/test_past_lows.py")
        assert described(home)["exit_code"] is None


@pytest.mark.system
def test_l_leaves_the_agent_running(home: Path, tmp_path: Path) -> None:
    """Left running, the agent outlives agentwatch and writes its recording to the end."""
    with in_terminal("run", "--", *in_two_parts(tmp_path / "go")) as terminal:
        terminal.wait_for(FIRST_CALLS)
        terminal.press("q", "Leave it running")
        terminal.leave("l")
        pid = described(home)["pid"]
        assert str(pid) in terminal.screen_text()
        assert is_alive(pid)
        assert saved(home).stat().st_size < DEMO.stat().st_size
        (tmp_path / "go").touch()
        terminal.wait_until(lambda: not is_alive(pid), 20, "end of the agent")
        terminal.wait_until(lambda: saved(home).read_bytes() == DEMO.read_bytes(), 5, "its last bytes")


def test_s_stops_the_agent(home: Path) -> None:
    """After `s` the agent has ended when agentwatch ends, and the exit code is that of its signal."""
    with in_terminal("run", "--", *command(DEMO, "--pace", "150", "--hang")) as terminal:
        terminal.wait_for(FIRST_CALLS)
        terminal.press("q", "Stop the agent")
        terminal.leave("s", 128 + signal.SIGTERM)
    facts = described(home)
    assert facts["exit_code"] == 143
    assert not is_alive(facts["pid"])


@pytest.mark.system
def test_a_closed_terminal_leaves_the_agent(home: Path) -> None:
    """When the terminal is closed the agent writes its recording to the end."""
    with in_terminal("run", "--", *command(DEMO, "--pace", "200")) as terminal:
        terminal.wait_for(FIRST_CALLS)
        terminal.hang_up()
        pid = described(home)["pid"]
        terminal.wait_until(lambda: not is_alive(pid), 20, "end of the agent")
        terminal.wait_until(lambda: saved(home).read_bytes() == DEMO.read_bytes(), 5, "its last bytes")


def test_without_a_terminal_the_actions_are_printed(home: Path) -> None:
    """Without a terminal `run` prints and still records, and ends with the agent's code."""
    done = watch("run", "--", *command(PLAIN, "--exit", "5"))
    assert done.returncode == 5
    assert done.stdout.decode().splitlines() == [
        "Read file lantern/settings.py (6 lines)",
        "Edited file lantern/settings.py (+1 -1)",
    ]
    assert saved(home).read_bytes() == PLAIN.read_bytes()
    assert b"\x1b" not in done.stdout + done.stderr
