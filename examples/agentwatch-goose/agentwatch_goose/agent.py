"""The format of Goose."""

from __future__ import annotations

from agentwatch.agents.agent import Agent
from agentwatch.agents.first_use import on_first_use
from agentwatch.session.events import Traits
from agentwatch_goose.recognition import recognises, role

AGENT = Agent(
    name="goose",
    recognises=recognises,
    role=role,
    decoder=on_first_use("agentwatch_goose.decoder:Decoder"),
    blocks=on_first_use("agentwatch_goose.blocks:call_blocks"),
    traits=Traits(has_times=False),
)
FORMATS = (AGENT,)
