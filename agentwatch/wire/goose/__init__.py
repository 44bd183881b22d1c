"""The decoder of Goose's stream: `goose run --output-format stream-json`.

It is not verified against a real capture: the lines are those of Goose's source
(`crates/goose-cli/src/session/mod.rs`) and those that others have published for versions 1.6 to 1.51. This
folder may import what `wire` may, and the modules of `wire` that all agents share. Only
`agentwatch.wire.agents` imports from here.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from agentwatch.events import Traits
from agentwatch.wire.agent import Agent, AgentDecoder
from agentwatch.wire.fields import Fields
from agentwatch.wire.goose.recognition import recognises, role

if TYPE_CHECKING:
    from agentwatch.blocks import Block

__all__ = ["AGENT"]


def _decoder() -> AgentDecoder:
    from agentwatch.wire.goose.decoder import Decoder  # imported only for a stream of this agent

    return Decoder()


def _blocks(fields: Fields, call_id: str) -> Iterator[Block]:
    from agentwatch.wire.goose.blocks import call_blocks

    return call_blocks(fields, call_id)


AGENT = Agent(
    name="goose",
    recognises=recognises,
    role=role,
    decoder=_decoder,
    blocks=_blocks,
    traits=Traits(has_times=False),
)
