"""Recognises the lines of Cursor's transcripts, and reads the parts of a message."""

from __future__ import annotations

from agentwatch.agents.agent import LineRole
from agentwatch.agents.fields import Fields, items, mapping

FORMAT = "cursor-transcript"
_ROLES = frozenset(("user", "assistant"))


def parts_of(fields: Fields) -> list[Fields]:
    """Return the parts of the message of a line. A text alone is one part."""
    content = mapping(fields.get("message")).get("content")
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return [mapping(part) for part in items(content)]


def parts_of_type(fields: Fields, kind: str) -> list[Fields]:
    """Return the parts of one type: `tool_use`."""
    return [part for part in parts_of(fields) if part.get("type") == kind]


def recognises(fields: Fields) -> bool:
    """Return whether only Cursor can have written a line, in a transcript.

    Its messages have their role beside them, and no type. The line that ends a turn has no message, and is
    not taken for Cursor's in the recording of another agent.
    """
    role = fields.get("role")
    if "type" in fields or not isinstance(role, str) or role not in _ROLES:
        return False
    message = fields.get("message")
    return isinstance(message, dict) and isinstance(message.get("content"), list)


def role(fields: Fields) -> LineRole:
    """Return the role of a line."""
    if parts_of_type(fields, "tool_use") or parts_of_type(fields, "tool_result"):
        return LineRole.CALL
    return LineRole.START if fields.get("role") == "user" else LineRole.OTHER
