"""Divides the arguments and the result of a Droid call into blocks."""

from __future__ import annotations

from collections.abc import Iterator

from agentwatch.agents.changes import argument_blocks
from agentwatch.agents.droid.agent import blocks_of
from agentwatch.agents.droid.session_file import result_fields
from agentwatch.agents.droid.stream import plan_entries, reason_in, tool_named
from agentwatch.agents.fields import Fields, mapping, text
from agentwatch.session.blocks import (
    Block,
    ContentBlock,
    ErrorBlock,
    FieldsBlock,
    MarkdownBlock,
    OutputBlock,
    TextBlock,
)
from agentwatch.session.events import ToolKind


def line_blocks(fields: Fields, _call_id: str = "") -> Iterator[Block]:
    """Yield the blocks of a line that starts or ends a call."""
    tool = tool_named(text(fields, "toolName") or text(fields, "toolId") or "")
    if fields.get("type") == "tool_call":
        arguments = mapping(fields.get("parameters"))
        yield from argument_blocks(tool.kind, arguments, plan_entries(tool, arguments))
        return
    value = fields.get("value")
    if fields.get("isError") is True and (reason := reason_in(fields)) is not None:
        yield ErrorBlock(reason)
        return
    if not isinstance(value, str):
        if value not in (None, [], {}):
            yield FieldsBlock("result", {"value": value})
    elif value:
        yield _content(tool.kind, value)


def entry_blocks(fields: Fields, call_id: str) -> Iterator[Block]:
    """Yield the blocks of a line of a session file that starts or ends a call."""
    for block in blocks_of(mapping(fields.get("message"))):
        if block.get("type") == "tool_use" and block.get("id") == call_id:
            name, arguments = block.get("name"), block.get("input")
            yield from line_blocks({"type": "tool_call", "toolName": name, "parameters": arguments})
        elif block.get("type") == "tool_result" and block.get("tool_use_id") == call_id:
            yield from line_blocks(result_fields(block))


def _content(kind: ToolKind, value: str) -> Block:
    match kind:
        case ToolKind.EXECUTE:
            return OutputBlock("stdout", value)
        case ToolKind.FETCH:
            return MarkdownBlock(value)
        case ToolKind.EDIT | ToolKind.PLAN:
            return TextBlock("message", value)
    return ContentBlock(value)
