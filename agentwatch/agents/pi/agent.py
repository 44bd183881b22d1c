"""The formats of Pi."""

from __future__ import annotations

from agentwatch.agents.agent import Agent
from agentwatch.agents.on_disk import time_of
from agentwatch.agents.pi.recognition import is_entry, is_event, is_header, role_of_entry, role_of_event
from agentwatch.agents.program import on_first_use
from agentwatch.session.events import Traits

AGENT = Agent(
    name="pi",
    recognises=is_event,
    role=role_of_event,
    decoder=on_first_use("agentwatch.agents.pi.stream:Decoder"),
    blocks=on_first_use("agentwatch.agents.pi.blocks:blocks"),
    traits=Traits(has_times=False),
    may_write=is_header,
)
"""The stream. Its messages have times, its calls have none."""

SESSION = Agent(
    name="pi-session",
    agent="pi",
    recognises=is_entry,
    role=role_of_entry,
    decoder=on_first_use("agentwatch.agents.pi.session_file:Decoder"),
    blocks=on_first_use("agentwatch.agents.pi.blocks:blocks"),
    traits=Traits(has_result=False),
    time_of=time_of,
    may_write=is_header,
)
"""The session files in `~/.pi/agent/sessions`."""
FORMATS = (AGENT, SESSION)
