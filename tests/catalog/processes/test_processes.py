"""The processes of agents are found among those of the user."""

import os
import time
from pathlib import Path

import pytest

from agentwatch.agents.state_report import State
from agentwatch.catalog.processes import Command, Processes, _Agent
from agentwatch.catalog.session_status import Process
from agentwatch.sources.proc import Proc, Stat
from tests.catalog.started_agents import in_terminal, started
from tests.conftest import case
from tests.harness.processes import until

pytestmark = pytest.mark.slow
TICKS = os.sysconf("SC_CLK_TCK")


def agents_in(folder: Path, processes: Processes | None = None) -> list[Process]:
    processes = processes or Processes()
    processes.refresh(time.time())
    return [each for each in processes.agents.values() if each.cwd == str(folder)]


def test_an_agent_is_found_with_what_the_system_shows(tmp_path: Path) -> None:
    """An agent has its process id, its start, its folder and its arguments, until it ends."""
    before = time.time() * 1000
    with started(["/opt/bin/claude", "--resume", "0b0c"], tmp_path) as process:
        (found,) = agents_in(tmp_path)
        assert (found.pid, found.agent, found.children, found.is_shared) == (process.pid, "claude", 0, False)
        assert found.arguments[-2:] == ("--resume", "0b0c")
        assert found.began_ms is not None
        assert before - 1000 < found.began_ms < time.time() * 1000 + 1000
    # The agents of another user are not listed.
    with started(["claude"], tmp_path):
        assert agents_in(tmp_path, Processes(uid=os.geteuid() + 1)) == []
    # A process that has ended is no longer listed, even before its parent has noticed.
    processes = Processes()
    with started(["pi"], tmp_path) as process:
        assert len(agents_in(tmp_path, processes)) == 1
        process.kill()
        until(lambda: not agents_in(tmp_path, processes))
        assert process.returncode is None


def test_what_begins_beside_an_agent_is_none(tmp_path: Path) -> None:
    """Neither a script that starts it, nor an interpreter of another script, nor a fork is a second agent."""
    for name in ("gemini", "other"):
        (tmp_path / name).write_text("#!/bin/sh\necho; read line\n")
        (tmp_path / name).chmod(0o755)
    gemini, other = str(tmp_path / "gemini"), str(tmp_path / "other")
    with (
        started([gemini, "-p", "hi"], tmp_path, executable=gemini) as process,
        started([other, "gemini"], tmp_path, executable=other),
    ):
        (found,) = agents_in(tmp_path)
        assert (found.pid, found.agent) == (process.pid, "gemini")
    script, program = tmp_path / "codex.js", tmp_path / "codex"
    script.write_text(f"#!/bin/sh\nexec 5<&0\n'{program}' -C /there <&5 &\nwait\nread line <&5\n")
    program.write_text("#!/bin/sh\necho; read line\n")
    for path in (script, program):
        path.chmod(0o755)
    with started([str(script), "-C", "/there"], tmp_path, executable=str(script)) as process:
        processes = Processes()
        processes.refresh(time.time())
        (found,) = (each for each in processes.agents.values() if each.cwd == "/there")
        assert found.agent == "codex"
        assert found.pid != process.pid
        # The script ends a moment after the program, and is none then either.
        assert process.stdin is not None
        process.stdin.write(b"\n")
        process.stdin.flush()
        until(lambda: not Path(f"/proc/{found.pid}").exists())
        processes.refresh(time.time())
        assert process.poll() is None
        assert [each for each in processes.agents.values() if each.cwd == "/there"] == []
    (tmp_path / "fork").mkdir()
    with started(["amp"], tmp_path / "fork", "exec 5<&0; (read line <&5) & echo; wait") as process:
        (found,) = agents_in(tmp_path / "fork")
        assert (found.pid, found.children) == (process.pid, 1)


def test_the_title_of_a_pane_of_tmux_says_that_gemini_asks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only the tmux in which agentwatch runs is asked, at most once a second, and after a failure once a
    minute. A title of another agent says nothing. One that says nothing any more is that of an agent that
    waits for a prompt, as that of Qwen Code, which has no sign then."""
    tmux, titles = tmp_path / "bin" / "tmux", tmp_path / "titles"
    tmux.parent.mkdir()
    tmux.write_text(f"#!/bin/sh\necho $* >> '{tmp_path}/calls'\ncat '{titles}'\n")
    tmux.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmux.parent}:{os.environ['PATH']}")
    monkeypatch.setenv("TMUX", "/run/tmux/default,11,0")
    monkeypatch.setenv("TMUX_PANE", "%3")
    now = time.time()

    def said(processes: Processes, after_s: float) -> dict[str, State | None]:
        processes.refresh(now + after_s)
        return {each.agent: each.title for each in processes.agents.values() if each.cwd == str(tmp_path)}

    nothing: dict[str, State | None] = {"gemini": None, "qwen": None, "pi": None}
    asks = nothing | {"gemini": State.ASKS}
    with in_terminal(["gemini"], tmp_path), in_terminal(["qwen"], tmp_path), in_terminal(["pi"], tmp_path):
        here = Processes()
        assert not titles.exists()
        assert said(here, 0) == nothing
        titles.write_text("%2 ready\n%3 \u270b  Action Required (work)\n%\n")
        assert said(here, 59) == nothing
        assert said(here, 61) == asks
        titles.write_text("%3 \u25c7  Ready (work)\n")
        assert said(here, 61.9) == asks
        assert said(here, 62.1) == nothing | {"gemini": State.YOUR_TURN}
        assert (tmp_path / "calls").read_text().count("list-panes -a") == 3
        titles.write_text("%3 \u23f2  Working (work)\n")
        assert said(here, 63.2)["gemini"] is State.WORKING
        for after_s, title, qwen in (
            (64.5, "\u25d0\ufe0e Qwen - work", State.WORKING),
            (66, "\u2733\ufe0e Qwen - work", State.ASKS),
            (68, "Qwen - work", State.YOUR_TURN),
            (70, "", None),
        ):
            with case(title):
                titles.write_text(f"%3 {title}\n")
                assert said(here, after_s)["qwen"] is qwen
        titles.write_text("%3 Qwen - work\n")
        assert said(Processes(), 72)["qwen"] is None
        monkeypatch.setenv("TMUX", "/run/tmux/other,11,0")
        titles.write_text("%3 \u270b  Action Required (work)\n")
        assert said(Processes(), 80) == nothing
        monkeypatch.delenv("TMUX")
        assert said(Processes(), 80) == nothing
    assert (tmp_path / "calls").read_text().count("list-panes -a") == 9


def test_children_begin_and_end(tmp_path: Path) -> None:
    """The number of child processes and the start of the youngest follow what runs now."""
    processes = Processes()
    with started(["qwen"], tmp_path, "sleep 1000 & echo; read line; kill $!; wait") as process:
        (found,) = agents_in(tmp_path, processes)
        assert found.children == 1
        assert found.child_began_ms is not None
        assert found.began_ms is not None
        assert found.began_ms <= found.child_began_ms
        assert process.stdin is not None
        process.stdin.write(b"\n")
        process.stdin.flush()
        until(lambda: agents_in(tmp_path, processes)[0].children == 0)
        assert agents_in(tmp_path, processes)[0].child_began_ms is None


def test_a_shell_becomes_an_agent(tmp_path: Path) -> None:
    """A process that runs the agent in its own place is found, also if it began after the time was read."""
    command = "echo; read line; exec -a copilot sleep 1000"
    for name, late_s in (("it has begun", 0), ("it began later", 0.6)):
        with case(name), started(["bash", "-c", command], tmp_path, executable="/bin/bash") as process:
            processes, now = Processes(), time.time() - late_s
            processes.refresh(now)
            assert process.pid not in processes.agents
            assert process.stdin is not None
            process.stdin.write(b"\n")
            process.stdin.flush()
            until(lambda pid=process.pid: "copilot" in Proc().arguments(pid), what="copilot")  # type: ignore[misc]
            processes.refresh(now + 0.25)
            assert processes.agents[process.pid].agent == "copilot"


def test_codex_has_its_sessions_open(tmp_path: Path) -> None:
    """The open sessions of Codex are looked up at once, and then every 5 s; other files are left out."""
    rollout = tmp_path / "rollout-2026-11-22T10-00-00-0190.jsonl"
    later = tmp_path / "rollout-2026-11-22T10-00-01-0191.jsonl"
    for path in (rollout, later, tmp_path / "log.txt"):
        path.touch()
    code = f"exec 3<'{rollout}' 4<'{tmp_path}/log.txt'; echo; read line; exec 5<'{later}'; echo"
    processes, now = Processes(), time.time()
    with started(["codex", "app-server", "--listen", "unix://"], tmp_path, code) as process:
        processes.refresh(now)
        daemon = processes.agents[process.pid]
        assert (daemon.is_shared, daemon.open_paths) == (True, (str(rollout),))
        assert daemon.opened_ms == int(now * 1000)
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(b"\n")
        process.stdin.flush()
        process.stdout.readline()
        processes.refresh(now + 4.9)
        assert processes.agents[process.pid].open_paths == (str(rollout),)
        processes.refresh(now + 5.1)
        assert processes.agents[process.pid].open_paths == (str(rollout), str(later))


@pytest.mark.slow
def test_the_files_of_an_agent_that_begins_are_looked_up_each_time(tmp_path: Path) -> None:
    """Opencode opens its database some seconds after its start."""
    database = tmp_path / "opencode.db"
    database.touch()
    code = f"echo; read line; exec 3<'{database}'"
    with started(["opencode"], tmp_path, code) as process:
        processes, now = Processes(), time.time() + 0.1  # its beginning is known to 10 ms
        processes.refresh(now)
        assert processes.agents[process.pid].open_paths == ()
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(b"go\n")
        process.stdin.flush()
        process.stdout.readline()
        processes.refresh(now + 0.5)
        assert processes.agents[process.pid].open_paths == (str(database),)


def test_the_shortest_window_tells_whether_an_agent_is_idle() -> None:
    """What an agent has used before the last readings that are 1.5 s apart does not count, nor one burst."""
    used = {
        "idle": ([0, 1, 2, 3], [None, True, True, True]),
        "busy": ([0, 50, 100, 150], [None, False, False, False]),
        "it has drawn a question": ([0, 50, 51, 52], [None, False, True, True]),
        "a burst": ([0, 1, 50, 51], [None, True, True, True]),
        "it begins to work": ([0, 1, 50, 100], [None, True, True, False]),
    }
    for name, (ticks, expected) in used.items():
        with case(name):
            agent = _Agent(Stat("qwen", 1, 1, 0), Command("qwen", (), is_script=False), (), None)
            stats = [Stat("qwen", 1, 1, each * TICKS // 100) for each in ticks]
            assert [agent.is_idle(2.0 * place, stat) for place, stat in enumerate(stats)] == expected


def test_a_busy_agent_is_not_idle(tmp_path: Path) -> None:
    """That an agent is idle is known after half a second of readings, and that it is busy after 1.5 s."""
    processes, now = Processes(), time.time()
    with (
        started(["qwen"], tmp_path) as idle,
        started(["opencode"], tmp_path, "echo; while :; do :; done") as busy,
    ):
        processes.refresh(now)
        assert processes.agents[idle.pid].is_idle is None
        processes.refresh(now + 0.5)
        assert processes.agents[idle.pid].is_idle is True
        assert processes.agents[busy.pid].is_idle is None
        used = processes._stats[busy.pid].ticks
        until(lambda: (processes._proc.stat(busy.pid) or processes._stats[busy.pid]).ticks > used + 30)
        processes.refresh(now + 3)
        assert processes.agents[idle.pid].is_idle is True
        assert processes.agents[busy.pid].is_idle is False


def test_an_agent_that_says_its_state_is_read_once_a_minute(tmp_path: Path) -> None:
    """All others are read every 10 s. Nobody learns whether it is idle from its state in /proc."""
    processes, now = Processes(), time.time()
    with started(["claude"], tmp_path) as process:
        processes.refresh(now)
        (tmp_path / "proc").symlink_to("/proc")
        processes._proc = Unread(tmp_path / "proc")
        for late, reporting, is_read in (
            (6.0, {process.pid: True}, True),  # it was young
            (6.5, {process.pid: True}, False),
            (7.0, {}, True),
            (11.0, {process.pid: True}, False),
            (61.0, {process.pid: True}, True),
        ):
            with case(late):
                processes._proc.asked.clear()
                processes.refresh(now + late, reporting)
                assert (process.pid in processes._proc.asked) is is_read
                assert (1 in processes._proc.asked) is (late > 10)
                assert process.pid in processes.agents
                if reporting:
                    assert processes.agents[process.pid].is_idle is None


class Unread(Proc):
    """Notes the processes whose states are asked for."""

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self.asked: set[int] = set()

    def stat(self, pid: int) -> Stat | None:
        self.asked.add(pid)
        return super().stat(pid)


class Listed(Proc):
    """The processes of the system, of which the last to begin is said to be another one."""

    lists = 0
    last = b"1"

    def newest(self) -> bytes:
        return self.last

    def pids(self) -> set[int]:
        self.lists += 1
        return super().pids()


def test_processes_are_listed_if_one_has_begun(tmp_path: Path) -> None:
    """They are listed as soon as another one is the last to begin, and every 10 s. They are listed each time
    if the last one is not told, or if it stays the same although others begin."""
    proc, now = Listed(), time.time()
    processes = Processes(proc=proc)
    processes.refresh(now)
    with started(["claude"], tmp_path) as process, started(["qwen"], tmp_path) as said:
        processes.refresh(now + 2)
        assert process.pid not in processes.agents
        proc.last = b"2"
        processes.refresh(now + 4)
        assert {process.pid, said.pid} <= processes.agents.keys()
        processes.refresh(now + 6, {process.pid: True, said.pid: True})
        before = processes.agents
        said.kill()
        said.wait()
        for late in (7, 8):  # a report that does not say whether the process has ended
            assert processes.agents is before
            processes.refresh(now + late, {process.pid: True, said.pid: late == 7})
            assert (said.pid in processes.agents, proc.lists) == (late == 7, 2)
        assert processes.agents is not before
        assert processes.agents[process.pid] is before[process.pid]
        with started(["pi"], tmp_path) as unseen:
            processes.refresh(now + 11)
            assert (unseen.pid in processes.agents, proc.lists) == (True, 3)
            for late in (13, 15):
                processes.refresh(now + late)
            assert proc.lists == 5
    proc.last = b""
    other = Processes(proc=proc)
    for late in range(3):
        other.refresh(now + late)
    assert proc.lists == 8
