"""Calls of subagents and of one step, in the format of another agent than Cursor."""

from __future__ import annotations

from typing import Any

from tests.analysis.episodes.calls import found_in, words_of
from tests.builders.claude_lines import CWD, answer, assistant, init, written
from tests.conftest import Saver

Json = dict[str, Any]


def calls(
    name: str, *ids: str, message_id: str | None = None, error: str = "", **arguments: Any
) -> list[Json]:
    """Return calls that end one after the other, each in a message of its own if `message_id` is None."""
    lines: list[Json] = []
    for call_id in ids:
        block = {"type": "tool_use", "id": call_id, "name": name, "input": arguments}
        lines.append(assistant(block, message_id=message_id or f"msg_{call_id}"))
        lines.append(answer(error or "1\tone", call_id, is_error=bool(error)))
    return lines


def by(agent: str, lines: list[Json]) -> list[Json]:
    """Return lines as those of the subagent that a call started."""
    return [line | {"parent_tool_use_id": agent} for line in lines]


def test_each_subagent_reads_for_itself(recording: Saver) -> None:
    """A subagent does not know what another one has read, so its reads are counted on their own."""
    begins = assistant({"type": "tool_use", "id": "task", "name": "Task", "input": {"prompt": "Look."}})
    path = f"{CWD}/a.py"
    own = calls("Read", "r1", "r2", file_path=path)
    others = by("task", calls("Read", "r3", "r4", file_path=path))
    episodes = found_in(recording(written(init(), begins, *own, *others)))
    assert [episodes.reread(number) for number in range(2, 6)] == [1, 2, 1, 2]
    assert [episodes.repeat(number) for number in range(2, 6)] == [1, 2, 1, 2]


def test_calls_of_one_step_are_no_retries(recording: Saver) -> None:
    """The model did not see the failure of a call when it requested the other calls of the same step."""
    failing = {"error": "Exit code 2\\nno", "command": "make"}
    together = calls("Bash", "s1", "s2", "s3", message_id="msg_1", **failing)
    episodes = found_in(recording(written(init(), *together)))
    assert [episodes.tries(number) for number in (1, 2, 3)] == [1, 1, 1]
    assert words_of(episodes) == []
    each = calls("Bash", "s1", "s2", "s3", **failing)
    assert words_of(found_in(recording(written(init(), *each)))) == ["not fixed yet, 3 tries: make"]
