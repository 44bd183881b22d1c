"""The decoder of Claude Code's `stream-json` format, whose grammar Qwen Code and Amp share.

This folder may import what `wire` may, and the modules of `wire` that all agents share. Only
`agentwatch.wire.agents` and the folders of agents of the same family import from here.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from agentwatch.events import Traits
from agentwatch.wire.agent import Agent, AgentDecoder
from agentwatch.wire.claude.recognition import recognises, role
from agentwatch.wire.fields import Fields

if TYPE_CHECKING:
    from agentwatch.blocks import Block

__all__ = ["AGENT", "call_blocks"]


def call_blocks(fields: Fields, call_id: str) -> Iterator[Block]:
    """Yield the blocks of a call in a line that starts or ends it."""
    from agentwatch.wire.claude.blocks import blocks  # imported on first use, as the decoder is

    return blocks(fields, call_id)


def _decoder() -> AgentDecoder:
    from agentwatch.wire.claude.decoder import Decoder
    from agentwatch.wire.claude.dialect import CLAUDE_CODE

    return Decoder(CLAUDE_CODE)


AGENT = Agent(
    name="claude-code",
    agent="claude",
    recognises=recognises,
    role=role,
    decoder=_decoder,
    blocks=call_blocks,
    traits=Traits(result_is_last_text=True),
)
