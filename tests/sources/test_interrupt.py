"""An agent that `run` has started is interrupted and stopped only by the process that started it."""

import os
import signal
import socket
import stat
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from agentwatch.base import local_socket
from agentwatch.base.local_socket import listen, reach
from agentwatch.recording.acts import read_acts
from agentwatch.sources import agent as module
from agentwatch.sources import control, process
from agentwatch.sources.agent import AgentSource
from agentwatch.sources.control import ENDED, Control, ask, control_path
from agentwatch.sources.open import KeepOptions, agent_source
from tests.conftest import case
from tests.harness.processes import until

pytestmark = pytest.mark.slow

OBEYS = "trap 'echo ended; exit 130' INT; echo ready; while :; do sleep 0.01; done"
IGNORES = "trap '' INT; echo ready; while :; do sleep 0.01; done"
IGNORES_ALL = "trap '' INT TERM; echo ready; while :; do sleep 0.01; done"


@pytest.fixture
def started(tmp_path: Path) -> Iterator[Callable[[str], AgentSource]]:
    """Return what starts a shell script as an agent, and is ready when it is; it is killed at the end."""
    made: list[AgentSource] = []

    def start(script: str) -> AgentSource:
        keep = KeepOptions(recording=tmp_path / f"{len(made)}.ndjson", write_log=False)
        source = agent_source(["sh", "-c", script], keep)
        made.append(source)
        until(lambda: source.agent.size() > 0)
        return source

    yield start
    for source in made:
        if source.agent.exit_code is None:
            os.killpg(source.agent.pid, signal.SIGKILL)
        source.agent._process.wait()
        source.agent.leave()
        source.finish()


def told(source: AgentSource) -> list[str]:
    """Return the acts on an agent: what was done, by which signal, with which receipt."""
    assert source.written.files is not None
    return [f"{each.act} {each.door} {each.receipt}" for each in read_acts(source.written.files.acts)]


def test_an_agent_that_obeys_is_interrupted_once(started: Callable[[str], AgentSource]) -> None:
    """SIGINT reaches the agent, which ends by itself; the act is recorded, and nothing else is done."""
    source = started(OBEYS)
    assert source.act("interrupt", "session") == ""
    until(source.agent.has_ended)
    assert source.agent.exit_code == 130
    assert told(source) == ["interrupt SIGINT sent"]
    assert source.act("interrupt", "session") == source.act("stop", "list") == "the agent has ended"
    assert told(source) == ["interrupt SIGINT sent"]
    # A stopped process takes no signal, so the pause of a rule ends with the interrupt.
    source = started(OBEYS)
    assert source.pausing is not None
    assert source.pausing.pause("a rule")
    assert source.act("interrupt", "session") == ""
    until(source.agent.has_ended)
    assert source.agent.exit_code == 130
    # A link in place of the file of acts is not followed, and the user is told.
    source = started(IGNORES)
    assert source.written.files is not None
    source.written.files.acts.symlink_to("/dev/null")
    assert source.act("interrupt", "session") == ""
    assert "what you do to the agent is not recorded" in "".join(source.new_faults())


def test_an_agent_that_ignores_signals_is_stopped_in_steps(
    started: Callable[[str], AgentSource], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without an end, the effect of an interrupt is unknown; SIGTERM and SIGKILL follow only on request."""
    monkeypatch.setattr(module, "RECEIPT_SECONDS", 0.1)
    made: list[AgentSource] = []
    for script, doors in ((IGNORES, ["SIGTERM"]), (IGNORES_ALL, ["SIGTERM", "SIGKILL"])):
        with case(script):
            monkeypatch.setattr(process, "_STOP_SECONDS", 0.2 if "SIGKILL" in doors else 20)
            source = started(script)
            made.append(source)
            assert source.act("interrupt", "list") == ""
            until(lambda: len(told(made[-1])) == 2)
            assert told(source) == ["interrupt SIGINT sent", "interrupt SIGINT unknown"]
            assert source.agent.exit_code is None
            assert source.act("kill -9 1", "list") == "this run process does not know that"
            assert source.act("stop", "list") == ""
            until(source.agent.has_ended)
            assert told(source)[2:] == [f"stop {door} sent" for door in doors]


def test_a_process_with_the_id_of_an_ended_agent_gets_no_signal(
    started: Callable[[str], AgentSource], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Once the agent was reaped, its id may be that of another process: nothing is sent to it."""
    source = started("echo ready")
    until(lambda: source.agent.exit_code is not None)
    sent: list[tuple[int, int]] = []
    for name in ("kill", "killpg"):
        monkeypatch.setattr(os, name, lambda *of: sent.append(of))
    assert source.agent.interrupt() is False
    assert source.act("interrupt", "list") == "the agent has ended"
    assert sent == []
    assert told(source) == []


def test_the_list_asks_the_run_process(
    started: Callable[[str], AgentSource], home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The socket is the user's alone, answers a request for an act, and vanishes with the run process."""
    monkeypatch.setattr(module, "RECEIPT_SECONDS", 0.1)
    source = started(IGNORES)
    assert source.path is not None
    path, recording = control_path(source.path), source.path
    assert ask(recording, "interrupt") == ENDED
    source.listen()
    assert path.is_relative_to(home)
    assert (stat.S_IMODE(path.stat().st_mode), stat.S_IMODE(path.parent.stat().st_mode)) == (0o600, 0o700)
    assert ask(recording, "x" * 10_000) == control.OTHER
    assert ask(recording, "x" * 100) == "this run process does not know that"
    assert ask(recording, "interrupt") == ""
    until(lambda: len(told(source)) == 2)
    source.leave()
    assert not path.exists()
    assert ask(recording, "interrupt") == ENDED


def test_a_request_reaches_the_run_of_the_recording_that_is_shown(tmp_path: Path, home: Path) -> None:
    """Recordings of one name in two folders have a socket each, by any name of the folder.

    A socket that answers is not removed, neither by another run nor at its end. A file that has taken the
    place of the recording belongs to no run.
    """
    (tmp_path / "link").symlink_to("a")
    made: list[tuple[Path, Control, list[str]]] = []
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        recording, asked = tmp_path / folder / "job.ndjson", list[str]()
        recording.touch()
        made.append((recording, Control(recording, lambda act, asked=asked: asked.append(act) or ""), asked))  # type: ignore[misc]
    (one, first, of_one), (other, second, of_other) = made
    for recording, asked in ((one, of_one), (tmp_path / "link/job.ndjson", of_one), (other, of_other)):
        with case(recording):
            assert ask(recording, "interrupt") == ""
            assert asked.pop() == "interrupt"
            assert (of_one, of_other) == ([], [])
    second.close()
    assert (ask(other, "stop"), ask(one, "stop"), of_one) == (ENDED, "", ["stop"])
    one.rename(tmp_path / "moved")
    one.touch()
    assert (ask(one, "stop"), of_one) == (control.OTHER, ["stop"])
    with pytest.raises(OSError, match="another run records a file at the same path"):
        Control(one, str.upper)
    replaced = control_path(one)
    replaced.unlink()
    third = Control(one, str.lower)
    first.close()
    assert (ask(one, "STOP"), replaced.exists()) == ("stop", True)
    third.close()
    assert not replaced.exists()


def test_the_home_folder_may_have_any_length(
    started: Callable[[str], AgentSource], home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The list asks over a socket below it; without a folder for short paths a fault says what to do."""
    monkeypatch.setenv("AGENTWATCH_HOME", os.fspath(home / ("x" * 200)))
    source = started(OBEYS)
    source.listen()
    assert source.path is not None
    assert ask(source.path, "interrupt") == ""
    until(source.agent.has_ended)
    assert source.new_faults() == []
    without = started(OBEYS)
    monkeypatch.setattr(local_socket, "_is_safe", lambda _: False)
    without.listen()
    (fault,) = without.new_faults()
    assert "not possible from the list: its socket needs a folder with a short path: set TMPDIR to" in fault
    assert without.path is not None
    assert ask(without.path, "interrupt") == ENDED
    assert without.act("interrupt", "session") == ""


def test_a_run_that_is_not_kept_has_no_socket(home: Path) -> None:
    """Without a recording, no row of the list could ask, and an act is done without a record."""
    source = agent_source(["sh", "-c", OBEYS], KeepOptions(record=False))
    source.listen()
    assert not (home / "control").exists()
    until(lambda: source.agent.size() > 0)
    assert source.act("interrupt", "session") == ""
    until(source.agent.has_ended)
    source.finish()
    assert source.new_faults() == []


def test_sockets_of_others_are_not_trusted(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A request of another user is not answered; a socket of another user, a file and a link get none.

    The address of the socket that listens is a path, and that of the one that asks is empty.
    """
    recording, asked = home / "sessions" / "c.ndjson", list[str]()
    recording.parent.mkdir(parents=True)
    recording.touch()

    def answer(request: str) -> str:
        asked.append(request)
        return ""

    made = Control(recording, answer)
    with monkeypatch.context() as patch:
        patch.setattr(control, "is_own_peer", lambda peer: not peer.getsockname())
        assert ask(recording, "stop").startswith("its run process does not answer")
        patch.setattr(control, "is_own_peer", lambda peer: peer.getsockname())
        assert ask(recording, "stop") == "its socket belongs to another user"
    others = [recording.with_name(name) for name in ("link.ndjson", "file.ndjson", "none.ndjson")]
    for each in others:
        each.touch()
    control_path(others[0]).symlink_to(control_path(recording))
    control_path(others[1]).touch()
    assert {ask(each, "stop") for each in others} == {ENDED}
    assert asked == []
    assert ask(recording, "stop") == ""
    made.close()
    assert asked == ["stop"]


def test_the_socket_of_a_killed_run_is_removed_at_the_next_start(home: Path) -> None:
    """The sockets of runs that listen stay, and so does what is no socket."""
    recordings = [home / f"{name}.ndjson" for name in ("killed", "runs", "next")]
    home.mkdir(exist_ok=True)
    for each in recordings:
        each.touch()
    runs = Control(recordings[1], str)
    killed, folder = control_path(recordings[0]), control_path(recordings[0]).parent
    with socket.socket(socket.AF_UNIX) as listener:
        listen(listener, os.fspath(killed), 1)
    (folder / "file.sock").touch()
    (folder / "link.sock").symlink_to(killed)
    started = Control(recordings[2], str)
    kept = {control_path(each).name for each in recordings[1:]} | {"file.sock", "link.sock"}
    assert {path.name for path in folder.iterdir()} == kept
    assert ask(recordings[1], "") == ""
    runs.close()
    started.close()


def test_a_run_process_that_was_killed_or_hangs_is_named(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A socket without a process, one that never answers and a silent client cost at most the time limit."""
    monkeypatch.setattr(control, "_SECONDS", 0.1)
    recording = home / "c.ndjson"
    path = control_path(recording)
    path.parent.mkdir(parents=True, mode=0o700)
    recording.touch()
    with socket.socket(socket.AF_UNIX) as listener:
        listen(listener, os.fspath(path), 1)
        assert ask(recording, "stop") == "its run process does not answer: timed out"
        with pytest.raises(OSError, match="another run records"):
            Control(recording, str.upper)
    assert ask(recording, "stop") == ENDED
    monkeypatch.setattr(control, "_SECONDS", 1)
    made, silent = Control(recording, str.upper), socket.socket(socket.AF_UNIX)
    with silent:
        reach(silent, os.fspath(path))
        assert ask(recording, "\x1b[2J") == "\x1b[2J".upper()
    made.close()
    assert not any(each.name == "control" and not each.daemon for each in threading.enumerate())
    assert sys.platform != "linux" or not path.exists()
