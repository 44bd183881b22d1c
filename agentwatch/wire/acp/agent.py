"""The format of the Agent Client Protocol."""

from __future__ import annotations

from agentwatch.events import Traits
from agentwatch.wire.acp.recognition import recognises, role
from agentwatch.wire.agent import Agent
from agentwatch.wire.program import on_first_use

AGENT = Agent(
    name="acp",
    recognises=recognises,
    role=role,
    decoder=on_first_use("agentwatch.wire.acp.decoder:Decoder"),
    blocks=on_first_use("agentwatch.wire.acp.calls.blocks:blocks"),
    traits=Traits(has_times=False, has_exit_codes=False),
)
FORMATS = (AGENT,)
