"""Processes that outlive the agent are reported, and ended when the user asks; nothing waits for them."""

import json
import os
import re
import shlex
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from agentwatch.cli import printing
from agentwatch.cli.printing import print_session
from agentwatch.feed.feed import Feed
from agentwatch.sources import agent as agents
from agentwatch.sources import agent_processes, process
from agentwatch.sources.agent import AgentSource
from agentwatch.sources.open import KeepOptions, agent_source
from agentwatch.sources.proc import pids, stat_of
from tests.conftest import RECORDINGS
from tests.harness.fake_agent import command
from tests.harness.processes import is_alive, until, zombies_of
from tests.harness.program import AGENTWATCH, environment

PLAIN = RECORDINGS / "plain.ndjson"
NOTHING_KEPT = KeepOptions(record=False, write_log=False)

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="processes are found through /proc"),
]


def until_asleep(parent: int, count: int) -> list[int]:
    """Wait until a process has adopted or started this number of processes `sleep`; return their ids."""

    def asleep() -> list[int]:
        found = [(pid, stat_of(pid)) for pid in pids()]
        return [pid for pid, stat in found if stat and (stat.name, stat.parent) == ("sleep", parent)]

    until(lambda: len(asleep()) == count)
    return asleep()


def is_zombie(pid: int) -> bool:
    """Return whether a process has ended and was not reaped."""
    stat = stat_of(pid)
    return stat is not None and stat.state == "Z"


@pytest.fixture
def start(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., AgentSource]]:
    """Return a function that starts a fake agent on a short recording.

    An agent that ignores SIGTERM is killed after 0.3 s. The agents are stopped after the test, also if it has
    failed.
    """
    sources: list[AgentSource] = []

    def started(*switches: str) -> AgentSource:
        if "--ignore-term" in switches:
            monkeypatch.setattr(process, "_STOP_SECONDS", 0.3)
        sources.append(agent_source(command(PLAIN, *switches), NOTHING_KEPT))
        return sources[-1]

    yield started
    for source in sources:
        if source.agent_exit_code is None:
            source.stop()


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


@pytest.mark.system
@pytest.mark.parametrize("switches", [(), ("--ignore-term",), ("--fork", "60", "--ignore-term")])
def test_stop_ends_all(start: Callable[..., AgentSource], tmp_path: Path, switches: tuple[str, ...]) -> None:
    """Stopping asks the agent and its children to end, and kills those that do not."""
    report = tmp_path / "report.json"
    source = start("--hang", "--report", str(report), *switches)
    feed = Feed(source.reader)
    until(lambda: (feed.advance(), report.exists())[1], what="the report")
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


BEFORE = """
sleep 60 & setsid sleep 60 &
sh -c 'while [ ! -e "$0" ]; do sleep 0.05; done; sleep 60 &' "$0" &
exec "$@"
"""
"""An entry point: it leaves two processes, a third that is orphaned once the agent runs ($0 exists), and
becomes the program."""


@pytest.mark.system
def test_processes_from_before_are_not_the_agents(tmp_path: Path) -> None:
    """What an entry point has started before it became agentwatch is neither named nor stopped."""
    report, agent = tmp_path / "report.json", command(PLAIN, "--fork", "60", "--hang-before-result")
    argv = [*AGENTWATCH, "run", "--print", "--no-record", "--", *agent, "--report", str(report)]
    with (
        (tmp_path / "stderr").open("wb") as stderr,
        subprocess.Popen(
            ["sh", "-c", BEFORE, str(report), *argv],
            env=environment(),
            stdout=subprocess.DEVNULL,
            stderr=stderr,
            start_new_session=True,
        ) as run,
    ):
        try:
            sleeping = until_asleep(run.pid, 3)
        finally:
            run.terminate()
    alive = [pid for pid in sleeping if is_alive(pid)]
    for pid in alive:
        os.kill(pid, signal.SIGKILL)
    assert alive == sleeping
    assert (tmp_path / "stderr").read_bytes() == b""
    assert not any(map(is_alive, json.loads(report.read_text())["children"]))


@pytest.mark.system
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_while_the_agent_starts_stops_it(tmp_path: Path, number: signal.Signals) -> None:
    """A signal that arrives before the session is followed stops the agent, as later signals do."""
    pid = tmp_path / "pid"
    agent = ["sh", "-c", f'echo $$ > "$0"; kill -{number} $PPID; exec sleep 60', str(pid)]
    run = subprocess.run(
        [*AGENTWATCH, "run", "--print", "--no-record", "--", *agent],
        env=environment(),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=20,
        check=False,
        start_new_session=True,
    )
    is_left = is_alive(int(pid.read_text()))
    if is_left:
        os.kill(int(pid.read_text()), signal.SIGKILL)
    assert not is_left
    assert run.returncode == 128 + number


@pytest.mark.system
@pytest.mark.parametrize("new_session", ["", "setsid "])
def test_processes_of_the_editor_are_not_the_agents(
    start: Callable[..., AgentSource], tmp_path: Path, new_session: str
) -> None:
    """What another child of ours leaves behind, such as the user's editor, is neither named nor stopped."""
    source = start("--fork", "60", "--setsid", "60", "--hang-before-result", "--report", str(tmp_path / "r"))
    until(lambda: (tmp_path / "r").exists() and (tmp_path / "r").read_text())
    editor = ["sh", "-c", f"{new_session}sleep 60 >&- & echo $!"]
    left = int(subprocess.run(editor, stdout=subprocess.PIPE, check=True).stdout)
    stat = stat_of(left)
    assert stat is not None
    assert stat.parent == os.getpid()
    source.stop()
    is_left = is_alive(left)
    os.kill(left, signal.SIGKILL)
    assert is_left
    assert not any(map(is_alive, json.loads((tmp_path / "r").read_text())["children"]))
    assert source.agent.survivors() == []


@pytest.mark.system
def test_other_children_are_left_to_their_parent(
    start: Callable[..., AgentSource], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Once nothing is left of the agent's session, a later one of the same id is not the agent's. The exit
    code of another child is left to the code that waits for it; an adopted process that nobody waits for is
    reaped.
    """
    source = start()
    until(lambda: not source.is_live)
    assert source.survivors() == []
    with subprocess.Popen(["sh", "-c", "sleep 60 & wait"], start_new_session=True) as other:
        source.agent._descendants._agent = other.pid
        until_asleep(other.pid, 1)
        found = source.survivors()
        os.killpg(other.pid, signal.SIGKILL)
    assert found == []
    # A child that is waited for is not reaped.
    monkeypatch.setattr(agent_processes, "_UNCLAIMED_SECONDS", 60)
    source = start("--hang-before-result")
    for _ in range(20):
        with subprocess.Popen(["sh", "-c", "exit 7"]) as editor:
            until(lambda: is_zombie(editor.pid))
            source.agent._descendants.reap()
            assert editor.wait() == 7
    source.stop()
    # An unclaimed child is reaped.
    orphan = "setsid sh -c 'exit 7' &"
    source = agent_source(["sh", "-c", f'sh -c "{orphan}"; exec sleep 60'], NOTHING_KEPT)
    until(lambda: zombies_of(os.getpid()))
    monkeypatch.setattr(agent_processes, "_UNCLAIMED_SECONDS", 0)
    until(lambda: not zombies_of(os.getpid()))
    source.stop()


@pytest.mark.system
@pytest.mark.parametrize("own_session", ["", "setsid "])
def test_a_launcher_is_followed(tmp_path: Path, own_session: str) -> None:
    """If the agent exits and leaves a process that goes on writing, that process is followed to its end."""
    fake = shlex.join(command(PLAIN, "--times"))
    go = tmp_path / "go"
    waits = f"while [ ! -e '{go}' ]; do sleep 0.01; done; exec {fake}"
    script = f"{own_session}sh -c {shlex.quote(waits)} & exit 0"
    source = agent_source(["sh", "-c", script], KeepOptions(recording=tmp_path / "r.ndjson", write_log=False))
    until(lambda: source.agent_exit_code is not None)
    assert source.runs_agent
    assert source.agent_facts().exit_code is None
    go.touch()
    assert print_session(source, Feed(source.reader), "text") == 0
    assert (tmp_path / "r.ndjson").read_bytes() == PLAIN.read_bytes()


def test_what_a_launcher_left_is_stopped(
    start: Callable[..., AgentSource], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A process that a launcher has left behind is stopped with the agent, also while it runs execve. An
    agent that fails is not a launcher, and one that SIGSTOP has stopped handles the SIGTERM with which it is
    ended.
    """
    source = agent_source(["sh", "-c", "setsid sleep 60 & exit 0"], NOTHING_KEPT)
    until(lambda: source.agent_exit_code == 0 and [each.name for each in source.survivors()] == ["sleep"])
    (left,) = source.survivors()
    assert source.runs_agent
    with monkeypatch.context() as patch:  # its environment cannot be read then
        patch.setattr(agent_processes, "environment_of", lambda _pid: [])
        assert source.survivors() == [left]
        source.stop()
    assert not is_alive(left.pid)
    until(lambda: not source.runs_agent)
    # An agent that exits with another code than 0 has ended, even if a process still holds its stdout.
    source = agent_source(["sh", "-c", "sleep 60 & exit 3"], NOTHING_KEPT)
    until(lambda: not source.runs_agent)
    assert source.agent_exit_code == 3
    source.stop()
    # A stopped agent is stopped at once.
    pid, said = tmp_path / "pid", tmp_path / "said"
    trap = f'trap "echo > {shlex.quote(str(said))}; exit 4" TERM'
    source = agent_source(["sh", "-c", f'{trap}; echo $$ > "$0"; kill -STOP $$', str(pid)], NOTHING_KEPT)
    until(lambda: source.agent_facts().is_stopped)
    source.stop()
    assert said.exists()
    assert source.agent_exit_code == 4


@pytest.mark.system
@pytest.mark.parametrize("has_reader", [True, False])
def test_a_forgotten_child_is_named_and_not_awaited_for_ever(
    start: Callable[..., AgentSource],
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    has_reader: bool,
) -> None:
    """A silent child with the stdout of an agent that exited with 0 and no result is named after 30 s.

    After 10 minutes of silence it is followed no longer, unless a person at the terminal can end that.
    """
    monkeypatch.setattr(printing, "LATE_EXIT_MS", 50)
    monkeypatch.setattr(printing, "_MOST_QUIET_MS", 200)
    source = agent_source(["sh", "-c", 'head -1 "$0"; sleep 60 & exit 0', str(PLAIN)], NOTHING_KEPT)

    def is_read(fd: int) -> bool:
        """Return whether a person reads the terminal; if so, end the child, which has been silent."""
        is_shown = has_reader and fd == 2
        for survivor in source.survivors() if is_shown else []:
            os.kill(survivor.pid, signal.SIGKILL)
        return is_shown

    monkeypatch.setattr(os, "isatty", is_read)
    assert print_session(source, Feed(source.reader), "text") == 1
    lines = capfd.readouterr().err.splitlines()
    found = re.fullmatch(r"agentwatch: .* is held by process (\d+) \(sleep\); following that", lines[0])
    assert found
    assert any("nothing was written" in line for line in lines) is not has_reader
    assert is_alive(int(found[1])) is not has_reader
    source.stop()
