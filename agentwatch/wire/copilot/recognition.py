"""Recognises the lines that Copilot writes, and finds the role and the time of a line."""

from __future__ import annotations

from agentwatch.wire.agent import LineRole
from agentwatch.wire.fields import Fields

_FAMILIES = frozenset(
    {
        *("session", "user", "assistant", "tool", "subagent", "permission", "hook", "system", "skill"),
        *("model", "mcp", "user_input", "elicitation", "external_tool", "command", "exit_plan_mode"),
        *("commands", "capabilities", "sampling", "pending_messages", "tool_search"),
    }
)
"""The words before the dot in the types of lines."""


def recognises(fields: Fields) -> bool:
    """Return whether only Copilot can have written a line: a type with a dot, an object `data`, and an id."""
    kind = fields.get("type")
    if not isinstance(kind, str):
        return False
    if kind == "result":
        return "exitCode" in fields and isinstance(fields.get("sessionId"), str)
    family, dot, _ = kind.partition(".")
    has_envelope = isinstance(fields.get("data"), dict) and isinstance(fields.get("id"), str)
    return bool(dot) and family in _FAMILIES and has_envelope


def role(fields: Fields) -> LineRole:
    """Return the role of a line. A user message with an agent's id is for a subagent."""
    match fields.get("type"):
        case "session.start":
            return LineRole.START
        case "user.message" if "agentId" not in fields:
            return LineRole.START
        case "tool.execution_start" | "tool.execution_complete":
            return LineRole.CALL
    return LineRole.OTHER
