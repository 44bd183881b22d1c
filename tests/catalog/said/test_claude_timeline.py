"""A captured session of Claude Code, with every change of its record, is shown as it was."""

from __future__ import annotations

import ast
import json
import os
from pathlib import Path
from typing import NamedTuple

import pytest

from agentwatch.agents.claude.reported import ClaudeRecords
from agentwatch.agents.reported import Life, State
from agentwatch.sources.proc import Proc
from tests.builders.captures import OWN

CAPTURE = OWN / "disk/claude-registry/status-against-transcript-timeline.txt"
STATES = {"busy": State.WORKING, "idle": State.YOUR_TURN, "waiting": State.ASKS, "shell": State.SHELL}
ABOUT = {"permission prompt": "permission", "input needed": "question", "dialog open": "dialog"}
EPOCH = 1_795_300_000.0
TICK = 0.25


class Change(NamedTuple):
    """A change of the record of one process."""

    seconds: float
    session_id: str
    status: str
    about: str


def changes(pid: int) -> list[Change]:
    """Return the changes of the status in the capture."""
    found = []
    for line in CAPTURE.read_text().splitlines():
        words = line.split(None, 3)
        if words[1:3] == ["REG", f"{pid}.json"]:
            fields = ast.literal_eval(words[3])
            if "status" in fields:
                about = ABOUT.get(fields.get("waitingFor", ""), "")
                found.append(Change(float(words[0]), fields["sessionId"], fields["status"], about))
    return found


class Play:
    """The record of a live process, written as the capture says, and read four times a second."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / f"{os.getpid()}.json"
        self.reader = ClaudeRecords([folder], os.geteuid(), Proc())
        stat = Proc().stat(os.getpid())
        assert stat is not None
        self.began = str(stat.began)
        self.shown: list[tuple[float, str, State | None, str]] = []
        """The time of each reading, the session, its state and what it asks for."""

    def write(self, change: Change) -> None:
        """Write the record as it was after a change."""
        at_ms = int((EPOCH + change.seconds) * 1000)
        waiting = {key for key, about in ABOUT.items() if about == change.about}
        record = {
            "sessionId": change.session_id,
            "procStart": self.began,
            "status": change.status,
            "statusUpdatedAt": at_ms,
            "updatedAt": at_ms,
            **({"waitingFor": waiting.pop()} if waiting else {}),
        }
        self.path.write_text(json.dumps(record))

    def run(self, played: list[Change]) -> None:
        """Play the changes, and 3 s more."""
        left, seconds = list(played), played[0].seconds
        while left or seconds < played[-1].seconds + 3:
            while left and left[0].seconds <= seconds:
                self.write(left.pop(0))
            self.reader.refresh(EPOCH + seconds)
            for (_, session_id), said in self.reader.said.items():
                assert said.life is Life.LIVE
                self.shown.append((seconds, session_id, said.state, said.about))
            seconds += TICK

    def between(self, begin: float, end: float) -> set[tuple[str, State | None, str]]:
        """Return what was shown from one time to another."""
        return {(each[1], each[2], each[3]) for each in self.shown if begin <= each[0] < end}


@pytest.mark.parametrize("pid", [984, 1416, 16837])
def test_each_state_is_shown_in_time(pid: int, tmp_path: Path) -> None:
    """A question and a turn are shown with the next reading, and rest after 0.4 s, if it lasts that long."""
    play, captured = Play(tmp_path), changes(pid)
    play.run(captured)
    following = [*captured[1:], captured[-1]._replace(seconds=captured[-1].seconds + 3)]
    checked = 0
    for change, after in zip(captured, following, strict=True):
        delay = TICK if change.status in ("busy", "waiting") else 0.4 + TICK
        expected = {(change.session_id, STATES[change.status], change.about)}
        if after.seconds - change.seconds > delay + TICK:
            checked += 1
            assert play.between(change.seconds + delay, after.seconds) == expected, change
    assert checked > len(captured) / 2


def test_a_blink_is_never_shown(tmp_path: Path) -> None:
    """Between the end of a task in the background and the next turn, the session goes on working."""
    play, captured = Play(tmp_path), changes(1416)
    blinks = [
        (change.seconds, after.seconds)
        for before, change, after in zip(captured, captured[1:], captured[2:], strict=False)
        if (change.status, after.status) == ("idle", "busy")
        and before.session_id == change.session_id
        and after.seconds - change.seconds < 1
    ]
    play.run(captured)
    assert len(blinks) == 2
    for begin, end in blinks:
        assert State.YOUR_TURN not in {state for _, state, _ in play.between(begin, end + TICK)}


def test_clear_leaves_no_row_behind(tmp_path: Path) -> None:
    """Only the session that the process has now is shown as its own."""
    play = Play(tmp_path)
    play.run(changes(1416))
    sessions = [session_id for _, session_id, _, _ in play.shown]
    assert sessions == sorted(sessions, key=list(dict.fromkeys(sessions)).index)
    assert len(set(sessions)) == 2
