"""The list and `sessions --json` show the same states, whatever happens and however time passes.

Each agent plays one turn with a question. Its files, its process, the command and the clock are made, and
both views look at them.
"""

import json
import os
import shutil
import sqlite3
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from datetime import datetime
from pathlib import Path
from typing import Any

import orjson
import pytest

from agentwatch.agents import databases
from agentwatch.agents.session_entry import Key
from agentwatch.base.clock import epoch_ns, now_ms
from agentwatch.catalog import places
from agentwatch.catalog.catalog import Machine
from agentwatch.catalog.digest import reading
from agentwatch.catalog.row import Row
from agentwatch.sources.proc import Proc
from tests.builders.machine.fake import AGENTS as MADE
from tests.builders.machine.fake import save
from tests.builders.machine.made import LINES, Story, id_of
from tests.conftest import case

PROMPT_S, CALL_S, APPROVED_S, RESULT_S, ANSWER_S, QUIT_S, END_S = 2, 4, 17, 28, 30, 42, 46
"""What happens when: the call asks for 13 s, and its command runs for 11 s."""
LATEST_S = 4
"""The longest time for which the views may differ: processes are read every 2 s, and a question that is
inferred is shown another second later."""
LATE_S = 10
"""The time after which a state is shown at the latest: 5 s of silence, and what the list adds."""
TICKS = os.sysconf("SC_CLK_TCK")
AGENTS = (*dict.fromkeys(MADE), "opencode")
BUSY = {"codex": "asks?", "gemini": "working?", "opencode": "asks?"}
"""How a session of an agent that uses the processor shows a command without a process. The call of Gemini is
not written, and may be another tool, which the agent runs itself."""


class Played(Story):
    """A session whose lines have the times of what happens."""

    def at(self, step: int) -> str:
        """Return the time of a line, as ISO 8601."""
        after_s = (PROMPT_S, CALL_S, RESULT_S, ANSWER_S)[step]
        return Story(self.id, self.cwd, self.prompt, self.began_ms + after_s * 1000).at(0)


class Scene:
    """A machine with one agent, on which one turn happens."""

    def __init__(self, folder: Path, agent: str, *, is_busy: bool) -> None:
        """Create it before the agent is started; a busy one uses the processor while its turn is open."""
        self.agent = agent
        self.is_busy = is_busy
        self.home = folder / "home"
        self.cwd = self.home / "work"
        self.cwd.mkdir(parents=True)
        self.environ = {"HOME": str(self.home), "AGENTWATCH_HOME": str(self.home / ".agentwatch")}
        self.began_ms = now_ms() // 1000 * 1000
        self.story = Played(id_of(1), str(self.cwd), "Run the tests", self.began_ms)
        self.key: Key = (agent, self.story.id)
        self.now_s = 0.0
        self._ticks = 0
        self._present: list[tuple[str, tuple[object, ...]]] = []
        self._proc = folder / "proc"
        (self._proc / "self").mkdir(parents=True)
        (self._proc / "self" / "stat").write_text("")
        self._lines = [] if agent == "opencode" else [*self._timed_lines()]
        self._path = self.home / ".local/share/opencode/opencode.db"
        if self._lines:
            self._path = save(self.home, agent, self.story)
            self._path.unlink()

    def _timed_lines(self) -> Iterator[tuple[float, bytes]]:
        """Yield the lines of the session, with the second at which each is written."""
        lines = LINES[self.agent](self.story)
        if self.agent == "gemini":  # it announces a call, and writes it when it has ended
            announced = {**lines[2], "content": "I will run the tests.", "timestamp": self.story.at(1)}
            announced.pop("toolCalls")
            lines.insert(2, announced)
        for line in lines:
            at = datetime.fromisoformat(str(line.get("timestamp", self.story.at(0))))
            yield at.timestamp() - self.began_ms / 1000, orjson.dumps(line) + b"\n"

    def happen(self, at_s: float) -> None:
        """Make the facts as they are at a time, in seconds."""
        self.now_s = at_s
        self._run(7, 1, self.agent, 1, at_s if at_s < QUIT_S else None)
        self._run(8, 7, "sh", APPROVED_S, at_s if APPROVED_S <= at_s < RESULT_S else None)
        if self.agent == "opencode":
            self._happen_in_database(at_s)
            return
        written = [line for line_s, line in self._lines if line_s <= at_s]
        if written and (not self._path.exists() or self._path.stat().st_size != sum(map(len, written))):
            self._path.write_bytes(b"".join(written))
            os.utime(self._path, (self.began_ms / 1000 + at_s,) * 2)
        if self.agent == "claude":
            self._report(at_s)
        if self.agent == "copilot" and self._path.parent.exists():
            lock = self._path.parent / "inuse.7.lock"
            lock.write_text("7") if at_s < QUIT_S else lock.unlink(missing_ok=True)

    def _run(self, pid: int, parent: int, name: str, since_s: float, at_s: float | None) -> None:
        """Let a process run, or end."""
        folder = self._proc / f"{pid}"
        if at_s is None:
            shutil.rmtree(folder, ignore_errors=True)
            return
        (folder / "fd").mkdir(parents=True, exist_ok=True)
        began = (self.began_ms + round(since_s * 1000) - epoch_ns() // 10**6) * TICKS // 1000
        works = self.is_busy and PROMPT_S <= at_s < ANSWER_S
        self._ticks += TICKS if works and pid == 7 else 0
        fields = ["S", f"{parent}", *["0"] * 9, f"{self._ticks}", *["0"] * 7, f"{began}", "0"]
        (folder / "stat").write_text(f"{pid} ({name}) {' '.join(fields)}\n")
        (folder / "cmdline").write_bytes(f"{name}\0".encode())
        (folder / "status").write_text(f"Uid:\t{os.geteuid()}\t0\t0\t0\n")
        if not (folder / "cwd").is_symlink():
            (folder / "exe").symlink_to(f"/bin/{name}")
            (folder / "cwd").symlink_to(self.cwd)
            (folder / "fd" / "3").symlink_to(self._path)

    def _report(self, at_s: float) -> None:
        """Write the record that Claude Code keeps about its session."""
        asks, works = CALL_S <= at_s < APPROVED_S, PROMPT_S <= at_s < ANSWER_S
        began = (self._proc / "7" / "stat").read_text().split()[-2] if at_s < QUIT_S else "0"
        record = {"pid": 7, "procStart": began, "sessionId": self.story.id, "cwd": str(self.cwd)}
        status = {"status": "waiting" if asks else "busy" if works else "idle"}
        waits = {"waitingFor": "permission prompt"} if asks else {}
        path = self.home / ".claude/sessions/7.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps({**record, **status, **waits, "kind": "interactive"}))

    def _happen_in_database(self, at_s: float) -> None:
        """Write the rows of opencode. The time of the session stays that of the prompt, as it is behind."""
        self._path.parent.mkdir(parents=True, exist_ok=True)
        now = self.story
        prompt, call, result, answer = (
            self.began_ms + second * 1000 for second in (PROMPT_S, CALL_S, RESULT_S, ANSWER_S)
        )
        tool = {"type": "tool", "tool": "bash", "callID": "c1"}
        state: dict[str, Any] = {
            "status": "running",
            "input": {"command": "pytest -q"},
            "time": {"start": call},
        }
        if at_s >= RESULT_S:
            state |= {"status": "completed", "output": "3 passed", "title": "x"}
            state["time"] = {"start": call, "end": result}
        reply: dict[str, Any] = {"role": "assistant", "time": {"created": prompt}, "modelID": "m"}
        if at_s >= ANSWER_S:
            reply |= {"finish": "stop", "time": {"created": prompt, "completed": answer}}
        user = {"role": "user", "time": {"created": prompt}}
        tool_ms, reply_ms = (result if at_s >= RESULT_S else call), (answer if at_s >= ANSWER_S else prompt)
        end = {"type": "step-finish", "reason": "stop"}
        rows: list[tuple[float, str, tuple[object, ...]]] = [
            (PROMPT_S, "session", (now.id, None, now.cwd, "1.18.33", prompt, prompt)),
            (PROMPT_S, "message", ("m1", now.id, prompt, prompt, json.dumps(user))),
            (PROMPT_S, "message", ("m2", now.id, prompt + 1, reply_ms, json.dumps(reply))),
            (PROMPT_S, "part", ("p1", now.id, "m1", prompt, prompt, json.dumps(_text("Go")))),
            (CALL_S, "part", ("p2", now.id, "m2", call, tool_ms, json.dumps(tool | {"state": state}))),
            (ANSWER_S, "part", ("p3", now.id, "m2", answer, answer, json.dumps({"type": "step-start"}))),
            (ANSWER_S, "part", ("p4", now.id, "m2", answer, answer, json.dumps(_text("Passed.")))),
            (ANSWER_S, "part", ("p5", now.id, "m2", answer, answer, json.dumps(end))),
        ]
        present = [(table, row) for row_s, table, row in rows if row_s <= at_s]
        if self._present == present:
            return
        self._present = present
        with closing(sqlite3.connect(self._path)) as connection, connection:
            for table, columns in TABLES.items():
                connection.execute(f"CREATE TABLE IF NOT EXISTS {table} ({columns})")
                connection.execute(f"DELETE FROM {table}")
            for table, column in (("message", "session_id"), ("part", "message_id")):
                connection.execute(f"CREATE INDEX IF NOT EXISTS of_{table} ON `{table}` (`{column}`)")
            for table, row in present:
                connection.execute(f"INSERT INTO {table} VALUES ({', '.join('?' * len(row))})", row)

    def clock(self) -> float:
        """Return the present time, in seconds since the scene began."""
        return self.now_s

    @property
    def now_ms(self) -> int:
        """The present time, in milliseconds since the epoch."""
        return self.began_ms + round(self.now_s * 1000)

    def printed(self) -> str:
        """Return the state that `sessions --json` prints when it is started now."""
        later_s = 0.0

        def wait(seconds: float) -> None:
            nonlocal later_s
            later_s += seconds
            self._run(7, 1, self.agent, 1, self.now_s)

        machine = self.machine(lambda: self.now_s + later_s)
        machine.settle_surely(lambda: self.now_ms + round(later_s * 1000), wait)
        return shown(machine.rows, self.key)

    def machine(self, clock: Callable[[], float]) -> Machine:
        return Machine(self.environ, self.home, clock=clock, proc=Proc(self._proc))


TABLES = {
    "session": "id TEXT, parent_id TEXT, directory TEXT, version TEXT, time_created INT, time_updated INT",
    "message": "id TEXT, session_id TEXT, time_created INT, time_updated INT, data TEXT",
    "part": "id TEXT, session_id TEXT, message_id TEXT, time_created INT, time_updated INT, data TEXT",
}


def _text(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def shown(rows: Mapping[Key, Row], key: Key) -> str:
    """Return the state of a session as it is shown: `asks?`."""
    row = rows.get(key)
    if row is None:
        return "no row"
    return row.status.state + {"said": "", "inferred": "?", "unknown": ""}[row.status.ground]


QUESTION = {"claude": "asks", "copilot": "working", "pi": "working?"}
"""How a session shows that its command waits; `asks?` for the other agents. Copilot writes each question, and
has written none here; Pi never asks."""
WORKS = {"claude": "working", "copilot": "working"}
TURN = {"gemini": "your turn?"}
ENDS = {"gemini": "succeeded?"}


def expected(agent: str, *, is_busy: bool) -> list[tuple[float, str]]:
    """Return what the list shows from which second on, when all of it has been noticed."""
    works = WORKS.get(agent, "working?")
    waits = BUSY[agent] if is_busy else QUESTION.get(agent, "asks?")
    return [
        (PROMPT_S, works),
        (CALL_S, waits),
        (APPROVED_S, works),
        (ANSWER_S, TURN.get(agent, "your turn")),
        (QUIT_S, ENDS.get(agent, "succeeded")),
    ]


@pytest.mark.system
def test_the_views_agree_while_time_passes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The list shows for at most 4 s in all what `sessions --json` does not; both reach every state."""
    monkeypatch.setattr(places, "_POLL_S", 0.0)
    monkeypatch.setattr(databases, "_FRESH_NS", 0)
    monkeypatch.setattr(reading, "_LARGEST_SHARE", 1e9)
    scenes = [*((agent, False) for agent in AGENTS), *((agent, True) for agent in BUSY)]
    for agent, is_busy in scenes:
        with case(f"{agent}, busy: {is_busy}"):
            scene = Scene(tmp_path / f"{agent}-{is_busy}", agent, is_busy=is_busy)
            differing: defaultdict[str, list[float]] = defaultdict(list)
            seen: dict[float, str] = {}
            watched = scene.machine(scene.clock)
            for half in range(2 * END_S):
                scene.happen(half / 2)
                while watched.step(scene.now_ms):
                    pass
                if half % 2 == 0:
                    seen[scene.now_s], other = shown(watched.rows, scene.key), scene.printed()
                    if seen[scene.now_s] != other:
                        differing[f"list: {seen[scene.now_s]}, json: {other}"].append(scene.now_s)
            assert max(map(len, differing.values()), default=0) <= LATEST_S, dict(differing)
            for (since_s, state), until_s in zip(
                expected(agent, is_busy=is_busy), (CALL_S, APPROVED_S, ANSWER_S, QUIT_S, END_S), strict=True
            ):
                late_s = min(since_s + LATE_S, until_s - 1)
                states = {at_s: seen[at_s] for at_s in seen if late_s <= at_s < until_s}
                assert set(states.values()) == {state}, (since_s, states)


def test_the_views_agree_in_a_long_silence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """When nothing follows a prompt for a minute, both say so, unless the agent reports that it works."""
    monkeypatch.setattr(places, "_POLL_S", 0.0)
    monkeypatch.setattr(databases, "_FRESH_NS", 0)
    for agent in AGENTS:
        with case(agent):
            scene = Scene(tmp_path / agent, agent, is_busy=False)
            watched = scene.machine(scene.clock)
            scene.happen(PROMPT_S + 0.5)
            for at_s in range(PROMPT_S + 1, PROMPT_S + 81, 10):
                for later_s in (0.0, 1.0, 2.1):
                    scene.now_s = at_s + later_s
                    while watched.step(scene.now_ms):
                        pass
                one, other = shown(watched.rows, scene.key), scene.printed()
                assert one == other, at_s
                is_quiet = at_s > PROMPT_S + 60 and agent != "claude"
                assert one == ("quiet?" if is_quiet else WORKS.get(agent, "working?")), at_s
