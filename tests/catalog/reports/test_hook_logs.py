"""The last lines of a hook's log say what the agent does."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from agentwatch.agents.state_report import Life, State, StateReport
from agentwatch.catalog import reports
from agentwatch.catalog.reports import HookLogs
from agentwatch.recording.store import open_regular
from tests.conftest import case


class Logs:
    """A folder of logs, and its reader."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.reader = HookLogs(folder, os.geteuid())
        self.now = 1.0

    def log(self, session_id: str, *events: str, agent: str = "codex") -> Path:
        """Append events to the log of a session, 1 ms after each other from the count of its lines on."""
        path = self.folder / agent / f"{session_id}.log"
        path.parent.mkdir(parents=True, exist_ok=True)
        first = path.read_bytes().count(b"\n") if path.exists() else 0
        with path.open("a") as file:
            for at_ms, event in enumerate(events, first):
                file.write(json.dumps({"event": event, "tool": "shell", "at_ms": at_ms}) + "\n")
        return path

    def reported(self, after: float = 0.5) -> dict[str, StateReport]:
        """Return what is said half a second later, by the session's id."""
        self.now += after
        self.reader.refresh(self.now)
        return {key[1]: reported for key, reported in self.reader.reported.items()}


@pytest.fixture
def logs(tmp_path: Path) -> Logs:
    """Return an empty folder of logs."""
    return Logs(tmp_path / "hooks")


def test_each_event_is_a_state(tmp_path: Path) -> None:
    """The last event says the state, but not that the agent still runs."""
    states = {
        "PermissionRequest": (State.ASKS, "permission"),
        "UserPromptSubmit": (State.WORKING, ""),
        "PreToolUse": (State.WORKING, ""),
        "PostToolUse": (State.WORKING, ""),
        "beforeShellExecution": (State.WORKING, ""),
        "Stop": (State.YOUR_TURN, ""),
        "stop": (State.YOUR_TURN, ""),
    }
    for number, (event, expected) in enumerate(states.items()):
        with case(event):
            logs = Logs(tmp_path / f"{number}")
            logs.log("a", "UserPromptSubmit", "Stop", "PreToolUse", "SessionStart")
            logs.log("a", event)
            reported = logs.reported()["a"]
            assert (reported.agent, reported.life, reported.pid) == ("codex", Life.UNKNOWN, None)
            assert (reported.state, reported.about) == expected


def test_a_state_began_with_its_first_event(logs: Logs) -> None:
    """Tools that follow each other do not begin a new state; the end of a session takes it back."""
    logs.log("a", "Stop", "UserPromptSubmit", "PreToolUse", "Notification", "PostToolUse")
    assert logs.reported()["a"].since_ms == 1
    logs.log("a", "PermissionRequest")
    assert logs.reported()["a"].since_ms == 5
    for event in ("SessionEnd", "sessionEnd"):
        logs.log("a", event)
        assert logs.reported() == {}
        logs.log("a", "sessionStart", "stop")
        assert logs.reported()["a"].state is State.YOUR_TURN


def test_only_what_has_changed_is_read(logs: Logs, monkeypatch: pytest.MonkeyPatch) -> None:
    """A log that has not changed is not opened again."""
    logs.log("a", "UserPromptSubmit")
    logs.log("b", "UserPromptSubmit", agent="gemini")
    assert logs.reported().keys() == {"a", "b"}
    opened: list[Path] = []
    original = open_regular

    def noted(path: Path) -> int:
        opened.append(path)
        return original(path)

    monkeypatch.setattr(reports, "open_regular", noted)
    assert not logs.reader.refresh(logs.now + 0.5)
    assert not logs.reader.refresh(logs.now + 20)
    assert opened == []
    path = logs.log("b", "afterAgent", agent="gemini")
    assert logs.reported()["b"].state is State.YOUR_TURN
    assert opened == [path]


def test_new_and_removed_logs_are_found(logs: Logs) -> None:
    """A log that is new or removed is found in the next full reading."""
    assert logs.reported() == {}
    path = logs.log("a", "UserPromptSubmit")
    assert logs.reported() == {}
    assert logs.reported(5.0).keys() == {"a"}
    path.unlink()
    assert logs.reported(5.1) == {}


def test_only_the_end_of_a_log_is_read(logs: Logs) -> None:
    """Of a long log the last 4 KiB count, without a line that is cut or not complete yet."""
    path = logs.log("a", "PermissionRequest", *["UserPromptSubmit"] * 1000)
    with path.open("a") as file:
        file.write('{"event":"PermissionRequest","at_ms":1')
    reported = logs.reported()["a"]
    assert reported.state is State.WORKING
    assert reported.since_ms is not None
    assert reported.since_ms > 900


def test_strange_lines_say_nothing(tmp_path: Path) -> None:
    """A line that is not an event is left out; an invalid time is unknown."""
    events = (
        "",
        "x",
        "[]",
        "7",
        '{"event":7}',
        '{"event":null}',
        '{"at_ms":1}',
        '{"event":{"a":[]}}',
        "\xff",
    )
    for number, line in enumerate(events):
        with case(line):
            logs = Logs(tmp_path / f"{number}")
            path = logs.log("a", "Stop")
            with path.open("ab") as file:
                file.write(line.encode("latin-1") + b"\n")
            assert logs.reported()["a"].state is State.YOUR_TURN
            with path.open("a") as file:
                file.write('{"event":"PreToolUse","at_ms":[]}\n')
            reported = logs.reported()["a"]
            assert (reported.state, reported.since_ms) == (State.WORKING, None)


def test_no_link_is_followed(logs: Logs) -> None:
    """Links and other files than logs are not read."""
    logs.log("a", "Stop")
    (logs.folder / "codex" / "link.log").symlink_to(logs.folder / "codex" / "a.log")
    (logs.folder / "linked").symlink_to(logs.folder / "codex")
    (logs.folder / "codex" / "notes.txt").touch()
    (logs.folder / "file").touch()
    os.mkfifo(logs.folder / "codex" / "fifo.log")
    assert logs.reported().keys() == {"a"}


def test_a_log_that_vanishes_while_it_is_read(logs: Logs, monkeypatch: pytest.MonkeyPatch) -> None:
    """A log that cannot be opened or read says nothing."""
    logs.log("a", "Stop")

    def gone(path: Path) -> int:
        raise FileNotFoundError(path)

    monkeypatch.setattr(reports, "open_regular", gone)
    assert logs.reported() == {}
    monkeypatch.setattr(reports, "open_regular", lambda path: os.open(path.parent, os.O_RDONLY))
    logs.log("a", "Stop")
    assert logs.reported() == {}


def test_the_logs_that_changed_last_count(logs: Logs) -> None:
    """At most 256 logs are read, the newest."""
    for number in range(260):
        path = logs.log(f"s{number}", "Stop")
        os.utime(path, (number, number))
    assert list(logs.reported()) == [f"s{number}" for number in range(259, 3, -1)]
