"""The format of opencode.

Each line has a `type` and a `sessionID`, which no other agent spells this way. The events of opencode's
server have both of them in `properties`: they are another format, which is not decoded.
"""

from __future__ import annotations

from agentwatch.agents.agent import Agent, LineRole
from agentwatch.agents.fields import Fields, mapping, number, text
from agentwatch.agents.program import on_first_use
from agentwatch.session.events import Traits

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


AGENT = Agent(
    name="opencode",
    recognises=recognises,
    role=role,
    decoder=on_first_use("agentwatch.agents.opencode.stream:Decoder"),
    blocks=on_first_use("agentwatch.agents.opencode.blocks:blocks"),
    traits=Traits(announces_calls=False, has_result=False),
    time_of=time_of,
    unknown_fields=on_first_use("agentwatch.agents.opencode.known_fields:unknown_fields"),
)
FORMATS = (AGENT,)
