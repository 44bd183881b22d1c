"""The decoder of the stream of Factory's Droid: `droid exec --output-format stream-json`.

It is not verified against a real capture: the lines are those that others have published for droid 0.32 to
0.116. This folder may import what `wire` may, and the modules of `wire` that all agents share. Only
`agentwatch.wire.agents` imports from here.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from agentwatch.events import Traits
from agentwatch.wire.agent import Agent, AgentDecoder
from agentwatch.wire.droid.recognition import recognises, role
from agentwatch.wire.fields import Fields

if TYPE_CHECKING:
    from agentwatch.blocks import Block

__all__ = ["AGENT"]


def _decoder() -> AgentDecoder:
    from agentwatch.wire.droid.decoder import Decoder  # imported only for a stream of this agent

    return Decoder()


def _blocks(fields: Fields, _call_id: str) -> Iterator[Block]:
    from agentwatch.wire.droid.blocks import line_blocks

    return line_blocks(fields)


AGENT = Agent(
    name="droid",
    recognises=recognises,
    role=role,
    decoder=_decoder,
    blocks=_blocks,
    traits=Traits(result_is_last_text=True),
)
