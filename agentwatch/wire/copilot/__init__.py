"""The format of the GitHub Copilot CLI: `events.jsonl` on disk, and the stream of `--output-format json`.

Both have the same lines. The stream has deltas and other passing events in addition, no `session.start`, and
a result line at its end. Sources: files of Copilot CLI 0.0.420 to 1.0.102, captures of its stream published
by others (1.0.63 to 1.0.76), and the types of `@github/copilot-sdk` (`session-events.ts`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from agentwatch.events import Traits
from agentwatch.wire.agent import Agent, AgentDecoder
from agentwatch.wire.copilot.recognition import recognises, role
from agentwatch.wire.fields import Fields
from agentwatch.wire.on_disk.iso_time import time_of

if TYPE_CHECKING:
    from agentwatch.blocks import Block

__all__ = ["AGENT"]


def _decoder() -> AgentDecoder:
    from agentwatch.wire.copilot.decoder import Decoder

    return Decoder()


def _blocks(fields: Fields, _call_id: str) -> Iterator[Block]:
    from agentwatch.wire.copilot.blocks import blocks

    return blocks(fields)


AGENT = Agent(
    name="copilot",
    recognises=recognises,
    role=role,
    decoder=_decoder,
    blocks=_blocks,
    traits=Traits(has_result=False),
    time_of=time_of,
)
