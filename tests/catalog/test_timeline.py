"""While the timeline of Claude Code is played, each state is right within a second of its change."""

import ast
import json
import os
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from agentwatch.agents.state_report import State
from agentwatch.catalog.catalog import Machine
from agentwatch.catalog.session_status import Ground
from agentwatch.sources.proc import Proc
from tests.builders.captures import OURS, OWN
from tests.catalog.started_agents import started

pytestmark = pytest.mark.slow
TIMELINE = OWN / "disk/claude-registry/status-against-transcript-timeline.txt"
TRANSCRIPTS = "disk/claude-transcript/own-2.1.330/*.jsonl"
START_MS = 1_795_301_643_059 - 234_770
"""The start of the timeline: the record that is left over names the time of its last change, at 234.77 s."""
TICK_S = 0.5
WITHIN_S = 1.0
GAP_S = 20.0
"""A longer time without a change is left out."""
STATES = {
    ("busy", None): {State.WORKING},
    ("idle", None): {State.YOUR_TURN, State.TURN_FAILED},
    ("shell", None): {State.SHELL},
    ("waiting", "permission prompt"): {State.ASKS},
    ("waiting", "input needed"): {State.ASKS},
    ("waiting", "dialog open"): {State.ASKS},
}


class Change(NamedTuple):
    """A change of the registry, or a line of a transcript."""

    at_s: float
    session: str
    """The beginning of the session's id."""
    status: tuple[str, str | None] | None
    """The status and what is waited for; None for a line, and if the record has none."""
    is_line: bool = False
    is_gone: bool = False


def changes() -> Iterator[Change]:
    session = ""
    for line in TIMELINE.read_text("utf-8").splitlines():
        at, kind, rest = (*line.split(maxsplit=2), "", "")[:3]
        if kind not in ("LINE", "REG"):
            continue  # what the user did
        if kind == "LINE":
            yield Change(float(at), rest.split()[0], None, is_line=True)
        elif rest.startswith("gone"):
            yield Change(float(at), session, None, is_gone=True)
        else:
            record: dict[str, Any] = ast.literal_eval(rest.partition(" ")[2])
            session = record["sessionId"]
            status = record.get("status")
            yield Change(float(at), session, None if status is None else (status, record.get("waitingFor")))


class Played:
    """A machine with one process of Claude Code, on which the timeline happens."""

    def __init__(self, home: Path, pid: int) -> None:
        self.now_s = 0.0
        self._record = home / ".claude" / "sessions" / f"{pid}.json"
        self._record.parent.mkdir(parents=True)
        self._began = str(Proc().stat(pid).began)  # type: ignore[union-attr]
        self._pid = pid
        self._folder = home / ".claude" / "projects" / "-home-dev-proj"
        self._folder.mkdir(parents=True)
        sources = OURS.find(TRANSCRIPTS)
        self._lines = {path.stem: iter(path.read_bytes().splitlines(keepends=True)) for path in sources}
        environ = {"HOME": str(home), "AGENTWATCH_HOME": str(home / ".agentwatch")}
        self.machine = Machine(environ, home, clock=lambda: self.now_s)

    def apply(self, change: Change) -> None:
        """Write what the change writes."""
        if change.is_line:
            stem = next((stem for stem in self._lines if stem.startswith(change.session)), None)
            if stem is not None:
                with (self._folder / f"{stem}.jsonl").open("ab") as file:
                    file.write(next(self._lines[stem], b""))
        elif change.is_gone:
            self._record.unlink(missing_ok=True)
        else:
            at_ms = START_MS + round(change.at_s * 1000)
            status, waiting = change.status or (None, None)
            record = {
                "pid": self._pid,
                "procStart": self._began,
                "sessionId": change.session,
                "cwd": "/home/dev/proj",
                "kind": "interactive",
                "entrypoint": "cli",
                "status": status,
                "waitingFor": waiting,
                "statusUpdatedAt": at_ms,
            }
            known = {key: value for key, value in record.items() if value is not None}
            self._record.write_text(json.dumps(known), "utf-8")

    def step(self) -> None:
        """Let the machine do what is due."""
        while self.machine.step(START_MS + round(self.now_s * 1000)):
            pass


@pytest.fixture
def played(tmp_path: Path) -> Iterator[Played]:
    """Return the machine, while its process runs."""
    with started(["claude"], tmp_path) as process:
        yield Played(tmp_path, process.pid)


def test_each_state_is_right_within_a_second(played: Played) -> None:
    """A status that lasts for a second is the state of its session by then, said by the agent itself."""
    due = list(changes())
    since: dict[str, tuple[float, tuple[str, str | None]]] = {}
    wrong: defaultdict[tuple[str, tuple[str, str | None]], list[float]] = defaultdict(list)
    checked = 0
    while due:
        if due[0].at_s - played.now_s > GAP_S:
            played.now_s = due[0].at_s
        while due and due[0].at_s <= played.now_s:
            change = due.pop(0)
            played.apply(change)
            if change.is_line:
                continue
            before = since.get(change.session)
            since = {}
            if change.status is not None:
                at_s = before[0] if before and before[1] == change.status else change.at_s
                since = {change.session: (at_s, change.status)}
        played.step()
        for session, (at_s, status) in since.items():
            if played.now_s - at_s < WITHIN_S:
                continue
            checked += 1
            row = played.machine.rows.get(("claude", session))
            is_right = row is not None and row.status.state in STATES[status]
            if not is_right or row is None or row.status.ground is not Ground.SAID:
                wrong[session[:4], status].append(round(played.now_s, 2))
        played.now_s += TICK_S
    assert checked > 150
    assert dict(wrong) == {}


def test_a_killed_process_leaves_a_session_without_a_result(tmp_path: Path) -> None:
    """The record stays with its last status, `busy`, and is not believed any more."""
    with started(["claude"], tmp_path) as process:
        played = Played(tmp_path, process.pid)
        for change in changes():
            if change.session == "279aaafe-55af-410f-8602-dcb83b5e850d" and change.at_s > 47:
                break
            played.now_s = change.at_s
            played.apply(change)
        played.apply(Change(47.5, "279aaafe-55af-410f-8602-dcb83b5e850d", ("busy", None)))
        for _ in range(12):
            played.apply(Change(47.5, "279aaafe-55af-", None, is_line=True))
        played.step()
        row = played.machine.rows["claude", "279aaafe-55af-410f-8602-dcb83b5e850d"]
        assert row.status.state is State.WORKING
    assert not os.path.exists(f"/proc/{process.pid}")
    played.now_s += 5
    played.step()
    row = played.machine.rows["claude", "279aaafe-55af-410f-8602-dcb83b5e850d"]
    assert (row.status.state, row.pid) == (State.UNFINISHED, None)
