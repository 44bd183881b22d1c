"""The formats of Qwen Code."""

from __future__ import annotations

from agentwatch.events import Traits
from agentwatch.wire.agent import Agent
from agentwatch.wire.claude.recognition import is_init, is_qwens_init, role
from agentwatch.wire.fields import Fields
from agentwatch.wire.on_disk.iso_time import time_of
from agentwatch.wire.program import on_first_use
from agentwatch.wire.qwen_chat import recognition as chat


def _recognises(fields: Fields) -> bool:
    return is_init(fields) and is_qwens_init(fields)


AGENT = Agent(
    name="qwen",
    recognises=_recognises,
    role=role,
    decoder=on_first_use("agentwatch.wire.qwen.dialect:decoder"),
    blocks=on_first_use("agentwatch.wire.claude.blocks:blocks"),
    traits=Traits(has_times=False, has_exit_codes=False, result_is_last_text=True),
)
CHAT = Agent(
    name=chat.FORMAT,
    agent="qwen",
    recognises=chat.recognises,
    role=chat.role,
    decoder=on_first_use("agentwatch.wire.qwen_chat.decoder:Decoder"),
    blocks=on_first_use("agentwatch.wire.qwen_chat.blocks:blocks"),
    traits=Traits(has_result=False),
    time_of=time_of,
)
"""Decodes the chat files of Qwen Code 0.21 to 0.24.

The format is taken from captures of 2026 and from the vendor's source (`chatRecordingService.ts`). A chat has
no result line. Newer versions write a record at the end of some turns (`turn_result`).
"""
FORMATS = (CHAT, AGENT)
