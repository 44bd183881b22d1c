"""Divides the arguments and the result of a call in a Qwen chat into blocks."""

from __future__ import annotations

from collections.abc import Iterator

from agentwatch.agents.blocks import binary_block
from agentwatch.agents.changes import replaced_texts, replacement
from agentwatch.agents.claude.calls import plan_entries
from agentwatch.agents.fields import Fields, items, mapping, text
from agentwatch.agents.qwen.agent import parts_of
from agentwatch.agents.qwen.stream import tool_named
from agentwatch.agents.tool import Phrase, Tool
from agentwatch.session.blocks import (
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
from agentwatch.session.events import ToolKind

_CHANGED = ("content", "old_string", "new_string", "edits")
"""The arguments that the change of a file repeats."""


def blocks(fields: Fields, call_id: str) -> Iterator[Block]:
    """Yield the blocks of a call in a line that starts or ends it."""
    for part in parts_of(fields):
        call, response = mapping(part.get("functionCall")), mapping(part.get("functionResponse"))
        if "functionCall" in part and (text(call, "id") or "") == call_id:
            yield from _argument_blocks(tool_named(text(call, "name") or ""), mapping(call.get("args")))
        if "functionResponse" in part and (text(response, "id") or call_id) == call_id:
            yield from _result_blocks(response, mapping(fields.get("toolCallResult")))


def _argument_blocks(tool: Tool, arguments: Fields) -> Iterator[Block]:
    """Yield the arguments: the change or the to-do list, the short fields in one block, then long texts."""
    rest = dict(arguments)
    if tool.kind is ToolKind.EDIT:
        content = rest.get("content")
        if isinstance(content, str):
            yield ChangeBlock(None, after=content)
        for old, new in replaced_texts(arguments):
            yield ChangeBlock(replacement(old, new).diff)
        for key in _CHANGED:
            rest.pop(key, None)
    if tool.kind is ToolKind.PLAN and (entries := plan_entries(rest.get("todos"))):
        yield PlanBlock(entries)
        del rest["todos"]
    names = [key for key, value in rest.items() if isinstance(value, str) and "\n" in value]
    texts = {name: rest.pop(name) for name in names}
    if rest:
        yield FieldsBlock("arguments", rest)
    for name, value in texts.items():
        yield TextBlock(name, value)


def _result_blocks(response: Fields, about: Fields) -> Iterator[Block]:
    tool, shown = tool_named(text(response, "name") or ""), about.get("resultDisplay")
    returned, details = mapping(response.get("response")), mapping(shown)
    reason = text(mapping(about.get("error")), "message") or text(returned, "error")
    printed = text(details, "output")
    if reason and printed is None:
        yield ErrorBlock(reason)
    diff = text(details, "fileDiff")
    output = printed or text(returned, "output")
    if diff is not None:
        yield ChangeBlock(diff)
    elif output is not None:
        yield _content_block(tool, output)
    for part in map(mapping, items(response.get("parts"))):
        data = mapping(part.get("inlineData"))
        encoded = text(data, "data")
        if encoded is not None:
            yield binary_block(text(data, "mimeType"), encoded)


def _content_block(tool: Tool, output: str) -> Block:
    match tool.kind:
        case ToolKind.EXECUTE:
            return OutputBlock("stdout", output)
        case ToolKind.FETCH:
            return MarkdownBlock(output)
        case ToolKind.EDIT | ToolKind.PLAN:
            return TextBlock("message", output)
    return MarkdownBlock(output) if tool.phrase == Phrase.SEARCHED_WEB else ContentBlock(output)
