"""The formats of Kimi Code."""

from __future__ import annotations

from agentwatch.agents.agent import Agent, LineRole
from agentwatch.agents.fields import Fields, mapping, number
from agentwatch.agents.first_use import on_first_use
from agentwatch.session.events import Traits

WIRE_FORMAT = "kimi-wire"
_SHOWS = {"meta": ("type", str), "assistant": ("tool_calls", list), "tool": ("tool_call_id", str)}
"""The member of a message that shows its writer, and the type of that, by the role of the message."""


def recognises(fields: Fields) -> bool:
    """Return whether only Kimi Code can have written a line of a stream: a remark with the role `meta`, or a
    message of OpenAI's interface with a call. A message that has only a text shows nothing."""
    role = fields.get("role")
    key, kind = _SHOWS.get(role, ("", str)) if isinstance(role, str) else ("", str)
    return "message" not in fields and "id" not in fields and isinstance(fields.get(key), kind)


def role(fields: Fields) -> LineRole:
    if fields.get("type") == "system.version":
        return LineRole.START
    is_call = fields.get("role") == "tool" or isinstance(fields.get("tool_calls"), list)
    return LineRole.CALL if is_call else LineRole.OTHER


AGENT = Agent(
    name="kimi",
    recognises=recognises,
    role=role,
    decoder=on_first_use("agentwatch.agents.kimi.stream:KimiDecoder"),
    blocks=on_first_use("agentwatch.agents.kimi.stream:line_blocks"),
    traits=Traits(has_times=False),
)


def recognises_record(fields: Fields) -> bool:
    """Return whether only a journal of Kimi Code can contain a line: its type has a dot, its time is a
    number, and it names its agent, or is an `event`."""
    kind = fields.get("type")
    if kind == "metadata":
        return "protocol_version" in fields
    is_own = isinstance(fields.get("agentId"), str) or fields.get("kind") == "event"
    return isinstance(kind, str) and "." in kind and is_own and type(fields.get("time")) is int


def role_of_record(fields: Fields) -> LineRole:
    if fields.get("type") in ("metadata", "turn.prompt"):
        return LineRole.START
    is_call = mapping(fields.get("event")).get("type") in ("tool.call", "tool.result")
    return LineRole.CALL if is_call else LineRole.OTHER


def time_of(fields: Fields) -> int | None:
    return number(fields, "created_at" if fields.get("type") == "metadata" else "time")


WIRE = Agent(
    name=WIRE_FORMAT,
    agent="kimi",
    recognises=recognises_record,
    role=role_of_record,
    decoder=on_first_use("agentwatch.agents.kimi.stream:KimiWireDecoder"),
    blocks=on_first_use("agentwatch.agents.kimi.stream:line_blocks"),
    traits=Traits(has_result=False),
    time_of=time_of,
)
"""The journals in `~/.kimi-code/sessions`."""
FORMATS = (AGENT, WIRE)
