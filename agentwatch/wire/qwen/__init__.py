"""The decoder of Qwen Code's `stream-json` format, whose grammar is Claude Code's."""

from __future__ import annotations

from agentwatch.events import Traits
from agentwatch.wire.agent import Agent, AgentDecoder
from agentwatch.wire.claude import call_blocks
from agentwatch.wire.claude.recognition import is_init, is_qwens_init, role
from agentwatch.wire.fields import Fields

__all__ = ["AGENT"]


def _recognises(fields: Fields) -> bool:
    return is_init(fields) and is_qwens_init(fields)


def _decoder() -> AgentDecoder:
    from agentwatch.wire.claude.decoder import Decoder
    from agentwatch.wire.qwen.dialect import QWEN

    return Decoder(QWEN)


AGENT = Agent(
    name="qwen",
    recognises=_recognises,
    role=role,
    decoder=_decoder,
    blocks=call_blocks,
    traits=Traits(has_times=False, has_exit_codes=False, result_is_last_text=True),
)
