"""The arguments and the results of Copilot's calls as blocks."""

from __future__ import annotations

from typing import Any

from agentwatch.agents.copilot.agent import AGENT
from agentwatch.session.blocks import (
    BinaryBlock,
    Block,
    ChangeBlock,
    ContentBlock,
    ErrorBlock,
    FieldsBlock,
    MarkdownBlock,
    OutputBlock,
    PlanBlock,
    TextBlock,
)
from agentwatch.session.events import PlanEntry, PlanStatus
from tests.agents.copilot.lines import ended, failed, line, started
from tests.agents.copilot.test_calls import DIFF, VIEWED


def blocks(of_line: dict[str, Any]) -> list[Block]:
    """Return the blocks of a line."""
    return list(AGENT.blocks(of_line, "c"))


def result(**fields: Any) -> dict[str, Any]:
    """Return the line that ends a call with a result."""
    return line("tool.execution_complete", {"toolCallId": "c", "success": True, "result": fields})


def test_short_arguments_are_one_block() -> None:
    """Texts of several lines follow; the content of a file is content, a to-do list is a list."""
    assert blocks(started("c", "create", {"path": "a", "file_text": "1\n2", "remark": "x\ny", "no": ""})) == [
        FieldsBlock("arguments", {"path": "a"}),
        ContentBlock("1\n2"),
        TextBlock("remark", "x\ny"),
    ]
    assert blocks(started("c", "apply_patch", "*** Begin Patch\n*** End Patch")) == [
        TextBlock("patch", "*** Begin Patch\n*** End Patch")
    ]
    described = started("c", "bash", {"command": "ls", "description": "List files"})
    assert blocks(described) == [
        TextBlock("description", "List files"),
        FieldsBlock("arguments", {"command": "ls"}),
    ]
    todos = started("c", "update_todo", {"todos": "- [x] Read"})
    assert blocks(todos) == [PlanBlock((PlanEntry("Read", PlanStatus.COMPLETED),))]


def test_a_result_is_what_its_tool_returns() -> None:
    """A diff, the content of a file, output, a page, or why it failed."""
    assert blocks(result(content="ok", detailedContent=DIFF)) == [ChangeBlock(DIFF.lstrip("\n"))]
    assert blocks(result(content="one\ntwo\n", detailedContent=VIEWED)) == [ContentBlock("one\ntwo\n")]
    assert blocks(ended("c", "x", shellExecution={"exitCode": 0})) == [OutputBlock("stdout", "x")]
    assert blocks(ended("c", "x\n<exited with exit code 0>")) == [
        OutputBlock("stdout", "x\n<exited with exit code 0>")
    ]
    assert blocks(ended("c", "", shellExecution={})) == blocks(ended("c")) == []
    assert blocks(result(content="x", detailedContent="# Skill\ntext")) == [MarkdownBlock("# Skill\ntext")]
    assert blocks(failed("c", "no")) == [ErrorBlock("no")]
    older = line("tool.execution_complete", {"toolCallId": "c", "result": "plain", "error": "why"})
    assert blocks(older) == [ErrorBlock("why"), ContentBlock("plain")]


def test_a_binary_result_is_named_with_its_size() -> None:
    """An image, the bytes of a resource, and bytes that were left out; other fields follow."""
    contents = [
        {"type": "image", "data": "AAA=", "mimeType": "image/png"},
        {"type": "resource", "resource": {"blob": "AAAA", "uri": "x"}},
        {"type": "text", "text": "x"},
    ]
    left_out = [{"type": "image", "mimeType": "image/jpeg", "byteLength": 5000}]
    assert blocks(result(contents=contents, binaryResultsForLlm=left_out, structuredContent={"a": 1})) == [
        BinaryBlock("image/png", 2),
        BinaryBlock("binary", 3),
        BinaryBlock("image/jpeg", 5000),
        FieldsBlock("result", {"structuredContent": {"a": 1}}),
    ]
    edits = [{"path": "a", "kind": "edit"}]
    assert blocks(ended("c", fileEdits=edits)) == [FieldsBlock("result", {"fileEdits": edits})]
