"""The formats of Qwen Code."""

from __future__ import annotations

from agentwatch.agents.agent import Agent, LineRole
from agentwatch.agents.claude.agent import is_init, is_qwens_init, role
from agentwatch.agents.fields import Fields, items, mapping
from agentwatch.agents.first_use import on_first_use
from agentwatch.agents.on_disk import time_of
from agentwatch.session.events import Traits

CHAT_FORMAT = "qwen-chat"
_CHAT_TYPES = frozenset(("user", "assistant", "tool_result", "system"))
_OWN_FIELDS = ("provenance", "systemPayload", "toolCallResult", "usageMetadata")


def parts_of(fields: Fields) -> list[Fields]:
    return [mapping(part) for part in items(mapping(fields.get("message")).get("parts"))]


def recognises_chat(fields: Fields) -> bool:
    """The envelope is that of Claude Code's transcripts; the messages are Gemini's, with `parts`."""
    kind = fields.get("type")
    if (
        "sessionId" not in fields
        or "uuid" not in fields
        or not isinstance(kind, str)
        or kind not in _CHAT_TYPES
    ):
        return False
    has_parts = isinstance(mapping(fields.get("message")).get("parts"), list)
    return has_parts or any(name in fields for name in _OWN_FIELDS)


def chat_role(fields: Fields) -> LineRole:
    kind = fields.get("type")
    if any("functionCall" in part or "functionResponse" in part for part in parts_of(fields)):
        return LineRole.CALL
    return LineRole.START if kind == "user" else LineRole.OTHER


AGENT = Agent(
    name="qwen",
    recognises=lambda fields: is_init(fields) and is_qwens_init(fields),
    role=role,
    decoder=on_first_use("agentwatch.agents.qwen.stream:decoder"),
    blocks=on_first_use("agentwatch.agents.claude.blocks:blocks"),
    traits=Traits(has_times=False, has_exit_codes=False, result_is_last_text=True),
)
CHAT = Agent(
    name=CHAT_FORMAT,
    agent="qwen",
    recognises=recognises_chat,
    role=chat_role,
    decoder=on_first_use("agentwatch.agents.qwen.chat:QwenChatDecoder"),
    blocks=on_first_use("agentwatch.agents.qwen.chat:blocks"),
    traits=Traits(has_result=False),
    time_of=time_of,
)
"""Qwen Code 0.21 to 0.24, by captures of 2026 and the vendor's source (`chatRecordingService.ts`). No
line is a result; newer versions write a record at the end of some turns (`turn_result`)."""
FORMATS = (CHAT, AGENT)
