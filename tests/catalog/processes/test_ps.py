"""On a system without /proc, `ps` and `lsof` show the processes, and nothing waits for them."""

import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from agentwatch.catalog import processes
from agentwatch.catalog.processes import Processes
from agentwatch.catalog.session_status import Process
from agentwatch.sources.proc import Proc
from tests.catalog.started_agents import started
from tests.conftest import case
from tests.harness.processes import until

pytestmark = pytest.mark.slow
LINES = """\
  501     1 Sat Sep 12 15:07:13 2026 /opt/bin/claude --resume 0b0c
  502   501 Sat Sep 12 15:08:13 2026 /bin/zsh -c pytest
  503   501 Sat Sep 12 15:08:14 2026 tail -f x
  504     1 Sat Sep 12 15:07:13 2026 node /usr/bin/codex exec hi
  505   504 Sat Sep 12 15:07:14 2026 codex exec hi
  506     1 Sat Xxx 12 15:07:13 2026 claude
  507     1 Sat Sep 12 15:07 2026 claude
  508     x Sat Sep 12 15:07:13 2026 claude
  509     1 Sat Sep 12 15:07:13 2026
no process
"""
BEGAN = 1_789_225_633_000
Programs = Callable[..., None]


@pytest.fixture
def nowhere(tmp_path: Path) -> Proc:
    """Return a /proc that does not exist."""
    return Proc(tmp_path / "none")


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Programs:
    """Return a function that replaces the programs of the system by scripts."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")

    def replace(**codes: str) -> None:
        for name, code in codes.items():
            (folder / name).write_text(f"#!/bin/sh\necho $0 $* >> '{folder}/calls'\n{code}\n")
            (folder / name).chmod(0o755)

    (tmp_path / "ps.txt").write_text(LINES)
    replace(ps=f"cat '{tmp_path}/ps.txt'", lsof="printf 'p501\\nfcwd\\nn/repo\\np505\\nfcwd\\nnone\\n'")
    return replace


def refreshed(processes: Processes, now: float, *, is_known: bool = True) -> dict[int, Process]:
    """Return the agents after the run that is due has ended."""
    assert processes._table is not None
    processes.refresh(now)
    thread = processes._table._thread
    assert thread is not None
    thread.join(20)
    assert not thread.is_alive()
    processes.refresh(now)
    assert processes.is_known is is_known
    return processes.agents


@pytest.mark.skipif(shutil.which("ps") is None or sys.platform != "linux", reason="needs ps of procps")
def test_real_processes_are_found(tmp_path: Path, nowhere: Proc) -> None:
    """An agent is found by the `ps` of the system, with its start and its child."""
    before = time.time() * 1000
    with started(["claude", "--resume", "0b0c"], tmp_path, "sleep 1000 &") as process:
        processes = Processes(proc=nowhere)
        assert not processes.is_known
        found = refreshed(processes, 1.0)[process.pid]
        assert (found.agent, found.began, found.children) == ("claude", 0, 1)
        assert found.began_ms is not None
        assert abs(found.began_ms - before) < 5000
        if shutil.which("lsof"):
            until(lambda: refreshed(processes, time.monotonic() * 1000)[process.pid].cwd == str(tmp_path))


def test_the_table_is_read(nowhere: Proc, programs: Programs, tmp_path: Path) -> None:
    """The agents, their children and their folders are read, without wrappers and torn lines."""
    processes = Processes(proc=nowhere)
    claude = Process(
        501, 0, "claude", BEGAN, None, ("/opt/bin/claude", "--resume", "0b0c"), 2, BEGAN + 61_000
    )
    codex = Process(505, 0, "codex", BEGAN + 1000, None, ("codex", "exec", "hi"), has_one_prompt=True)
    assert refreshed(processes, 1.0) == {501: claude, 505: codex}
    assert refreshed(processes, 4.0) == {501: claude._replace(cwd="/repo"), 505: codex}
    assert "ps" not in {thread.name for thread in threading.enumerate()}
    # The folder of a process is forgotten when another process has its id.
    programs(lsof="true")
    (tmp_path / "ps.txt").write_text(LINES.replace("15:07:13 2026 /opt", "15:09:13 2026 /opt"))
    assert refreshed(processes, 7.0)[501].cwd is None


def test_nothing_waits_for_a_program(nowhere: Proc, programs: Programs, tmp_path: Path) -> None:
    """While `ps` runs, the processes are unknown, and it is not started a second time."""
    gate = tmp_path / "gate"
    programs(ps=f"until [ -e '{gate}' ]; do sleep 0.01; done; cat '{tmp_path}/ps.txt'")
    processes = Processes(proc=nowhere)
    for now in (1.0, 10.0, 20.0):
        processes.refresh(now)
        assert (processes.is_known, processes.agents) == (False, {})
    gate.touch()
    assert refreshed(processes, 2.0).keys() == {501, 505}  # before the next run is due
    assert (tmp_path / "bin" / "calls").read_text().count("/ps ") == 1


def test_a_program_that_fails_shows_nothing(
    nowhere: Proc, programs: Programs, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A `ps` that hangs is ended; the processes remain unknown, as they do without `ps`."""
    monkeypatch.setattr(processes, "_PS_LIMIT_SECONDS", 0.2)
    for code in ("exec sleep 1000", "exit 1; #"):
        with case(code):
            programs(ps=code)
            assert refreshed(Processes(proc=nowhere), 1.0, is_known=False) == {}
    monkeypatch.setenv("PATH", "/nonexistent")
    assert refreshed(Processes(proc=nowhere), 1.0, is_known=False) == {}


def test_a_slow_lsof_is_left_alone(
    nowhere: Proc, programs: Programs, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An `lsof` that takes too long is ended, and not started again for a minute."""
    run, ran = subprocess.run, list[str]()

    def noted(command: Sequence[str], **named: Any) -> Any:
        ran.append(command[0])  # a script that is ended at once may not have noted it yet
        return run(command, **named)

    monkeypatch.setattr(subprocess, "run", noted)
    monkeypatch.setattr(processes, "_LSOF_LIMIT_SECONDS", 0.2)
    programs(lsof="exec sleep 1000")
    found = Processes(proc=nowhere)
    for now in (1.0, 4.0, 7.0):
        assert refreshed(found, now)[501].cwd is None
    assert ran == ["ps", "ps", "lsof", "ps"]


def test_a_strange_time_is_unknown() -> None:
    """A text that `ps` does not write is not a time."""
    cases: list[str] = ["", "x", "Sat Sep 12 15:07:13", "Sat Sep 99 15:07:13 2026 x", "Sat Sep a b c"]
    for text in cases:
        with case(text):
            assert processes.started_ms(text) is None
