"""The formats of the Gemini CLI."""

from __future__ import annotations

from agentwatch.events import Traits
from agentwatch.wire.agent import Agent
from agentwatch.wire.gemini.recognition import recognises, role
from agentwatch.wire.gemini_chat import recognition as chat
from agentwatch.wire.program import on_first_use

AGENT = Agent(
    name="gemini",
    recognises=recognises,
    role=role,
    decoder=on_first_use("agentwatch.wire.gemini.decoder:Decoder"),
    blocks=on_first_use("agentwatch.wire.gemini.blocks:line_blocks"),
    traits=Traits(has_exit_codes=False),
)
CHAT = Agent(
    name="gemini-chat",
    agent="gemini",
    recognises=chat.recognises,
    role=chat.role,
    decoder=on_first_use("agentwatch.wire.gemini_chat.decoder:Decoder"),
    blocks=on_first_use("agentwatch.wire.gemini_chat.blocks:call_blocks"),
    traits=Traits(announces_calls=False, has_result=False, has_exit_codes=False),
    time_of=on_first_use("agentwatch.wire.gemini_chat.line_time:line_time"),
)
FORMATS = (CHAT, AGENT)
