"""The decoder of the files in which Gemini keeps its chats: `~/.gemini/tmp/*/chats/session-*.jsonl`.

Older versions wrote one JSON document, which `agentwatch.sources.stores` turns into the same lines. This
folder may import what `wire` may, and from `agentwatch.wire.gemini`. Only `agentwatch.wire.agents` imports
from here.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from agentwatch.events import Traits
from agentwatch.wire.agent import Agent, AgentDecoder
from agentwatch.wire.fields import Fields
from agentwatch.wire.gemini_chat.recognition import recognises, role

if TYPE_CHECKING:
    from agentwatch.blocks import Block

__all__ = ["AGENT"]


def _decoder() -> AgentDecoder:
    from agentwatch.wire.gemini_chat.decoder import Decoder  # imported only for a file of this agent

    return Decoder()


def _blocks(fields: Fields, call_id: str) -> Iterator[Block]:
    from agentwatch.wire.gemini_chat.blocks import call_blocks

    return call_blocks(fields, call_id)


def _time_of(fields: Fields) -> int | None:
    from agentwatch.wire.gemini_chat.line_time import line_time

    return line_time(fields)


AGENT = Agent(
    name="gemini-chat",
    agent="gemini",
    recognises=recognises,
    role=role,
    decoder=_decoder,
    blocks=_blocks,
    traits=Traits(announces_calls=False, has_result=False, has_exit_codes=False),
    time_of=_time_of,
)
