"""Recognises the lines of Gemini's chat files, and finds the role of a line."""

from __future__ import annotations

from agentwatch.agents.agent import LineRole
from agentwatch.agents.fields import Fields

_TYPES = frozenset(("user", "gemini", "model", "info", "error", "warning"))
_OTHER_AGENTS_MARKS = frozenset(
    ("session_id", "sessionID", "sessionId", "uuid", "parentUuid", "parentId", "message", "data", "role")
)


def recognises(fields: Fields) -> bool:
    """Return whether only Gemini can have written a line of a chat, judged by its top-level keys.

    The first line has the hash of the project. A message has an id, a time, one of five types and a content,
    but no id of its session. All other lines are changes, which no other agent writes.
    """
    if isinstance(fields.get("$set"), dict) or isinstance(fields.get("$rewindTo"), str):
        return True
    if isinstance(fields.get("sessionId"), str) and isinstance(fields.get("projectHash"), str):
        return True
    kind = fields.get("type")
    if not isinstance(kind, str) or kind not in _TYPES or not _OTHER_AGENTS_MARKS.isdisjoint(fields):
        return False
    has_content = "content" in fields or "parts" in fields
    return has_content and isinstance(fields.get("id"), str) and isinstance(fields.get("timestamp"), str)


def role(fields: Fields) -> LineRole:
    """Return the role of a line."""
    if "projectHash" in fields or fields.get("type") == "user":
        return LineRole.START
    return LineRole.CALL if fields.get("toolCalls") else LineRole.OTHER
