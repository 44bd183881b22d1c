"""The decoder of Gemini's `stream-json` format, and the parts that the files of Gemini's chats share.

This folder may import what `wire` may, and the modules of `wire` that all agents share. Only
`agentwatch.wire.agents` and `agentwatch.wire.gemini_chat` import from here.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from agentwatch.events import Traits
from agentwatch.wire.agent import Agent, AgentDecoder
from agentwatch.wire.fields import Fields
from agentwatch.wire.gemini.recognition import recognises, role

if TYPE_CHECKING:
    from agentwatch.blocks import Block

__all__ = ["AGENT"]


def _decoder() -> AgentDecoder:
    from agentwatch.wire.gemini.decoder import Decoder  # imported only for a stream of this agent

    return Decoder()


def _blocks(fields: Fields, _call_id: str) -> Iterator[Block]:
    from agentwatch.wire.gemini.blocks import line_blocks

    return line_blocks(fields)


AGENT = Agent(
    name="gemini",
    recognises=recognises,
    role=role,
    decoder=_decoder,
    blocks=_blocks,
    traits=Traits(has_exit_codes=False),
)
