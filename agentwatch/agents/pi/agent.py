"""The formats of Pi. Both begin with the same header, so that the second line decides."""

from __future__ import annotations

from agentwatch.agents.agent import Agent, LineRole
from agentwatch.agents.fields import Fields, mapping, text
from agentwatch.agents.first_use import on_first_use
from agentwatch.agents.on_disk import time_of
from agentwatch.session.events import Traits

_EVENT_KEYS = {
    "agent_end": "messages",
    "turn_end": "toolResults",
    "message_update": "assistantMessageEvent",
    "tool_execution_start": "toolCallId",
    "tool_execution_update": "toolCallId",
    "tool_execution_end": "toolCallId",
    "auto_retry_start": "attempt",
    "auto_retry_end": "attempt",
    "auto_compaction_start": "reason",
    "auto_compaction_end": "willRetry",
    "compaction_start": "reason",
    "compaction_end": "willRetry",
    "queue_update": "followUp",
}
"""The types of events with a key that each of them has."""
_BARE_EVENTS = frozenset({"agent_start", "turn_start", "agent_settled"})
_ENTRIES = frozenset(
    {
        *("model_change", "thinking_level_change", "compaction", "branch_summary", "custom"),
        *("custom_message", "context_edit", "label", "session_info", "usage"),
    }
)
_OWN_ROLES = frozenset({"toolResult", "bashExecution", "custom", "hookMessage"})
_ROLES = _OWN_ROLES | {"user", "assistant", "system"}


def is_header(fields: Fields) -> bool:
    """Return whether a line is the header that begins a stream as well as a session file."""
    is_session = fields.get("type") == "session" and isinstance(fields.get("id"), str)
    return is_session and isinstance(fields.get("cwd"), str) and isinstance(fields.get("timestamp"), str)


def is_event(fields: Fields) -> bool:
    kind = fields.get("type")
    if not isinstance(kind, str):
        return False
    if kind in ("message_start", "message_end"):
        message = mapping(fields.get("message"))
        return message.get("role") in ("user", "assistant", "toolResult") and "timestamp" in message
    return kind in _BARE_EVENTS or _EVENT_KEYS.get(kind) in fields


def is_entry(fields: Fields) -> bool:
    """Before version 2 of the format, entries had no ids, and the header had the model."""
    kind = fields.get("type")
    if not isinstance(kind, str) or not isinstance(fields.get("timestamp"), str):
        return False
    if kind == "session":
        return is_header(fields) and "modelId" in fields
    if kind == "message":
        message = mapping(fields.get("message"))
        role = text(message, "role")
        if "id" not in fields:
            return role in _ROLES
        # the messages of Droid's session files have no time of their own
        return "parentId" in fields and (role in _OWN_ROLES or (role in _ROLES and "timestamp" in message))
    is_model = kind == "model_change" and "modelId" in fields
    return kind in _ENTRIES and ("parentId" in fields or is_model)


def role_of_event(fields: Fields) -> LineRole:
    match fields.get("type"):
        case "session" | "agent_start":
            return LineRole.START
        case "message_end" if mapping(fields.get("message")).get("role") == "user":
            return LineRole.START
        case "tool_execution_start" | "tool_execution_end":
            return LineRole.CALL
    return LineRole.OTHER


def role_of_entry(fields: Fields) -> LineRole:
    """Return the role of a line of a session file. An assistant's message may start calls."""
    if fields.get("type") == "session":
        return LineRole.START
    match mapping(fields.get("message")).get("role"):
        case "user":
            return LineRole.START
        case "toolResult" | "assistant":
            return LineRole.CALL
    return LineRole.OTHER


AGENT = Agent(
    name="pi",
    recognises=is_event,
    role=role_of_event,
    decoder=on_first_use("agentwatch.agents.pi.stream:PiDecoder"),
    blocks=on_first_use("agentwatch.agents.pi.stream:blocks"),
    traits=Traits(has_times=False),
    may_write=is_header,
)
"""The stream. Its messages have times, its calls have none."""

SESSION = Agent(
    name="pi-session",
    agent="pi",
    recognises=is_entry,
    role=role_of_entry,
    decoder=on_first_use("agentwatch.agents.pi.session_file:PiSessionDecoder"),
    blocks=on_first_use("agentwatch.agents.pi.stream:blocks"),
    traits=Traits(has_result=False),
    time_of=time_of,
    may_write=is_header,
)
FORMATS = (AGENT, SESSION)
