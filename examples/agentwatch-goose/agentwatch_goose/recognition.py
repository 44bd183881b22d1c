"""Recognises the lines of Goose's stream, and finds the role of a line."""

from __future__ import annotations

from agentwatch.agents.agent import LineRole
from agentwatch.agents.fields import Fields, items, mapping

_CALLS = frozenset(("toolRequest", "toolResponse", "frontendToolRequest"))


def recognises(fields: Fields) -> bool:
    """Return whether only Goose can have written a line, judged by its type and its top-level keys."""
    match fields.get("type"):
        case "message":
            message = mapping(fields.get("message"))
            is_own = "id" not in fields and "timestamp" not in fields and "uuid" not in fields
            return is_own and "role" in message and "created" in message
        case "complete":
            return "total_tokens" in fields
        case "notification":
            return "extension_id" in fields
    return False


def role(fields: Fields) -> LineRole:
    """Return the role of a line."""
    if fields.get("type") != "message":
        return LineRole.OTHER
    message = mapping(fields.get("message"))
    kinds = [mapping(part).get("type") for part in items(message.get("content"))]
    if any(isinstance(kind, str) and kind in _CALLS for kind in kinds):
        return LineRole.CALL
    return LineRole.START if message.get("role") == "user" else LineRole.OTHER
