"""Divides the arguments and the result of a Pi tool call into blocks."""

from __future__ import annotations

from collections.abc import Iterator

from agentwatch.agents.blocks import binary_block, fields_block
from agentwatch.agents.changes import argument_blocks
from agentwatch.agents.fields import Fields, items, mapping, text
from agentwatch.agents.pi.stream import content_text, tool_calls, tool_named, unified
from agentwatch.session.blocks import Block, ChangeBlock, ContentBlock, ErrorBlock, OutputBlock, TextBlock
from agentwatch.session.events import ToolKind

_SHOWN_DETAILS = ("diff", "patch")


def blocks(fields: Fields, call_id: str) -> Iterator[Block]:
    """Yield the blocks of a line that starts or ends a call, of the stream or of a session file. An
    assistant's message may have several calls."""
    message = mapping(fields.get("message"))
    if message.get("role") == "toolResult":
        yield from _result_blocks(message.get("toolName"), message, message.get("isError"))
    elif message:
        for call in tool_calls(message):
            if (text(call, "id") or "") == call_id:
                yield from _argument_blocks(call.get("name"), mapping(call.get("arguments")))
    elif "result" in fields:
        yield from _result_blocks(fields.get("toolName"), mapping(fields["result"]), fields.get("isError"))
    else:
        yield from _argument_blocks(fields.get("toolName"), mapping(fields.get("args")))


def _argument_blocks(name: object, arguments: Fields) -> Iterator[Block]:
    """Yield the arguments: the content of a written file as a change, because its result has no diff."""
    yield from argument_blocks(tool_named(name if isinstance(name, str) else "").kind, arguments)


def _result_blocks(name: object, result: Fields, is_error: object) -> Iterator[Block]:
    tool = tool_named(name if isinstance(name, str) else "")
    words = content_text(result.get("content"))
    details = mapping(result.get("details"))
    diff = unified(details)
    if tool.kind is ToolKind.EXECUTE:
        yield from [OutputBlock("stdout", words)] if words else []
    elif is_error is True:
        yield ErrorBlock(words or "the tool failed")
    elif diff is not None:
        yield ChangeBlock(diff)
    elif words:
        yield TextBlock("result", words) if tool.kind is ToolKind.EDIT else ContentBlock(words)
    yield from _binary_blocks(result.get("content"))
    rest = {key: value for key, value in details.items() if key not in _SHOWN_DETAILS}
    yield from fields_block("result", rest)


def _binary_blocks(content: object) -> Iterator[Block]:
    """Yield the images of a result, by their type and size."""
    for part in map(mapping, items(content)):
        if part.get("type") == "image":
            yield binary_block(text(part, "mimeType") or "image", text(part, "data"))
