"""Divides the arguments and the result of a call in a transcript into blocks."""

from __future__ import annotations

from collections.abc import Iterator

from agentwatch.agents.claude.blocks import blocks as claude_blocks
from agentwatch.agents.fields import Fields, items, mapping
from agentwatch.session.blocks import Block

_ID_KEYS = (("tool_use", "id"), ("tool_result", "tool_use_id"))


def blocks(fields: Fields, call_id: str) -> Iterator[Block]:
    """Yield the blocks of a call in a line that starts or ends it.

    A progress line contains the line of a subagent. A call without an id of its own has that of its line.
    """
    line = mapping(mapping(fields.get("data")).get("message")) if fields.get("type") == "progress" else fields
    message = mapping(line.get("message"))
    content = [_with_id(mapping(block), call_id) for block in items(message.get("content"))]
    yield from claude_blocks({**line, "message": {**message, "content": content}}, call_id)


def _with_id(block: Fields, call_id: str) -> Fields:
    for kind, key in _ID_KEYS:
        if block.get("type") == kind and not block.get(key):
            return {**block, key: call_id}
    return block
