"""Recognises the lines of opencode, and finds the role and the time of a line.

Each line has a `type` and a `sessionID`, which no other agent spells this way. The events of opencode's
server have both of them in `properties`: they are another format, which is not decoded.
"""

from __future__ import annotations

from agentwatch.agents.agent import LineRole
from agentwatch.agents.fields import Fields, mapping, number, text

_STREAMED = frozenset({"step_start", "step_finish", "text", "reasoning", "tool_use", "error"})
_STORED = ("session", "message", "part")
_TYPES = _STREAMED.union(_STORED)


def recognises(fields: Fields) -> bool:
    """Return whether only opencode can have written a line."""
    kind = fields.get("type")
    return isinstance(kind, str) and kind in _TYPES and isinstance(fields.get("sessionID"), str)


def role(fields: Fields) -> LineRole:
    """Return the role of a line."""
    match fields.get("type"):
        case "tool_use":
            return LineRole.CALL
        case "step_start" | "session" | "message":
            return LineRole.START
        case "part" if mapping(fields.get("message")).get("role") == "user":
            return LineRole.START
        case "part" if mapping(fields.get("part")).get("type") == "tool":
            return LineRole.CALL
    return LineRole.OTHER


def time_of(fields: Fields) -> int | None:
    """Return the time of a stored line, in milliseconds since the epoch; None for a line of a stream.

    A line of a stream has a time too, but it is not the time at which the line arrived in a recording.
    """
    return number(fields, "timestamp") if text(fields, "type") in _STORED else None
