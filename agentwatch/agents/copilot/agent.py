"""The format of Copilot."""

from __future__ import annotations

from agentwatch.agents.agent import Agent, LineRole
from agentwatch.agents.fields import Fields
from agentwatch.agents.first_use import on_first_use
from agentwatch.agents.on_disk import time_of
from agentwatch.session.events import Traits

_FAMILIES = frozenset(
    {
        *("session", "user", "assistant", "tool", "subagent", "permission", "hook", "system", "skill"),
        *("model", "mcp", "user_input", "elicitation", "external_tool", "command", "exit_plan_mode"),
        *("commands", "capabilities", "sampling", "pending_messages", "tool_search"),
    }
)
_OWN_KEYS = {
    "session.start": "copilotVersion",
    **dict.fromkeys(("assistant.message", "assistant.message_delta"), "messageId"),
    **dict.fromkeys(("assistant.turn_start", "assistant.turn_end"), "turnId"),
    **dict.fromkeys(("tool.execution_start", "tool.execution_complete"), "toolCallId"),
}
"""The types with a key of `data` that show a line to be Copilot's without an id, which shortened captures
leave out."""


def recognises(fields: Fields) -> bool:
    """A type with a dot, an object `data`, and an id, or else a key in `data` that no other agent's has."""
    kind = fields.get("type")
    if not isinstance(kind, str):
        return False
    if kind == "result":
        return "exitCode" in fields and isinstance(fields.get("sessionId"), str)
    data = fields.get("data")
    if not isinstance(data, dict):
        return False
    if "id" not in fields:
        return _OWN_KEYS.get(kind) in data
    family, dot, _ = kind.partition(".")
    return bool(dot) and family in _FAMILIES and isinstance(fields["id"], str)


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


AGENT = Agent(
    name="copilot",
    recognises=recognises,
    role=role,
    decoder=on_first_use("agentwatch.agents.copilot.stream:CopilotDecoder"),
    blocks=on_first_use("agentwatch.agents.copilot.calls:blocks"),
    traits=Traits(has_result=False),
    time_of=time_of,
)
FORMATS = (AGENT,)
