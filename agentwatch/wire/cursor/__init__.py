"""The decoder of Cursor's `stream-json` format.

This folder may import what `wire` may, and the modules of `wire` that all agents share. Only
`agentwatch.wire.agents` imports from here.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from agentwatch.events import Traits
from agentwatch.wire.agent import Agent
from agentwatch.wire.cursor.decoder import FORMAT, Decoder
from agentwatch.wire.cursor.recognition import may_write, recognises, role
from agentwatch.wire.cursor.tools import SUBAGENT_STEPS
from agentwatch.wire.fields import Fields

if TYPE_CHECKING:
    from agentwatch.blocks import Block

__all__ = ["AGENT"]


def _blocks(fields: Fields, _call_id: str) -> Iterator[Block]:
    from agentwatch.wire.cursor.blocks import blocks  # 2 ms, which printing does not need

    return blocks(fields)


def _unknown_fields(fields: Fields) -> Iterator[tuple[str, object]]:
    from agentwatch.wire.cursor.known_fields import unknown_fields

    return unknown_fields(fields)


AGENT = Agent(
    name=FORMAT,
    recognises=recognises,
    role=role,
    decoder=Decoder,
    blocks=_blocks,
    traits=Traits(),
    may_write=may_write,
    unknown_fields=_unknown_fields,
    reworded=f'"{SUBAGENT_STEPS}"'.encode(),
)
