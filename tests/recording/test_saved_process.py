"""The process that `run` describes beside a recording is recognised while it runs, and only that process."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from agentwatch.base.clock import now_ms
from agentwatch.recording import write_lock
from agentwatch.recording.write_lock import SavedProcess, is_alive, read_process
from tests.conftest import case

DESCRIBED = {
    "command": ["agent"],
    "cwd": "/",
    "pid": 4711,
    "started_ms": 1_795_000_000_000,
    "ended_ms": None,
    "exit_code": None,
}
SLEEPER = [sys.executable, "-c", "import time; time.sleep(60)"]


@pytest.fixture
def sleeper() -> Iterator[SavedProcess]:
    """A process that was just started, as `run` would describe it."""
    started_ms = now_ms()
    with subprocess.Popen(SLEEPER) as child:
        yield SavedProcess(child.pid, started_ms, None)
        child.kill()


def test_a_description_is_read(tmp_path: Path) -> None:
    """The process id, the start and the exit code are read."""
    path = tmp_path / "a.json"
    for code in (None, 0, 4):
        with case(code):
            path.write_text(json.dumps(DESCRIBED | {"exit_code": code}))
            assert read_process(path) == SavedProcess(4711, 1_795_000_000_000, code, ("agent",))
    # A file that happens to have the name, or that was cut or changed, describes no process.
    for text in (
        *("", "[]", "{", "null", "\0", "[" * 5000, json.dumps(DESCRIBED)[:-9]),
        *(
            json.dumps({key: value for key, value in DESCRIBED.items() if key != left})
            for left in ("pid", "command")
        ),
        *(json.dumps(DESCRIBED | {"pid": pid}) for pid in (0, -1, "7", 1 << 40, 1.5, True)),
        *(json.dumps(DESCRIBED | {key: "x"}) for key in ("started_ms", "exit_code", "command")),
    ):
        with case(text[:80]):
            path.write_text(text)
            assert read_process(path) is None
    # A description that is not a regular file is not opened.
    for kind in ("none", "folder", "fifo", "link", "device"):
        with case(kind):
            path = tmp_path / f"{kind}.json"
            match kind:
                case "folder":
                    path.mkdir()
                case "fifo":
                    os.mkfifo(path)
                case "link":
                    (tmp_path / "b").write_text(json.dumps(DESCRIBED))
                    path.symlink_to(tmp_path / "b")
                case "device":
                    path.symlink_to("/dev/zero")
            assert read_process(path) is None


def test_a_process_is_alive_until_it_ends(sleeper: SavedProcess) -> None:
    """A process is alive from its start to its end; a zombie is not."""
    # A process that was started at another time is another process.
    for earlier_ms in (60_000, -60_000, 10**12):
        with case(earlier_ms):
            assert is_alive(sleeper._replace(started_ms=sleeper.started_ms - earlier_ms)) is False
    # A process whose exit code is known has ended, whoever has its id now.
    assert is_alive(sleeper._replace(exit_code=0)) is False
    assert is_alive(sleeper) is True
    os.kill(sleeper.pid, 9)
    os.waitid(os.P_PID, sleeper.pid, os.WEXITED | os.WNOWAIT)
    assert is_alive(sleeper) is False
    os.waitpid(sleeper.pid, 0)
    assert is_alive(sleeper) is False


def test_without_proc_it_is_not_known_which_process_it_is(
    sleeper: SavedProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a system without /proc, a process with this id may be the agent; without one, it has ended."""
    monkeypatch.setattr(write_lock, "open", _no_proc, raising=False)
    assert is_alive(sleeper) is None
    os.kill(sleeper.pid, 9)
    os.waitpid(sleeper.pid, 0)
    assert is_alive(sleeper) is False


def _no_proc(path: str, *_: object) -> None:
    raise FileNotFoundError(path)
