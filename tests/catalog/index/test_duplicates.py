"""A subagent whose calls are in a recording does not count again by its own file."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.builders.claude_lines import CWD, Json, answer, call, init, result, written
from tests.builders.machine.fake import fake_machine
from tests.catalog.index.machines import Indexed

SESSION = "11111111-2222-4333-8444-555555555555"


@pytest.fixture
def indexed(tmp_path: Path) -> Indexed:
    """A machine without sessions, and the path of an index."""
    return Indexed(fake_machine(tmp_path / "machine", with_captures=False), tmp_path / "state" / "index.db")


def bash(call_id: str, **fields: object) -> list[Json]:
    """Return a call and its answer."""
    begun, ended = call("Bash", call_id, command="ls"), answer("a", call_id, result={"stdout": "a"})
    return [begun | fields, ended | fields]


def kept(*lines: Json, **fields: object) -> bytes:
    """Return lines as the agent keeps them."""
    own = {"sessionId": SESSION, "cwd": CWD, "timestamp": "2026-11-22T12:00:00.000Z", **fields}
    return written(*(line | own for line in lines))


def lay(indexed: Indexed, *, inside: bool) -> None:
    """Write a recording and the agent's files of a session with a subagent, and one of another session."""
    task = call("Task", "t-1", prompt="Look."), answer("Done.", "t-1")
    own = bash("a-1", parent_tool_use_id="t-1") if inside else []
    lines = (task[0], *own, task[1], *bash("b-1"), *bash("b-2"), result())
    recorded = (init(), *lines)
    indexed.record(
        "20261122-120000-000abcdef", written(*(line | {"session_id": SESSION} for line in recorded))
    )
    folder = indexed.machine.home / ".claude/projects/-home-ada-tidepool"
    (folder / SESSION / "subagents").mkdir(parents=True, exist_ok=True)
    (folder / f"{SESSION}.jsonl").write_bytes(kept(*task, *bash("b-1"), *bash("b-2")))
    (folder / SESSION / "subagents/agent-a1.jsonl").write_bytes(
        kept(*bash("a-1"), isSidechain=True, agentId="a1")
    )
    other = SESSION.replace("1", "9")
    (folder / other / "subagents").mkdir(parents=True, exist_ok=True)
    (folder / f"{other}.jsonl").write_bytes(kept(*task, sessionId=other))
    (folder / other / "subagents/agent-a2.jsonl").write_bytes(
        kept(*bash("a-1"), isSidechain=True, agentId="a2", sessionId=other)
    )


def test_a_subagent_counts_once(indexed: Indexed) -> None:
    """If the recording has the calls of the subagent, the subagent's own file does not count."""
    lay(indexed, inside=True)
    indexed.update()
    assert indexed.rows("SELECT is_recording, parent, calls FROM session ORDER BY 3 DESC, 2") == [
        (1, None, 4),
        (0, None, 1),
        (0, SESSION.replace("1", "9"), 1),
    ]
    lay(indexed, inside=False)
    indexed.update()
    assert indexed.rows(
        "SELECT is_recording, parent, calls FROM session WHERE calls < 3 AND parent = ?", SESSION
    ) == [(0, SESSION, 1)]
