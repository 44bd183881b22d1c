"""The format of opencode."""

from __future__ import annotations

from agentwatch.agents.agent import Agent
from agentwatch.agents.opencode.recognition import recognises, role, time_of
from agentwatch.agents.program import on_first_use
from agentwatch.session.events import Traits

AGENT = Agent(
    name="opencode",
    recognises=recognises,
    role=role,
    decoder=on_first_use("agentwatch.agents.opencode.stream:Decoder"),
    blocks=on_first_use("agentwatch.agents.opencode.blocks:blocks"),
    traits=Traits(announces_calls=False, has_result=False),
    time_of=time_of,
    unknown_fields=on_first_use("agentwatch.agents.opencode.known_fields:unknown_fields"),
)
FORMATS = (AGENT,)
