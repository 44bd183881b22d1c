"""Which lines only Cursor writes, and the role of each in its session."""

from __future__ import annotations

from agentwatch.wire.agent import LineRole
from agentwatch.wire.fields import Fields, mapping

_OWN_TYPES = frozenset({"tool_call", "thinking", "interaction_query", "connection", "retry"})
_SHARED_TYPES = frozenset({"user", "assistant", "result"})
_INIT_FIELDS = frozenset({"cwd", "model", "permissionMode"})
_CLAUDE_MARKS = frozenset({"uuid", "parent_tool_use_id", "num_turns", "sessionId", "toolName"})


def recognises(fields: Fields) -> bool:
    """Return whether only Cursor writes such a line, by its top-level keys.

    Cursor's init is the only one that lists no tools. `apiKeySource` separates it from Claude's as well: the
    two agents use different values.
    """
    kind = fields.get("type")
    if not isinstance(kind, str):
        return False
    if not _CLAUDE_MARKS.isdisjoint(fields):
        return False
    if kind == "system" and fields.get("subtype") == "init":
        known_source = fields.get("apiKeySource") in ("login", "env", "flag")
        return known_source or ("tools" not in fields and not _INIT_FIELDS.isdisjoint(fields))
    if kind in _SHARED_TYPES:
        message = mapping(fields.get("message"))
        return "session_id" in fields and "id" not in message and "usage" not in message
    return kind in _OWN_TYPES


def role(fields: Fields) -> LineRole:
    """Return the role of a line."""
    match fields.get("type"):
        case "system" | "user":
            return LineRole.START
        case "tool_call":
            return LineRole.CALL
    return LineRole.OTHER
