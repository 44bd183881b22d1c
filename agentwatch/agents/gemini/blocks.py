"""Divides the arguments and the result of a Gemini call into blocks."""

from __future__ import annotations

from collections.abc import Iterator

from agentwatch.agents.blocks import binary_block, returned_block
from agentwatch.agents.changes import argument_blocks
from agentwatch.agents.fields import Fields, items, mapping, number, text
from agentwatch.agents.gemini.chat import CallLine, call_of, content_text, reason_of
from agentwatch.agents.gemini.stream import name_in_id, plan_entries, tool_named
from agentwatch.agents.tool import Tool
from agentwatch.session.blocks import (
    Block,
    ChangeBlock,
    ErrorBlock,
)
from agentwatch.session.events import PlanEntry, ToolKind


def line_blocks(fields: Fields, _call_id: str = "") -> Iterator[Block]:
    """Yield the blocks of a line of the stream that starts or ends a call."""
    call_id = text(fields, "tool_id") or ""
    name = text(fields, "tool_name") or name_in_id(call_id)
    tool = tool_named(name)
    if fields.get("type") == "tool_use":
        arguments = mapping(fields.get("parameters"))
        yield from argument_blocks(tool.kind, arguments, plan_of(tool, arguments))
        return
    error, output = mapping(fields.get("error")), text(fields, "output")
    reason = text(error, "message") or text(fields, "error")
    if reason:
        yield ErrorBlock(reason)
    if output and output != reason:
        yield returned_block(tool.kind, output, tool.phrase)


def plan_of(tool: Tool, arguments: Fields) -> tuple[PlanEntry, ...]:
    """Return the to-do list in the arguments of a call; empty for another tool."""
    return plan_entries(arguments.get("todos")) if tool.kind is ToolKind.PLAN else ()


def _first_line(arguments: Fields) -> int:
    """Return the first line that was read. Older versions give an offset, counted from 0."""
    start = number(arguments, "start_line")
    return (number(arguments, "offset") or 0) + 1 if start is None else start


def part_blocks(parts: object) -> Iterator[Block]:
    """Yield the images and other data among the parts of a result."""
    for part in map(mapping, items(parts)):
        data = mapping(part.get("inlineData"))
        if data:
            yield binary_block(text(data, "mimeType"), text(data, "data"))
        response = mapping(part.get("functionResponse"))
        if isinstance(response.get("parts"), list):
            yield from _inline(response["parts"])


def _inline(parts: list[object]) -> Iterator[Block]:
    """Yield the data that a response contains; it is nested no deeper."""
    yield from part_blocks([{"inlineData": mapping(part).get("inlineData")} for part in parts])


def call_blocks(fields: Fields, call_id: str) -> Iterator[Block]:
    """Yield the blocks of a call. `fields` are a message, or a change that replaces all messages."""
    change = mapping(fields.get("$set"))
    messages = items(change.get("messages")) if change else [fields]
    values = (value for message in messages for value in items(mapping(message).get("toolCalls")))
    calls = map(call_of, values)
    found = next((call for call in calls if call.call_id == call_id), None)
    if found is None:
        return
    shown = found.shown
    display = mapping(shown)
    has_change = "fileDiff" in display
    entries = plan_of(found.tool, found.arguments)
    yield from argument_blocks(found.tool.kind, found.arguments, entries, is_change_known=has_change)
    if has_change:
        before, after = display.get("originalContent"), display.get("newContent")
        yield ChangeBlock(
            text(display, "fileDiff"),
            before=before if isinstance(before, str) else None,
            after=after if isinstance(after, str) else None,
        )
    reason = reason_of(found.fields)
    if reason is not None:
        yield ErrorBlock(reason)
    elif output := _output(found, shown):
        first_line = _first_line(found.arguments) if found.tool.kind is ToolKind.READ else 1
        yield returned_block(found.tool.kind, output, found.tool.phrase, max(first_line, 1))
    yield from part_blocks(found.fields.get("result"))


def _output(call: CallLine, shown: object) -> str:
    """Return the text of a result. The agent shows a command's output, and a summary of other results."""
    if call.tool.kind is ToolKind.EXECUTE and isinstance(shown, str) and shown:
        return shown
    texts = []
    for part in map(mapping, items(call.fields.get("result"))):
        response = mapping(mapping(part.get("functionResponse")).get("response"))
        output = response.get("output")
        texts.append(output if isinstance(output, str) else content_text(response.get("content")))
        texts.append(text(part, "text") or "")
    joined = "\n".join(filter(None, texts))
    return joined or (shown if isinstance(shown, str) else "")
