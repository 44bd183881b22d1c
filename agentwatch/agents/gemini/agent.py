"""The formats of the Gemini CLI."""

from __future__ import annotations

from agentwatch.agents.agent import Agent
from agentwatch.agents.gemini import chat_recognition as chat
from agentwatch.agents.gemini.recognition import recognises, role
from agentwatch.agents.program import on_first_use
from agentwatch.session.events import Traits

AGENT = Agent(
    name="gemini",
    recognises=recognises,
    role=role,
    decoder=on_first_use("agentwatch.agents.gemini.stream:Decoder"),
    blocks=on_first_use("agentwatch.agents.gemini.blocks:line_blocks"),
    traits=Traits(has_exit_codes=False),
)
CHAT = Agent(
    name="gemini-chat",
    agent="gemini",
    recognises=chat.recognises,
    role=chat.role,
    decoder=on_first_use("agentwatch.agents.gemini.chat:Decoder"),
    blocks=on_first_use("agentwatch.agents.gemini.chat_blocks:call_blocks"),
    traits=Traits(announces_calls=False, has_result=False, has_exit_codes=False),
    time_of=on_first_use("agentwatch.agents.gemini.chat:line_time"),
)
FORMATS = (CHAT, AGENT)
