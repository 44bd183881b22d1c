"""Saved sessions are listed with time, outcome and prompt, newest first, and made safe."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path

import pytest

from agentwatch.events import Outcome
from agentwatch.feed.catalog import saved_sessions
from agentwatch.recording import hold
from tests.builders.late_agent import ASKED, LATE_START, add_late_agent
from tests.builders.lines import init, result, user
from tests.harness.program import watch


def test_a_prompt_before_the_agent_is_known_is_listed(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The prompt of a format that is recognised by a later line is the prompt of its session."""
    add_late_agent(monkeypatch)
    folder = home / "sessions"
    folder.mkdir(parents=True)
    (folder / "20260102-030405-aaaaaa.ndjson").write_bytes(ASKED + LATE_START)
    assert [session.prompt for session in saved_sessions()] == ["Do it."]


def save(home: Path, data: bytes, **beside: bytes) -> Path:
    """Save a session with these bytes and files beside it, and return its recording."""
    folder = home / "sessions"
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "20260102-030405-aaaaaa.ndjson"
    path.write_bytes(data)
    for ending, content in beside.items():
        path.with_suffix(f".{ending}").write_bytes(content)
    return path


def described(code: int | None, pid: int = 1) -> bytes:
    """Return the description of a process that has ended with this code."""
    return json.dumps({"command": ["a"], "pid": pid, "started_ms": 1000, "exit_code": code}).encode()


@pytest.mark.parametrize(
    ("data", "outcome"),
    [
        (b"", Outcome.UNFINISHED),
        (init(), Outcome.UNFINISHED),
        (init() + result("x" * 300_000), Outcome.SUCCEEDED),
        (init() + result("x" * 20_000_000, is_error=True), Outcome.FAILED),
        (init() + result("done") + b"\n" * 300_000, Outcome.SUCCEEDED),
        (init() + result("done") + b"a warning\n{broken\n[1]\n", Outcome.SUCCEEDED),
        (init() + result("done") + user("And now?"), Outcome.UNFINISHED),
        (init() + b"x" * 300_000, Outcome.UNFINISHED),
        (b'{"type":"other","said":"a"}\n' * 3, None),
        (b"plain words\n" * 100, None),
        (b"\0" * 300_000, None),
    ],
    ids=range(11),
)
def test_the_state_of_a_session(home: Path, data: bytes, outcome: Outcome | None) -> None:
    """The state is that of the last run, however long its result is and whatever follows it."""
    save(home, data)
    [session] = saved_sessions()
    assert session.outcome is outcome
    word = "unknown" if outcome is None else outcome
    assert f"  {word:<10}  " in session.line()


def test_a_session_that_is_being_written_is_running(home: Path) -> None:
    """While a session is being written it is listed as running, whatever its last line is."""
    path = save(home, init() + result("done"))
    fd = os.open(path, os.O_RDWR)
    hold(fd)
    assert [session.outcome for session in saved_sessions()] == [Outcome.RUNNING]
    os.close(fd)
    assert [session.outcome for session in saved_sessions()] == [Outcome.SUCCEEDED]


@pytest.mark.parametrize("code", [None, 0, 4])
def test_the_exit_code_is_listed(home: Path, code: int | None) -> None:
    """The exit code of an agent that `run` has started is listed unless it is 0."""
    save(home, init() + user("Do it."), json=described(code, pid=2**30))
    [session] = saved_sessions()
    assert (session.outcome, session.exit_code) == (Outcome.UNFINISHED, code)
    assert session.line().endswith("  exit 4 · Do it." if code else "  Do it.")


@pytest.mark.parametrize(("code", "words"), [(None, "B"), (4, "B  exit 4")])
def test_a_session_without_a_prompt_is_listed(home: Path, code: int | None, words: str) -> None:
    """The line of a session without a prompt ends with its last word."""
    save(home, init(), json=described(code, pid=2**30))
    [session] = saved_sessions()
    assert session.line().endswith(words)


def test_only_regular_files_are_listed(home: Path, tmp_path: Path) -> None:
    """A FIFO, a device, a link, a folder or a socket among the sessions is left out, and delays nothing."""
    path = save(home, init() + user("Do it."), times=b"0 1000\n")
    folder = path.parent
    os.mkfifo(folder / "a.ndjson")
    os.mkfifo(folder / "20260102-030405-aaaaaa.json")
    os.mkfifo(folder / "20260102-030405-aaaaaa.stderr")
    (folder / "b.ndjson").symlink_to("/dev/zero")
    (folder / "c.ndjson").symlink_to(path)
    (folder / "d.ndjson").symlink_to(folder / "nowhere")
    (folder / "e.ndjson").mkdir()
    os.mknod(folder / "f.ndjson", stat.S_IFSOCK | 0o600)
    assert [session.path for session in saved_sessions()] == [path]


@pytest.mark.parametrize("kind", ["link", "file", "loop"])
def test_a_sessions_folder_that_is_no_folder_is_a_fault(home: Path, tmp_path: Path, kind: str) -> None:
    """A link or a file in the place of the sessions folder is reported in one line with 2."""
    save(tmp_path / "elsewhere", init())
    home.mkdir()
    target = {"link": tmp_path / "elsewhere" / "sessions", "loop": home / "sessions"}.get(kind)
    if target is None:
        (home / "sessions").touch()
    else:
        (home / "sessions").symlink_to(target)
    done = watch("sessions")
    why = "a file, not a folder" if target is None else "a link, which is not followed"
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr.decode() == f"agentwatch: cannot open {home}/sessions: it is {why}\n"


def test_sessions_are_read_when_they_are_due(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The newest session is known before the others are read, and each needs the same number of reads."""
    path = save(home, init() + user("Do it.") + result("done"))
    for number in range(200):
        (path.parent / f"20260101-{number:06}-aaaaaa.ndjson").write_bytes(path.read_bytes())
    reads: list[int] = []
    pread = os.pread

    def noted(fd: int, size: int, offset: int) -> bytes:
        reads.append(size)
        return pread(fd, size, offset)

    monkeypatch.setattr(os, "pread", noted)
    sessions = saved_sessions()
    assert next(sessions).path == path
    first = len(reads)
    assert first < 10
    assert len(list(sessions)) == 200
    assert len(reads) == 201 * first
    assert sum(reads) < 201 * (1 << 18)
