"""Divides the arguments and the result of a Gemini call into blocks."""

from __future__ import annotations

from collections.abc import Iterator

from agentwatch.agents.blocks import binary_block
from agentwatch.agents.changes import argument_blocks
from agentwatch.agents.fields import Fields, items, mapping, number, text
from agentwatch.agents.gemini.stream import name_in_id, plan_entries, tool_named
from agentwatch.agents.tool import Phrase, Tool
from agentwatch.session.blocks import Block, ContentBlock, ErrorBlock, MarkdownBlock, OutputBlock, TextBlock
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
        yield content_block(tool, output)


def plan_of(tool: Tool, arguments: Fields) -> tuple[PlanEntry, ...]:
    """Return the to-do list in the arguments of a call; empty for another tool."""
    return plan_entries(arguments.get("todos")) if tool.kind is ToolKind.PLAN else ()


def content_block(tool: Tool, output: str, arguments: Fields | None = None) -> Block:
    """Return the block of a text that a call returned.

    Args:
        tool: The tool of the call.
        output: The text.
        arguments: The arguments of the call, if the line has them.
    """
    match tool.kind:
        case ToolKind.EXECUTE:
            return OutputBlock("stdout", output)
        case ToolKind.FETCH:
            return MarkdownBlock(output)
        case ToolKind.EDIT | ToolKind.PLAN:
            return TextBlock("message", output)
        case ToolKind.READ:
            return ContentBlock(output, first_line=max(_first_line(arguments or {}), 1))
    return MarkdownBlock(output) if tool.phrase == Phrase.SEARCHED_WEB else ContentBlock(output)


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
