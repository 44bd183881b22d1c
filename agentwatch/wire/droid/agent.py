"""The format of Droid."""

from __future__ import annotations

from agentwatch.events import Traits
from agentwatch.wire.agent import Agent
from agentwatch.wire.droid.recognition import recognises, role
from agentwatch.wire.program import on_first_use

AGENT = Agent(
    name="droid",
    recognises=recognises,
    role=role,
    decoder=on_first_use("agentwatch.wire.droid.decoder:Decoder"),
    blocks=on_first_use("agentwatch.wire.droid.blocks:line_blocks"),
    traits=Traits(result_is_last_text=True),
)
FORMATS = (AGENT,)
