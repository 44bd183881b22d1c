"""Divides the arguments and the result of a call in a transcript into blocks."""

from __future__ import annotations

from collections.abc import Iterator

from agentwatch.blocks import Block
from agentwatch.wire.claude.blocks import blocks as claude_blocks
from agentwatch.wire.fields import Fields, items, mapping

_ID_KEYS = {"tool_use": "id", "tool_result": "tool_use_id"}


def blocks(fields: Fields, call_id: str) -> Iterator[Block]:
    """Yield the blocks of a call in a line that starts or ends it.

    The line is read as one of the stream: the structured result has another name there. A call without an id
    of its own has that of its line.
    """
    line = mapping(mapping(fields.get("data")).get("message")) if fields.get("type") == "progress" else fields
    message = mapping(line.get("message"))
    content = [_with_id(block, call_id) for block in items(message.get("content"))]
    stream_line = {**line, "message": {**message, "content": content}}
    stream_line["tool_use_result"] = line.get("toolUseResult")
    yield from claude_blocks(stream_line, call_id)


def _with_id(block: object, call_id: str) -> object:
    key = _ID_KEYS.get(str(mapping(block).get("type"))[:20])
    return block if key is None or mapping(block).get(key) else {**mapping(block), key: call_id}
