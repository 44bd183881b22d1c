"""The format of Droid."""

from __future__ import annotations

from agentwatch.agents.agent import Agent, LineRole
from agentwatch.agents.fields import Fields
from agentwatch.agents.program import on_first_use
from agentwatch.session.events import Traits

_OTHER_AGENTS_MARKS = frozenset(
    (
        *("uuid", "permissionMode", "permission_mode", "apiKeySource", "mcp_servers", "slash_commands"),
        *("claude_code_version", "qwen_code_version", "sessionID", "subtype", "content"),
    )
)


def recognises(fields: Fields) -> bool:
    """Return whether only Droid can have written a line, judged by its type and its top-level keys.

    Its init has tools but no mode of permissions. Its calls have a `toolName`, and no subtype as Cursor's.
    Its messages have a text of their own and the id of the session.
    """
    kind = fields.get("type")
    if kind == "system":
        return _is_init(fields)
    if not _OTHER_AGENTS_MARKS.isdisjoint(fields):
        return False
    match kind:
        case "tool_call":
            return "toolName" in fields or "toolId" in fields
        case "tool_result":
            return "toolId" in fields or "isError" in fields
        case "completion":
            return "finalText" in fields or "numTurns" in fields
        case "message":
            return "text" in fields and "role" in fields and "message" not in fields
        case "reasoning":
            return "text" in fields and "id" in fields and bool({"session_id", "sessionId"} & fields.keys())
    return False


def _is_init(fields: Fields) -> bool:
    session_id = fields.get("session_id", fields.get("sessionId"))
    if fields.get("subtype") != "init" or not isinstance(session_id, str) or session_id.startswith("T-"):
        return False
    if not _OTHER_AGENTS_MARKS.isdisjoint(fields.keys() - {"subtype"}):
        return False
    return "reasoning_effort" in fields or isinstance(fields.get("tools"), list)


def role(fields: Fields) -> LineRole:
    """Return the role of a line."""
    match fields.get("type"):
        case "system":
            return LineRole.START
        case "message":
            return LineRole.START if fields.get("role") == "user" else LineRole.OTHER
        case "tool_call" | "tool_result":
            return LineRole.CALL
    return LineRole.OTHER


AGENT = Agent(
    name="droid",
    recognises=recognises,
    role=role,
    decoder=on_first_use("agentwatch.agents.droid.stream:Decoder"),
    blocks=on_first_use("agentwatch.agents.droid.blocks:line_blocks"),
    traits=Traits(result_is_last_text=True),
)
FORMATS = (AGENT,)
