"""Cursor's `stream-json` format. Only `agentwatch.wire.agents` imports from here."""

from __future__ import annotations

from collections.abc import Iterator

from agentwatch.blocks import Block
from agentwatch.events import Traits
from agentwatch.wire.agent import Agent
from agentwatch.wire.cursor.blocks import REWORDED, argument_blocks, result_blocks
from agentwatch.wire.cursor.decoder import FORMAT, Decoder, read_arguments, read_tool
from agentwatch.wire.cursor.known_fields import unknown_fields
from agentwatch.wire.cursor.recognition import recognises, role
from agentwatch.wire.fields import Fields

__all__ = ["AGENT"]


def _blocks(fields: Fields) -> Iterator[Block]:
    """Yield the blocks of a line of a tool call: those of its result, or of its arguments."""
    _, _, body = read_tool(fields)
    if "result" in body:
        yield from result_blocks(body["result"])
    else:
        yield from argument_blocks(read_arguments(body))


AGENT = Agent(
    name=FORMAT,
    recognises=recognises,
    role=role,
    decoder=Decoder,
    blocks=_blocks,
    traits=Traits(),
    unknown_fields=unknown_fields,
    reworded=REWORDED,
)
