"""The decoder of Amp's `--stream-json` format, whose grammar is Claude Code's."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from agentwatch.events import Traits
from agentwatch.wire.agent import Agent, AgentDecoder
from agentwatch.wire.claude.recognition import is_amps_init, is_init, role
from agentwatch.wire.fields import Fields, text

if TYPE_CHECKING:
    from agentwatch.blocks import Block

__all__ = ["AGENT"]


def _recognises(fields: Fields) -> bool:
    """Return whether only Amp can have written a line.

    That is its init, a line of one of its threads, or the result without a session of a failed start.
    """
    if is_init(fields):
        return is_amps_init(fields)
    if fields.get("type") == "result" and "session_id" not in fields:
        return fields.get("is_error") is True and isinstance(fields.get("error"), str)
    is_shared = fields.get("type") in ("assistant", "user", "result")
    return is_shared and "uuid" not in fields and (text(fields, "session_id") or "").startswith("T-")


def _decoder() -> AgentDecoder:
    from agentwatch.wire.amp.dialect import AMP
    from agentwatch.wire.claude.decoder import Decoder

    return Decoder(AMP)


def _blocks(fields: Fields, call_id: str) -> Iterator[Block]:
    from agentwatch.wire.amp.blocks import amp_blocks

    return amp_blocks(fields, call_id)


AGENT = Agent(
    name="amp",
    recognises=_recognises,
    role=role,
    decoder=_decoder,
    blocks=_blocks,
    traits=Traits(has_times=False, result_is_last_text=True),
)
