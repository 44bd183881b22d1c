"""The format of the Agent Client Protocol."""

from __future__ import annotations

from agentwatch.agents.acp.recognition import recognises, role
from agentwatch.agents.agent import Agent
from agentwatch.agents.program import on_first_use
from agentwatch.session.events import Traits

AGENT = Agent(
    name="acp",
    recognises=recognises,
    role=role,
    decoder=on_first_use("agentwatch.agents.acp.stream:Decoder"),
    blocks=on_first_use("agentwatch.agents.acp.blocks:blocks"),
    traits=Traits(has_times=False, has_exit_codes=False),
)
FORMATS = (AGENT,)
