"""The formats of Cline."""

from __future__ import annotations

from agentwatch.agents.agent import Agent, LineRole
from agentwatch.agents.fields import Fields, items, mapping, number
from agentwatch.agents.first_use import on_first_use
from agentwatch.session.events import Traits

FORMAT, SESSION_FORMAT = "cline", "cline-session"
_TYPES = frozenset(("hook_event", "agent_event", "run_result"))


def recognises(fields: Fields) -> bool:
    kind = fields.get("type")
    return isinstance(kind, str) and kind in _TYPES and isinstance(fields.get("ts"), str)


def role(fields: Fields) -> LineRole:
    if fields.get("hookEventName") == "agent_start" and fields.get("parentAgentId") is None:
        return LineRole.START
    return LineRole.CALL if mapping(fields.get("event")).get("contentType") == "tool" else LineRole.OTHER


def recognises_entry(fields: Fields) -> bool:
    """Return whether only a session file of Cline can contain a line: its facts, or a message with a time in
    milliseconds."""
    if "origin" in fields and "sessionId" in fields:
        return isinstance(fields.get("agent"), str)
    is_message = fields.get("role") in ("user", "assistant") and type(fields.get("ts")) is int
    return is_message and isinstance(fields.get("content"), list)


def role_of_entry(fields: Fields) -> LineRole:
    if any(mapping(each).get("type") in ("tool_use", "tool_result") for each in items(fields.get("content"))):
        return LineRole.CALL
    return LineRole.START if "origin" in fields or fields.get("role") == "user" else LineRole.OTHER


AGENT = Agent(
    name=FORMAT,
    recognises=recognises,
    role=role,
    decoder=on_first_use("agentwatch.agents.cline.stream:ClineDecoder"),
    blocks=on_first_use("agentwatch.agents.cline.stream:line_blocks"),
    traits=Traits(result_is_last_text=True),
)
SESSION = Agent(
    name=SESSION_FORMAT,
    agent="cline",
    recognises=recognises_entry,
    role=role_of_entry,
    decoder=on_first_use("agentwatch.agents.cline.stream:ClineSessionDecoder"),
    blocks=on_first_use("agentwatch.agents.cline.stream:entry_blocks"),
    traits=Traits(has_result=False),
    time_of=lambda fields: number(fields, "ts"),
)
"""The session files in `~/.cline/data/sessions`."""
FORMATS = (AGENT, SESSION)
