"""The format of opencode."""

from __future__ import annotations

from agentwatch.events import Traits
from agentwatch.wire.agent import Agent
from agentwatch.wire.opencode.recognition import recognises, role, time_of
from agentwatch.wire.program import on_first_use

AGENT = Agent(
    name="opencode",
    recognises=recognises,
    role=role,
    decoder=on_first_use("agentwatch.wire.opencode.decoder:Decoder"),
    blocks=on_first_use("agentwatch.wire.opencode.blocks:blocks"),
    traits=Traits(announces_calls=False, has_result=False),
    time_of=time_of,
    unknown_fields=on_first_use("agentwatch.wire.opencode.known_fields:unknown_fields"),
)
FORMATS = (AGENT,)
