"""The formats of Pi: the stream of `pi --mode json`, and its session files.

Sources: captures of Pi 0.73 and 0.74, and the types of Pi up to 1.0 (`AgentSessionEvent`, `SessionEntry`).
The forks omp and oh-my-pi write dialects of both formats.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from agentwatch.events import Traits
from agentwatch.wire.agent import Agent, AgentDecoder
from agentwatch.wire.fields import Fields
from agentwatch.wire.on_disk.iso_time import time_of
from agentwatch.wire.pi.recognition import (
    is_entry,
    is_event,
    is_header,
    role_of_entry,
    role_of_event,
)

if TYPE_CHECKING:
    from agentwatch.blocks import Block

__all__ = ["AGENT", "SESSION"]


def _decoder() -> AgentDecoder:
    from agentwatch.wire.pi.stream import Decoder

    return Decoder()


def _session_decoder() -> AgentDecoder:
    from agentwatch.wire.pi.session_file import Decoder

    return Decoder()


def _blocks(fields: Fields, call_id: str) -> Iterator[Block]:
    from agentwatch.wire.pi.blocks import blocks

    return blocks(fields, call_id)


AGENT = Agent(
    name="pi",
    recognises=is_event,
    role=role_of_event,
    decoder=_decoder,
    blocks=_blocks,
    traits=Traits(has_times=False),
    may_write=is_header,
)
"""The stream. Its messages have times, its calls have none."""

SESSION = Agent(
    name="pi-session",
    agent="pi",
    recognises=is_entry,
    role=role_of_entry,
    decoder=_session_decoder,
    blocks=_blocks,
    traits=Traits(has_result=False),
    time_of=time_of,
    may_write=is_header,
)
"""The session files in `~/.pi/agent/sessions`."""
