"""A machine with sessions, and its index."""

import os
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

from agentwatch.agents.session_entry import SessionEntry
from agentwatch.catalog.index import SessionIndex, Updated, update
from agentwatch.catalog.places import Places
from tests.analysis.verdict_history.sessions import STORY, edit, run_of_tests
from tests.builders import claude_lines as claude
from tests.builders.lines import completed, init, result, started, user
from tests.builders.machine.fake import FakeMachine, fake_machine
from tests.builders.screen.lines import BEGAN_MS, CWD


class Indexed(NamedTuple):
    """A machine, and where its index is."""

    machine: FakeMachine
    path: Path

    def found(self) -> list[SessionEntry]:
        places = Places(self.machine.environ, self.machine.home, os.geteuid())
        return list({each.key: each for batch in places.first() for each in batch}.values())

    def update(self, found: list[SessionEntry] | None = None) -> Updated:
        with closing(SessionIndex(self.path, "1.0")) as index:
            return update(index, self.found() if found is None else found)

    def record(self, stem: str, *lines: bytes) -> Path:
        """Save a recording of our own, and return its file."""
        path = self.machine.home / ".agentwatch" / "sessions" / f"{stem}.ndjson"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"".join(lines))
        return path

    def rows(self, query: str, *values: Any) -> list[tuple[Any, ...]]:
        """Return what a query finds."""
        return rows(self.path, query, *values)


def rows(path: Path, query: str, *values: Any) -> list[tuple[Any, ...]]:
    """Return what a query finds in an index."""
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute(query, values).fetchall()


USAGE = {"inputTokens": 1000, "outputTokens": 50, "cacheReadTokens": 0, "cacheWriteTokens": 0}
PARENT = "11111111-2222-4333-8444-555555555555"
WAITS_MS = (1000, 9000, 3000)


def machine_of_truth(folder: Path) -> Indexed:
    """Return a machine with four sessions and a subagent, and the path of its index.

    - `s-1` of Cursor, in `mill`: 5 edits, one of which failed, and the test runs red, red, green; 5 s.
    - `s-2` of Cursor, in `mill`: unfinished; an edit, a red test run, three waits, a rejected call; 19 s.
    - `s-3` of Claude Code, in `tidepool`: it cost $1.50 and took 9 s; two calls, one of which failed.
    - `PARENT` of Claude Code, in `tidepool`, as the agent keeps it: 1 call, and a subagent with 1 call; 3 s.
    """
    indexed = Indexed(fake_machine(folder / "machine", with_captures=False), folder / "state" / "index.db")
    indexed.record("20261122-120001-000aaaaaa", STORY, result("", usage=USAGE, duration_ms=5000))
    indexed.record("20261122-120002-000bbbbbb", _unfinished())
    indexed.record("20261122-120003-000cccccc", _with_cost())
    folder = indexed.machine.home / ".claude/projects/-home-ada-tidepool"
    (folder / PARENT / "subagents").mkdir(parents=True)
    (folder / f"{PARENT}.jsonl").write_bytes(_kept(("Task", "t-1", "prompt"), 0, 3))
    (folder / PARENT / "subagents/agent-a1.jsonl").write_bytes(
        _kept(("Bash", "a-1", "command"), 1, 2, isSidechain=True, agentId="a1")
    )
    return indexed


def _unfinished() -> bytes:
    lines = [init(cwd=CWD, session_id="s-2"), user(), edit(1, "src/mill.py"), run_of_tests(2, 4)]
    at_ms = BEGAN_MS + 3000
    for number, wait_ms in enumerate(WAITS_MS):
        call_id, command = f"w-{number}", f"sleep {wait_ms // 1000}"
        lines.append(started("shell", call_id, at_ms, command=command))
        at_ms += wait_ms
        lines.append(completed("shell", call_id, {"success": {"exitCode": 0}}, at_ms, command=command))
    lines.append(started("shell", "r-1", at_ms, command="rm -r /"))
    lines.append(completed("shell", "r-1", {"rejected": {}}, at_ms + 4000))
    return b"".join(lines)


def _with_cost() -> bytes:
    bash = (("b-1", "npm test", True), ("b-2", "npm test", False))
    lines = [claude.init(session_id="s-3")]
    for call_id, command, is_error in bash:
        lines.append(claude.call("Bash", call_id, command=command))
        lines.append(claude.answer("Exit code 1" if is_error else "ok", call_id, is_error=is_error))
    usage = {"input_tokens": 300, "output_tokens": 7}
    lines.append(claude.result("Done", total_cost_usd=1.5, duration_ms=9000, usage=usage))
    return claude.written(*(line | {"session_id": "s-3"} for line in lines))


def _kept(call: tuple[str, str, str], first_s: int, last_s: int, **fields: object) -> bytes:
    tool, call_id, argument = call
    lines = claude.call(tool, call_id, **{argument: "ls"}), claude.answer("a", call_id)
    own = {"sessionId": PARENT, "cwd": claude.CWD, **fields}
    times = (f"2026-11-01T12:00:{second:02}.000Z" for second in (first_s, last_s))
    return claude.written(*(line | own | {"timestamp": at} for line, at in zip(lines, times, strict=True)))
