"""Which process writes which file, with real processes that are named as agents and hide their arguments."""

import json
import os
import subprocess
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import pytest

from agentwatch.agents.session_entry import Key
from agentwatch.agents.state_report import State
from agentwatch.base.clock import now_ms
from agentwatch.catalog.catalog import Machine
from agentwatch.catalog.evidence import evidence
from agentwatch.catalog.row import Row
from tests.agents.pi.lines import assistant, text, user
from tests.catalog.started_agents import in_terminal
from tests.harness.processes import until

HOUR_MS = 3_600_000


class List:
    """An open list of the sessions of a home folder, for which half a second passes between two looks."""

    def __init__(self, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("HOME", str(home))
        self.home = home
        self.work = home / "work"
        self.work.mkdir(parents=True)
        environ = {"HOME": str(home), "AGENTWATCH_HOME": str(home / ".agentwatch")}
        self.seconds = 0.0
        self.stack = ExitStack()
        """Ends the processes."""
        self.machine = Machine(environ, home, clock=self._clock)

    def _clock(self) -> float:
        self.seconds += 0.0001  # every step ends
        return self.seconds

    def rows(self) -> dict[Key, Row]:
        self.seconds += 0.5
        while self.machine.step(now_ms()):
            pass
        return dict(self.machine.rows)

    def until(self, holds: Callable[[dict[Key, Row]], bool]) -> dict[Key, Row]:
        """Watch until something holds, and return the rows."""
        return until(lambda: rows if holds(rows := self.rows()) else None, picture=lambda: str(self.states()))

    def are(self, states: Mapping[str, tuple[State, int | None]], _rows: dict[Key, Row]) -> bool:
        """Whether the sessions have these states and processes."""
        return states.items() <= self.states().items()

    def states(self) -> dict[str, tuple[State, int | None]]:
        """The state and the process of each session, by its id."""
        return {key[1]: (row.status.state, row.pid) for key, row in self.rows().items()}

    def pi(self) -> AbstractContextManager[subprocess.Popen[bytes]]:
        """Start a process that is named as Pi in the folder of the sessions, and waits. It has no arguments
        of Pi, which hides them.
        """
        return in_terminal(["pi"], self.work, self.home / "waits")

    def why(self, key: Key) -> str:
        return " ".join(each.what for each in evidence(self.rows()[key], self.machine.facts(key), now_ms()))


def _has_passed(at_ms: int, _rows: dict[Key, Row]) -> bool:
    return now_ms() > at_ms


@pytest.fixture
def watched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[List]:
    """Yield an open list of an empty home folder."""
    watched = List(tmp_path / "home", monkeypatch)
    with watched.stack:
        yield watched


class PiSession:
    """A session file of Pi that grows."""

    def __init__(self, watched: List, name: str, began_ms: int) -> None:
        self.key = "pi", name
        self.path = watched.home / ".pi/agent/sessions/--work--" / f"2026_{name}.jsonl"
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self._entries = 0
        self._write(began_ms, type="session", version=3, id=name, cwd=str(watched.work))

    def _write(self, at_ms: int, **fields: object) -> None:
        at = datetime.fromtimestamp(at_ms / 1000, UTC).isoformat().replace("+00:00", "Z")
        with self.path.open("a") as file:
            file.write(json.dumps({**fields, "timestamp": at}) + "\n")
        os.utime(self.path, ns=(at_ms * 10**6, at_ms * 10**6))

    def ask(self, at_ms: int | None = None) -> None:
        self._add(user("Go"), at_ms)

    def answer(self, at_ms: int | None = None) -> None:
        self._add(assistant(text("Done.")), at_ms)

    def _add(self, message: object, at_ms: int | None) -> None:
        parent = f"e{self._entries}" if self._entries else None
        self._entries += 1
        entry = {"type": "message", "id": f"e{self._entries}", "parentId": parent, "message": message}
        self._write(at_ms or now_ms(), **entry)


@pytest.mark.slow
def test_a_session_that_is_continued_runs_when_its_file_grows(watched: List) -> None:
    """`pi --continue` hides its arguments. Its row is that of a process without a session until it writes the
    file of a session that had ended, and then that session's."""
    session = PiSession(watched, "old", now_ms() - HOUR_MS)
    session.ask(now_ms() - HOUR_MS)
    session.answer(now_ms() - HOUR_MS)
    watched.until(lambda rows: session.key in rows)
    with watched.pi() as process:
        watched.until(lambda rows: ("pi", f"pid-{process.pid}") in rows)
        assert watched.states()["old"] == (State.SUCCEEDED, None)
        session.ask()
        *_, rows = (watched.rows() for _ in range(4))
        assert rows[session.key].status.state is State.WORKING
        assert ("pi", f"pid-{process.pid}") not in rows
        assert rows[session.key].pid == process.pid
        assert "only this session was written in its folder since it began" in watched.why(session.key)
        session.answer()
        watched.until(lambda rows: rows[session.key].status.state is State.YOUR_TURN)
    watched.until(lambda rows: rows[session.key].status.state is State.SUCCEEDED)


@pytest.mark.slow
def test_two_processes_in_a_folder_have_a_session_each(watched: List) -> None:
    """The file that grows belongs to the process that ran when it began; when that ends, its session does."""
    processes: list[subprocess.Popen[bytes]] = []
    sessions: list[PiSession] = []
    for name in ("first", "second"):
        processes.append(watched.stack.enter_context(watched.pi()))
        sessions.append(PiSession(watched, name, now_ms()))
        sessions[-1].ask()
        begun_ms = now_ms()
        watched.until(partial(_has_passed, begun_ms + 500))  # nobody starts two at once
    first, second = processes
    both = {"first": (State.WORKING, first.pid), "second": (State.WORKING, second.pid)}
    watched.until(partial(watched.are, both))
    assert "written last in the folder of processes" in watched.why(sessions[0].key)
    for state in (State.YOUR_TURN, State.WORKING):
        (sessions[0].answer if state is State.YOUR_TURN else sessions[0].ask)()
        watched.until(partial(watched.are, both | {"first": (state, first.pid)}))
    second.kill()
    second.wait()
    ended = {"first": (State.WORKING, first.pid), "second": (State.UNFINISHED, None)}
    watched.until(partial(watched.are, ended))


@pytest.mark.system
def test_a_process_ends_of_which_nobody_knew_which_session_it_had(watched: List) -> None:
    """Both sessions began when both processes ran. The one that is written later is that of the other."""
    first, second = (watched.stack.enter_context(watched.pi()) for _ in range(2))
    began_ms = now_ms() + 200
    until(lambda: now_ms() > began_ms)
    sessions = [PiSession(watched, name, began_ms) for name in ("first", "second")]
    for session in sessions:
        session.ask()
    working, unknown = (State.WORKING, None), (State.UNKNOWN, None)
    watched.until(partial(watched.are, {"first": working, "second": working}))
    assert "it is not known which of them has it" in watched.why(sessions[0].key)
    second.kill()
    second.wait()
    watched.until(partial(watched.are, {"first": unknown, "second": unknown}))
    watched.until(partial(_has_passed, now_ms() + 2_500))  # by then the end is noted
    sessions[0].answer()
    ended = {"first": (State.YOUR_TURN, first.pid), "second": (State.UNFINISHED, None)}
    watched.until(partial(watched.are, ended))


@pytest.mark.slow
def test_a_process_whose_session_vanishes_is_taken_to_end(watched: List) -> None:
    """Gemini deletes the file of a session in which nothing was done, and ends: it does not start. A process
    that runs on is one without a session 4 s later."""
    session = PiSession(watched, "own", now_ms())
    process = watched.stack.enter_context(watched.pi())
    session.ask()
    watched.until(partial(watched.are, {"own": (State.WORKING, process.pid)}))
    session.path.unlink()
    until(lambda: session.key not in watched.rows())
    vanished = watched.seconds
    assert f"pid-{process.pid}" not in watched.states()
    watched.until(lambda rows: ("pi", f"pid-{process.pid}") in rows)
    assert 1 < watched.seconds - vanished < 5


@pytest.mark.slow
def test_a_process_with_another_home_has_no_row(watched: List, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its sessions are not listed here, and those in its folder are not its own."""
    session = PiSession(watched, "own", now_ms())
    with monkeypatch.context() as other:
        other.setenv("HOME", str(watched.home / "other"))
        away = watched.stack.enter_context(watched.pi())
    own = watched.stack.enter_context(watched.pi())
    session.ask()
    watched.until(partial(watched.are, {"own": (State.WORKING, own.pid)}))
    assert f"pid-{away.pid}" not in watched.states()


@pytest.mark.slow
def test_a_title_does_not_wake_a_session(watched: List) -> None:
    """Gemini adds a title to the session before when another begins."""
    chats = watched.home / ".gemini/tmp/old/chats"
    chats.mkdir(parents=True)
    (chats.parent / ".project_root").write_text(str(watched.work))
    began_ms = now_ms() - HOUR_MS
    at = datetime.fromtimestamp(began_ms / 1000, UTC).isoformat().replace("+00:00", "Z")
    chat = chats / "session-2026-11-29T00-00-0123abcd.jsonl"
    message = {"id": "m", "timestamp": at, "content": "Go"}
    head: dict[str, object] = {
        "sessionId": "old",
        "projectHash": "h",
        "startTime": at,
        "lastUpdated": at,
        "kind": "main",
    }
    lines: list[dict[str, object]] = [head, {**message, "type": "user"}]
    lines.append({**message, "id": "n", "type": "gemini", "tokens": {}, "model": "m"})
    chat.write_text("".join(f"{json.dumps(each)}\n" for each in lines))
    os.utime(chat, (began_ms / 1000, began_ms / 1000))
    ended = {"old": (State.SUCCEEDED, None)}
    watched.until(partial(watched.are, ended))
    process = watched.stack.enter_context(in_terminal(["gemini"], watched.work, watched.home / "waits"))
    watched.until(lambda rows: ("gemini", f"pid-{process.pid}") in rows)
    with chat.open("a") as file:
        file.write(json.dumps({"$set": {"summary": "A short title", "memoryScratchpad": {}}}) + "\n")
    rows = watched.until(lambda rows: rows["gemini", "old"].title == "A short title")
    for _ in range(4):
        rows = watched.rows()
        assert watched.are(ended, rows)
        assert ("gemini", f"pid-{process.pid}") in rows
