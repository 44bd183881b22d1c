"""The decoder of Qwen Code's chat files, `~/.qwen/projects/*/chats/*.jsonl`.

This folder may import what `wire` may, the modules of `wire` that all agents share, and `wire.qwen` and
`wire.claude`, whose tools and to-do lists it has. Only `agentwatch.wire.agents` imports from here.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from agentwatch.events import Traits
from agentwatch.wire.agent import Agent, AgentDecoder
from agentwatch.wire.fields import Fields
from agentwatch.wire.on_disk.iso_time import time_of
from agentwatch.wire.qwen_chat.recognition import FORMAT, recognises, role

if TYPE_CHECKING:
    from agentwatch.blocks import Block

__all__ = ["AGENT"]


def _decoder() -> AgentDecoder:
    from agentwatch.wire.qwen_chat.decoder import Decoder  # 3 ms, which other formats do not need

    return Decoder()


def _blocks(fields: Fields, call_id: str) -> Iterable[Block]:
    from agentwatch.wire.qwen_chat.blocks import blocks

    return blocks(fields, call_id)


AGENT = Agent(
    name=FORMAT,
    agent="qwen",
    recognises=recognises,
    role=role,
    decoder=_decoder,
    blocks=_blocks,
    traits=Traits(has_result=False),
    time_of=time_of,
)
"""Decodes the chat files of Qwen Code 0.21 to 0.24.

The format is taken from captures of 2026 and from the vendor's source (`chatRecordingService.ts`). A chat has
no result line. Newer versions write a record at the end of some turns (`turn_result`).
"""
