"""The format of Droid."""

from __future__ import annotations

from agentwatch.agents.agent import Agent
from agentwatch.agents.droid.recognition import recognises, role
from agentwatch.agents.program import on_first_use
from agentwatch.session.events import Traits

AGENT = Agent(
    name="droid",
    recognises=recognises,
    role=role,
    decoder=on_first_use("agentwatch.agents.droid.stream:Decoder"),
    blocks=on_first_use("agentwatch.agents.droid.blocks:line_blocks"),
    traits=Traits(result_is_last_text=True),
)
FORMATS = (AGENT,)
