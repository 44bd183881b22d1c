"""Quitting while the agent or its children still run: they are shown, and the user is asked about them."""

import json
import re
import signal
import sys
from pathlib import Path

import pytest

from tests.conftest import RECORDINGS, ROOT
from tests.harness.fake_agent import command
from tests.harness.on_a_pty import in_terminal, saved
from tests.harness.processes import is_alive, zombies_of
from tests.harness.program import AGENTWATCH, HURRIED, watch
from tests.harness.terminal import Terminal

PLAIN = RECORDINGS / "plain.ndjson"
ENDED = "The agent left processes running:"
RUNNING = "The agent is still running."

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="processes are found through /proc"),
]


def children(terminal: Terminal, report: Path) -> list[int]:
    """Return the children of a fake agent, once it has written its report."""
    terminal.wait_until(report.exists, what="report")
    pids: list[int] = json.loads(report.read_text())["children"]
    return pids


def hurried(*switches: str) -> Terminal:
    """Watch a fake agent with a grace period of 0.3 s, and 0.5 s between TERM and KILL."""
    argv = [sys.executable, "-c", HURRIED, "run", "--", *command(PLAIN, *switches)]
    return Terminal(argv, size=(120, 40), env={"PYTHONPATH": str(ROOT)})


def stays(terminal: Terminal, question: str) -> None:
    """Ask to quit, wait for the question, and cancel it."""
    terminal.press("q", question)
    terminal.wait_gone(question, "\x1b")
    assert terminal.exit_status() is None


@pytest.mark.system
def test_a_followed_file_can_be_left(tmp_path: Path) -> None:
    """`q` leaves a file that is followed, and its log ends where the file ends by then."""
    path, log = tmp_path / "session.ndjson", tmp_path / "session.log"
    data = PLAIN.read_bytes()
    path.write_bytes(data[: data.index(b'{"type":"result"')])
    with in_terminal("-f", "--log", str(log), str(path)) as terminal:
        terminal.wait_for("◐ running")
        terminal.leave()
    assert log.read_bytes() == watch("-p", "--times", path).stdout
    assert "# unfinished" in log.read_text()


@pytest.mark.system
def test_children_of_the_agent_can_be_stopped(home: Path, tmp_path: Path) -> None:
    """Children that outlived the agent, one in its own session, are shown with their pids; `s` ends them."""
    report, switches = tmp_path / "report.json", ("--fork", "60", "--setsid", "60")
    with in_terminal("run", "--", *command(PLAIN, *switches, "--report", str(report))) as terminal:
        left = children(terminal, report)
        terminal.wait_for("succeeded 8.7 s")
        terminal.wait_for(f"still running: {', '.join(f'{pid} sleep' for pid in sorted(left))} (q to stop)")
        stays(terminal, ENDED)
        assert all(map(is_alive, left))
        terminal.send("q")
        for pid in left:
            terminal.wait_for(f"  {pid} sleep")
        terminal.wait_for("Stop them")
        terminal.leave("s")
        assert not any(map(is_alive, left))
        assert "started by the agent" not in terminal.screen_text()
    assert saved(home).read_bytes() == PLAIN.read_bytes()


@pytest.mark.system
@pytest.mark.parametrize(("switch", "code"), [("--fork", 0), ("--setsid", 3)])
def test_children_of_the_agent_can_be_left_running(
    home: Path, tmp_path: Path, switch: str, code: int
) -> None:
    """Left running, the child lives on and is reported at exit; the exit code is the agent's."""
    report = tmp_path / "report.json"
    agent = command(PLAIN, switch, "60", "--exit", str(code), "--report", str(report))
    with in_terminal("run", "--", *agent) as terminal:
        [left] = children(terminal, report)
        terminal.wait_for("still running: ")
        terminal.press("q", "Leave them running")
        terminal.leave("l", code)
        assert f"process {left} (sleep), started by the agent, is still running" in terminal.screen_text()
        assert is_alive(left)


@pytest.mark.system
def test_a_child_that_ignores_term_is_killed(tmp_path: Path) -> None:
    """A child that ignores SIGTERM is killed, and agentwatch ends."""
    agent = f"trap '' TERM; sleep 60 & echo $! > '{tmp_path / 'pid'}'; cat '{PLAIN}'"
    argv = [sys.executable, "-c", HURRIED, "run", "--", "sh", "-c", agent]
    with Terminal(argv, size=(120, 40), env={"PYTHONPATH": str(ROOT)}) as terminal:
        terminal.wait_for("still running: ")
        left = int((tmp_path / "pid").read_text())
        terminal.press("q", f"  {left} sleep")
        terminal.leave("s")
        assert not is_alive(left)


@pytest.mark.system
def test_a_child_that_ends_is_no_longer_shown(tmp_path: Path) -> None:
    """A child that ends is no longer shown and is reaped; after that, `q` does not ask."""
    agent = f"(while ! test -e '{tmp_path / 'end'}'; do sleep 0.02; done) & cat '{PLAIN}'"
    with in_terminal("run", "--", "sh", "-c", agent) as terminal:
        terminal.wait_for("still running: ")
        (tmp_path / "end").touch()
        terminal.wait_gone("still running")
        terminal.wait_until(lambda: not zombies_of(terminal.pids[0]), what="burial")
        terminal.leave()
        assert "started by the agent" not in terminal.screen_text()


@pytest.mark.system
@pytest.mark.parametrize("switches", [(), ("--fork", "60", "--setsid", "60"), ("--ignore-term",)])
def test_an_agent_that_hangs_after_its_result(home: Path, tmp_path: Path, switches: tuple[str, ...]) -> None:
    """After the grace period the screen shows that the agent still runs; `q` and `s` end all processes."""
    report = tmp_path / "report.json"
    with hurried("--hang", "--report", str(report), *switches) as terminal:
        terminal.wait_for("✓ succeeded 8.7 s")
        found = terminal.wait_for(re.compile(r"process (\d+) still running \(q to stop\)"))
        pids = [int(found[1]), *children(terminal, report)]
        stays(terminal, RUNNING)
        assert all(map(is_alive, pids))
        terminal.press("q", "Stop the agent")
        terminal.send("s")
        number = signal.SIGKILL if "--ignore-term" in switches else signal.SIGTERM
        assert terminal.wait_exit() == 128 + number
        assert terminal.restored(), terminal.leftovers()
        assert not any(map(is_alive, pids))
    assert saved(home).read_bytes() == PLAIN.read_bytes()


@pytest.mark.system
def test_within_the_grace_period_there_is_no_warning() -> None:
    """Within the grace period of 30 s the screen shows no warning about the agent; `q` asks at once."""
    with in_terminal("run", "--", *command(PLAIN, "--hang")) as terminal:
        terminal.wait_for("✓ succeeded 8.7 s")
        terminal.press("q", RUNNING)
        assert "(q to stop)" not in terminal.screen_text()
        terminal.leave("l")
        assert re.search(r"the agent continues as process \d+", terminal.screen_text())


@pytest.mark.long
def test_the_whole_grace_period(home: Path) -> None:
    """After the grace period of 30 s the screen shows that the agent still runs."""
    argv = [*AGENTWATCH, "run", "--", *command(PLAIN, "--hang")]
    with Terminal(argv, size=(120, 40), cwd=ROOT) as terminal:
        terminal.wait_for("✓ succeeded 8.7 s")
        terminal.wait_for(re.compile(r"process \d+ still running \(q to stop\)"), 60)
        terminal.leave("qs", 128 + signal.SIGTERM)


@pytest.mark.system
def test_one_line_sums_up_on_exit() -> None:
    """After the screen is left, one line sums up the outcome, also of a run without a result."""
    with in_terminal(str(RECORDINGS / "unfinished.ndjson")) as terminal:
        terminal.wait_for("1 Transcript")
        terminal.wait_for("unfinished")
        terminal.press("q", "agentwatch: ◌ unfinished · ")
