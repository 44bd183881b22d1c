"""The decoder of Claude Code's `stream-json` format, whose grammar Qwen Code and Amp share.

This folder may import what `wire` may, and the modules of `wire` that all agents share. Only
`agentwatch.wire.agents` and the folders of agents of the same family import from here.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from agentwatch.events import Traits
from agentwatch.wire.agent import Agent, AgentDecoder
from agentwatch.wire.claude.recognition import (
    family_may_write,
    family_recognises,
    recognises,
    role,
)
from agentwatch.wire.fields import Fields

if TYPE_CHECKING:
    from agentwatch.blocks import Block

__all__ = ["AGENT", "FAMILY", "call_blocks"]


def call_blocks(fields: Fields, call_id: str) -> Iterator[Block]:
    """Yield the blocks of a call in a line that starts or ends it."""
    from agentwatch.wire.claude.blocks import blocks  # imported on first use, as the decoder is

    return blocks(fields, call_id)


def _decoder() -> AgentDecoder:
    from agentwatch.wire.claude.decoder import Decoder
    from agentwatch.wire.claude.dialect import CLAUDE_CODE

    return Decoder(CLAUDE_CODE)


def _family_decoder() -> AgentDecoder:
    from agentwatch.wire.agents import detect
    from agentwatch.wire.claude.decoder import Decoder
    from agentwatch.wire.claude.dialect import FAMILY as FAMILY_DIALECT

    return Decoder(FAMILY_DIALECT, detect)


AGENT = Agent(
    name="claude-code",
    agent="claude",
    recognises=recognises,
    role=role,
    decoder=_decoder,
    blocks=call_blocks,
    traits=Traits(result_is_last_text=True),
)
FAMILY = Agent(
    name="claude-family",
    recognises=family_recognises,
    role=role,
    decoder=_family_decoder,
    blocks=call_blocks,
    traits=Traits(result_is_last_text=True),
    may_write=family_may_write,
)
"""A stream whose head is missing, and whose lines Claude Code, Qwen Code and Amp write alike."""
