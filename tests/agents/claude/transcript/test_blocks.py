"""The lines of a transcript have the blocks of their calls, as those of the stream have."""

from __future__ import annotations

from typing import Any

from agentwatch.agents.claude.agent import TRANSCRIPT as AGENT
from agentwatch.session.blocks import Block, ChangeBlock, FieldsBlock, OutputBlock
from tests.builders.on_disk.transcript import answer, call, line, returned, user


def blocks(made: dict[str, Any], call_id: str = "c") -> list[Block]:
    """Return the blocks of a call in a line."""
    return list(AGENT.blocks(made, call_id))


def test_the_structured_result_is_drawn() -> None:
    """The result beside the message has the printed text, and the change of a file as a diff."""
    assert blocks(call("c")) == [FieldsBlock("arguments", {"command": "ls"})]
    printed = returned("c", toolUseResult={"stdout": "hi", "stderr": "", "interrupted": False})
    assert OutputBlock("stdout", "hi") in blocks(printed)
    patch = [{"oldStart": 1, "oldLines": 1, "newStart": 1, "newLines": 1, "lines": ["-two", "+zwei"]}]
    edited = returned("c", toolUseResult={"filePath": "a", "structuredPatch": patch})
    (change,) = [block for block in blocks(edited) if isinstance(block, ChangeBlock)]
    assert change.diff is not None
    assert change.diff.endswith("-two\n+zwei")


def test_a_progress_line_has_the_blocks_of_the_line_in_it() -> None:
    """The calls of a subagent may be wrapped in progress lines."""
    wrapped = line("progress", data={"type": "agent_progress", "message": call("c")})
    assert blocks(wrapped) == blocks(call("c"))
    assert blocks(line("progress")) == []


def test_a_call_without_an_id_has_the_blocks_of_its_line() -> None:
    """The id of such a call is that of its line."""
    bare = answer({"type": "tool_use", "name": "bash", "input": {"command": "ls"}}, uuid="a1")
    assert blocks(bare, "a1") == [FieldsBlock("arguments", {"command": "ls"})]
    ended = user([{"type": "tool_result", "content": "ok"}], toolUseResult={"stdout": "ok", "stderr": ""})
    assert OutputBlock("stdout", "ok") in blocks(ended, "a1")
    assert blocks(call("d"), "c") == []
