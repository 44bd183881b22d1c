"""The decoder of Cursor's transcripts, `~/.cursor/projects/*/agent-transcripts/*/*.jsonl`.

This folder may import what `wire` may, the modules of `wire` that all agents share, `wire.cursor`, whose
tools and to-do lists it has, and `wire.claude`, whose arguments and results it has. Only
`agentwatch.wire.agents` imports from here.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from agentwatch.events import Traits
from agentwatch.wire.agent import Agent, AgentDecoder
from agentwatch.wire.cursor_transcript.recognition import FORMAT, recognises, role
from agentwatch.wire.fields import Fields

if TYPE_CHECKING:
    from agentwatch.blocks import Block

__all__ = ["AGENT"]


def _decoder() -> AgentDecoder:
    from agentwatch.wire.cursor_transcript.decoder import Decoder  # which other formats do not need

    return Decoder()


def _blocks(fields: Fields, call_id: str) -> Iterable[Block]:
    from agentwatch.wire.cursor_transcript.blocks import blocks

    return blocks(fields, call_id)


AGENT = Agent(
    name=FORMAT,
    agent="cursor",
    recognises=recognises,
    role=role,
    decoder=_decoder,
    blocks=_blocks,
    traits=Traits(announces_calls=False, has_result=False, has_times=False, has_exit_codes=False),
)
"""Decodes the transcripts that Cursor's editor and its CLI keep.

The format is taken from files of 2026 that others have published. A transcript has the prompts, the answers
and the calls. It has no times, no ids of calls and no results, and neither model nor working directory. Newer
versions write a line at the end of most turns (`turn_ended`).
"""
