"""The decoder of Claude Code's transcripts, `~/.claude/projects/*/*.jsonl`.

This folder may import what `wire` may, the modules of `wire` that all agents share, and `wire.claude`. Only
`agentwatch.wire.agents` imports from here.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from agentwatch.events import Traits
from agentwatch.wire.agent import Agent, AgentDecoder
from agentwatch.wire.claude_transcript.recognition import FORMAT, recognises, role
from agentwatch.wire.fields import Fields
from agentwatch.wire.on_disk.iso_time import time_of

if TYPE_CHECKING:
    from agentwatch.blocks import Block

__all__ = ["AGENT"]


def _decoder() -> AgentDecoder:
    from agentwatch.wire.claude_transcript.decoder import Decoder  # 3 ms, which other formats do not need

    return Decoder()


def _blocks(fields: Fields, call_id: str) -> Iterable[Block]:
    from agentwatch.wire.claude_transcript.blocks import blocks

    return blocks(fields, call_id)


AGENT = Agent(
    name=FORMAT,
    agent="claude",
    recognises=recognises,
    role=role,
    decoder=_decoder,
    blocks=_blocks,
    traits=Traits(has_result=False),
    time_of=time_of,
)
"""Decodes the transcripts of Claude Code 1.0 to 2.1.

The format is taken from real transcripts of October 2025 to November 2026. A transcript has no result line
and no line that starts the run. Its lines are a tree. Exit codes are only in the texts of failed commands.
"""
