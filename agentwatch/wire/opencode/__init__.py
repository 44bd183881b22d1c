"""The format of opencode: the lines of `opencode run --format json`, and those made of its stored sessions.

A stored session is a set of rows in `opencode.db`, or of JSON files in the older folder `storage`. They are
turned into lines by `agentwatch.sources.stores.opencode`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from agentwatch.events import Traits
from agentwatch.wire.agent import Agent, AgentDecoder
from agentwatch.wire.fields import Fields
from agentwatch.wire.opencode.recognition import recognises, role, time_of

if TYPE_CHECKING:
    from agentwatch.blocks import Block

__all__ = ["AGENT"]


def _decoder() -> AgentDecoder:
    from agentwatch.wire.opencode.decoder import Decoder

    return Decoder()


def _blocks(fields: Fields, _call_id: str) -> Iterator[Block]:
    from agentwatch.wire.opencode.blocks import blocks

    return blocks(fields)


def _unknown_fields(fields: Fields) -> Iterator[tuple[str, object]]:
    from agentwatch.wire.opencode.known_fields import unknown_fields

    return unknown_fields(fields)


AGENT = Agent(
    name="opencode",
    recognises=recognises,
    role=role,
    decoder=_decoder,
    blocks=_blocks,
    traits=Traits(announces_calls=False, has_result=False),
    time_of=time_of,
    unknown_fields=_unknown_fields,
)
