"""The decoder of the Agent Client Protocol: a log of the JSON-RPC lines of any agent that speaks it.

This folder may import what `wire` may, and the modules of `wire` that all agents share. Only
`agentwatch.wire.agents` imports from here. The facts come from the protocol's published schema (version 1
with its unstable parts, and the draft of version 2) and from captures of gemini-cli 0.61 and opencode 1.18.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from agentwatch.events import Traits
from agentwatch.wire.acp.recognition import recognises, role
from agentwatch.wire.agent import Agent, AgentDecoder
from agentwatch.wire.fields import Fields

if TYPE_CHECKING:
    from agentwatch.blocks import Block

__all__ = ["AGENT"]


def _decoder() -> AgentDecoder:
    from agentwatch.wire.acp.decoder import Decoder  # only for a recording of this format

    return Decoder()


def _blocks(fields: Fields, _call_id: str) -> Iterator[Block]:
    from agentwatch.wire.acp.calls.blocks import blocks

    return blocks(fields)


AGENT = Agent(
    name="acp",
    recognises=recognises,
    role=role,
    decoder=_decoder,
    blocks=_blocks,
    traits=Traits(has_times=False, has_exit_codes=False),
)
