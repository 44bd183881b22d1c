"""The format of Copilot."""

from __future__ import annotations

from agentwatch.agents.agent import Agent
from agentwatch.agents.copilot.recognition import recognises, role
from agentwatch.agents.on_disk import time_of
from agentwatch.agents.program import on_first_use
from agentwatch.session.events import Traits

AGENT = Agent(
    name="copilot",
    recognises=recognises,
    role=role,
    decoder=on_first_use("agentwatch.agents.copilot.stream:Decoder"),
    blocks=on_first_use("agentwatch.agents.copilot.blocks:blocks"),
    traits=Traits(has_result=False),
    time_of=time_of,
)
FORMATS = (AGENT,)
