"""A process group is paused and resumed, with /proc and without it."""

import os
import signal
import subprocess
from collections.abc import Iterator

import pytest

from agentwatch.sources import agent_processes as module
from agentwatch.sources.agent_processes import Pausing
from tests.harness.processes import until

pytestmark = pytest.mark.slow


@pytest.fixture
def process() -> Iterator[subprocess.Popen[bytes]]:
    """Return a process that leads a group of its own."""
    started = subprocess.Popen(["sleep", "300"], start_new_session=True)
    yield started
    started.kill()
    started.wait()


@pytest.fixture(params=["proc", "ps"])
def seen_by(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Read the state of processes from /proc, or by `ps` as on a Mac."""
    for name in ("_SETTLE_SECONDS", "_POLL_SECONDS"):
        monkeypatch.setattr(module, name, 0.0)
    if request.param == "ps":
        monkeypatch.setattr(module, "stat_of", lambda _: None)
    return str(request.param)


def is_stopped(pid: int) -> bool:
    """Return whether a process is stopped."""
    return module._ps_state(pid).startswith("T")


def test_a_group_is_paused_and_goes_on(process: subprocess.Popen[bytes], seen_by: str) -> None:
    """The rule is known until then, and the time at which it went on afterwards; the user may have sent
    SIGCONT from another terminal.
    """
    noted: list[int] = []
    pausing = Pausing(process.pid, lambda: process.poll() is None, noted.append)
    assert (pausing.rule, pausing.resume()) == ("", False)
    assert pausing.pause("rm outside"), seen_by
    until(lambda: is_stopped(process.pid))
    assert pausing.rule == "rm outside"
    assert pausing.continued_ms is None
    assert pausing.resume()
    until(lambda: not is_stopped(process.pid))
    assert pausing.rule == ""
    assert pausing.continued_ms is not None
    assert noted == [process.pid, 0]
    # Somebody else continues it.
    pausing = Pausing(process.pid, lambda: process.poll() is None)
    pausing.pause("rm outside")
    until(lambda: is_stopped(process.pid))
    os.killpg(process.pid, signal.SIGCONT)
    until(lambda: pausing.rule == "")
    assert pausing.continued_ms is not None


def test_without_proc_and_ps_the_group_counts_as_paused(
    process: subprocess.Popen[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without /proc and `ps`, the agent counts as paused until the key resumes it."""
    for name in ("_SETTLE_SECONDS", "_POLL_SECONDS"):
        monkeypatch.setattr(module, name, 0.0)
    monkeypatch.setattr(module, "stat_of", lambda _: None)
    monkeypatch.setenv("PATH", "/nowhere")
    pausing = Pausing(process.pid, lambda: process.poll() is None)
    pausing.pause("rm outside")
    assert pausing.rule == "rm outside"
    assert pausing.resume()


def test_an_agent_that_has_ended_or_is_unattended_is_not_paused(process: subprocess.Popen[bytes]) -> None:
    """`pause` returns False, and the agent is not stopped; one that is killed in a pause is not paused any
    more.
    """
    pausing = Pausing(process.pid, lambda: False)
    assert not pausing.pause("rm outside")
    pausing = Pausing(process.pid, lambda: True)
    pausing.is_attended = False
    assert not pausing.pause("rm outside")
    assert not is_stopped(process.pid)
    # SIGKILL ends a stopped process too.
    pausing = Pausing(process.pid, lambda: process.poll() is None)
    pausing.pause("rm outside")
    process.kill()
    until(lambda: pausing.rule == "")
