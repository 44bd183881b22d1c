"""The decoder of Codex's rollouts, the files in which it keeps its sessions.

They are `~/.codex/sessions/YYYY/MM/DD/rollout-*.jsonl`, where `CODEX_HOME` may replace `~/.codex`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from agentwatch.events import Traits
from agentwatch.wire.agent import Agent, AgentDecoder
from agentwatch.wire.codex_rollout.recognition import recognises, role, time_of
from agentwatch.wire.fields import Fields

if TYPE_CHECKING:
    from agentwatch.blocks import Block

__all__ = ["AGENT"]


def _decoder() -> AgentDecoder:
    from agentwatch.wire.codex_rollout.decoder import Decoder

    return Decoder()


def _blocks(fields: Fields, _call_id: str) -> Iterator[Block]:
    from agentwatch.wire.codex_rollout.blocks import blocks

    return blocks(fields)


AGENT = Agent(
    name="codex-rollout",
    agent="codex",
    recognises=recognises,
    role=role,
    decoder=_decoder,
    blocks=_blocks,
    traits=Traits(has_result=False),
    time_of=time_of,
)
