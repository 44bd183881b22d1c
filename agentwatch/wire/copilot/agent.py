"""The format of Copilot."""

from __future__ import annotations

from agentwatch.events import Traits
from agentwatch.wire.agent import Agent
from agentwatch.wire.copilot.recognition import recognises, role
from agentwatch.wire.on_disk.iso_time import time_of
from agentwatch.wire.program import on_first_use

AGENT = Agent(
    name="copilot",
    recognises=recognises,
    role=role,
    decoder=on_first_use("agentwatch.wire.copilot.decoder:Decoder"),
    blocks=on_first_use("agentwatch.wire.copilot.blocks:blocks"),
    traits=Traits(has_result=False),
    time_of=time_of,
)
FORMATS = (AGENT,)
