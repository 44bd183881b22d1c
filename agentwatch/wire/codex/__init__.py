"""The decoder of `codex exec --json`.

Its parts that read commands, changes and results also serve `agentwatch.wire.codex_rollout`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from agentwatch.events import Traits
from agentwatch.wire.agent import Agent, AgentDecoder
from agentwatch.wire.codex.recognition import recognises, role
from agentwatch.wire.fields import Fields

if TYPE_CHECKING:
    from agentwatch.blocks import Block

__all__ = ["AGENT"]


def _decoder() -> AgentDecoder:
    from agentwatch.wire.codex.decoder import Decoder

    return Decoder()


def _blocks(fields: Fields, _call_id: str) -> Iterator[Block]:
    from agentwatch.wire.codex.blocks import blocks

    return blocks(fields)


AGENT = Agent(
    name="codex",
    recognises=recognises,
    role=role,
    decoder=_decoder,
    blocks=_blocks,
    traits=Traits(has_times=False),
)
