"""Divides the arguments and the result of a tool call into blocks."""

from __future__ import annotations

from collections.abc import Iterator

from agentwatch.blocks import Block, FieldsBlock
from agentwatch.wire.fields import Fields


def blocks(fields: Fields, call_id: str) -> Iterator[Block]:
    """Yield the blocks of a call in a line that starts or ends it."""
    yield FieldsBlock(f"arguments of {call_id}", fields)
