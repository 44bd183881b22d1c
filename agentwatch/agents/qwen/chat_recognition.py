"""Recognises the lines of Qwen Code's chat files."""

from __future__ import annotations

from agentwatch.agents.agent import LineRole
from agentwatch.agents.fields import Fields, items, mapping

FORMAT = "qwen-chat"
_TYPES = frozenset(("user", "assistant", "tool_result", "system"))
_OWN_FIELDS = ("provenance", "systemPayload", "toolCallResult", "usageMetadata")


def parts_of(fields: Fields) -> list[Fields]:
    """Return the parts of the message of a line."""
    return [mapping(part) for part in items(mapping(fields.get("message")).get("parts"))]


def recognises(fields: Fields) -> bool:
    """Return whether only Qwen Code can have written a line, in a chat file.

    The envelope is that of Claude Code's transcripts; the messages are Gemini's, with `parts`.
    """
    kind = fields.get("type")
    if "sessionId" not in fields or "uuid" not in fields or not isinstance(kind, str) or kind not in _TYPES:
        return False
    has_parts = isinstance(mapping(fields.get("message")).get("parts"), list)
    return has_parts or any(name in fields for name in _OWN_FIELDS)


def role(fields: Fields) -> LineRole:
    """Return the role of a line."""
    kind = fields.get("type")
    if any("functionCall" in part or "functionResponse" in part for part in parts_of(fields)):
        return LineRole.CALL
    return LineRole.START if kind == "user" else LineRole.OTHER
