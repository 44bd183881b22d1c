"""Recognises the lines of Gemini's `stream-json`, and finds the role of a line."""

from __future__ import annotations

from agentwatch.agents.agent import LineRole
from agentwatch.agents.fields import Fields

_OTHER_AGENTS_MARKS = frozenset({"session_id", "sessionID", "sessionId", "uuid", "part"})
_STATUSES = frozenset(("success", "error"))


def recognises(fields: Fields) -> bool:
    """Return whether only Gemini can have written a line, judged by its type and its top-level keys.

    Its init has the id of the session. All other lines have a time in ISO 8601 and no id of a session.
    """
    kind = fields.get("type")
    if kind == "init":
        return isinstance(fields.get("session_id"), str) and "model" in fields
    if not isinstance(fields.get("timestamp"), str) or not _OTHER_AGENTS_MARKS.isdisjoint(fields):
        return False
    match kind:
        case "message":
            return "message" not in fields and "role" in fields and "content" in fields
        case "tool_use":
            return "tool_id" in fields and "tool_name" in fields
        case "tool_result":
            return "tool_id" in fields
        case "error":
            return "severity" in fields
        case "result":
            status = fields.get("status")
            return isinstance(status, str) and status in _STATUSES
    return False


def role(fields: Fields) -> LineRole:
    """Return the role of a line."""
    match fields.get("type"):
        case "init":
            return LineRole.START
        case "message":
            return LineRole.START if fields.get("role") == "user" else LineRole.OTHER
        case "tool_use" | "tool_result":
            return LineRole.CALL
    return LineRole.OTHER
