"""The formats of Qwen Code."""

from __future__ import annotations

from agentwatch.agents.agent import Agent
from agentwatch.agents.claude.recognition import is_init, is_qwens_init, role
from agentwatch.agents.fields import Fields
from agentwatch.agents.on_disk import time_of
from agentwatch.agents.program import on_first_use
from agentwatch.agents.qwen import chat_recognition as chat
from agentwatch.session.events import Traits


def _recognises(fields: Fields) -> bool:
    return is_init(fields) and is_qwens_init(fields)


AGENT = Agent(
    name="qwen",
    recognises=_recognises,
    role=role,
    decoder=on_first_use("agentwatch.agents.qwen.stream:decoder"),
    blocks=on_first_use("agentwatch.agents.claude.blocks:blocks"),
    traits=Traits(has_times=False, has_exit_codes=False, result_is_last_text=True),
)
CHAT = Agent(
    name=chat.FORMAT,
    agent="qwen",
    recognises=chat.recognises,
    role=chat.role,
    decoder=on_first_use("agentwatch.agents.qwen.chat:Decoder"),
    blocks=on_first_use("agentwatch.agents.qwen.blocks:blocks"),
    traits=Traits(has_result=False),
    time_of=time_of,
)
"""Decodes the chat files of Qwen Code 0.21 to 0.24.

The format is taken from captures of 2026 and from the vendor's source (`chatRecordingService.ts`). A chat has
no result line. Newer versions write a record at the end of some turns (`turn_result`).
"""
FORMATS = (CHAT, AGENT)
