"""The formats of the Gemini CLI."""

from __future__ import annotations

from agentwatch.agents.agent import Agent, LineRole
from agentwatch.agents.fields import SUBAGENT, Fields
from agentwatch.agents.first_use import on_first_use
from agentwatch.session.events import Traits

_OTHER_AGENTS_MARKS = frozenset({"session_id", "sessionID", "sessionId", "uuid", "part"})
_STATUSES = frozenset(("success", "error"))


def recognises(fields: Fields) -> bool:
    """Its init has the id of the session; all other lines have a time in ISO 8601 and no id of a session."""
    kind = fields.get("type")
    if kind == "init":
        return isinstance(fields.get("session_id"), str) and "model" in fields
    if not isinstance(fields.get("timestamp"), str) or not _OTHER_AGENTS_MARKS.isdisjoint(fields):
        return False
    match kind:
        case "message":
            return "message" not in fields and "role" in fields and "content" in fields
        case "tool_use":
            return "tool_id" in fields and "tool_name" in fields
        case "tool_result":
            return "tool_id" in fields
        case "error":
            return "severity" in fields
        case "result":
            status = fields.get("status")
            return isinstance(status, str) and status in _STATUSES
    return False


def role(fields: Fields) -> LineRole:
    match fields.get("type"):
        case "init":
            return LineRole.START
        case "message":
            return LineRole.START if fields.get("role") == "user" else LineRole.OTHER
        case "tool_use" | "tool_result":
            return LineRole.CALL
    return LineRole.OTHER


_CHAT_TYPES = frozenset(("user", "gemini", "model", "info", "error", "warning"))
_NOT_OF_A_CHAT = frozenset(
    ("session_id", "sessionID", "sessionId", "uuid", "parentUuid", "parentId", "message", "data", "role")
)


def recognises_chat(fields: Fields) -> bool:
    """The first line has the hash of the project. A message has an id, a time, one of five types and a
    content, but no session. All other lines are changes, which no other agent writes."""
    if isinstance(fields.get("$set"), dict) or isinstance(fields.get("$rewindTo"), str):
        return True
    if isinstance(fields.get("sessionId"), str) and isinstance(fields.get("projectHash"), str):
        return True
    kind = fields.get("type")
    if not isinstance(kind, str) or kind not in _CHAT_TYPES or not _NOT_OF_A_CHAT.isdisjoint(fields):
        return False
    has_content = "content" in fields or "parts" in fields
    return has_content and isinstance(fields.get("id"), str) and isinstance(fields.get("timestamp"), str)


def chat_role(fields: Fields) -> LineRole:
    if "projectHash" in fields or fields.get("type") == "user":
        return LineRole.OTHER if SUBAGENT in fields else LineRole.START
    return LineRole.CALL if fields.get("toolCalls") else LineRole.OTHER


AGENT = Agent(
    name="gemini",
    recognises=recognises,
    role=role,
    decoder=on_first_use("agentwatch.agents.gemini.stream:GeminiDecoder"),
    blocks=on_first_use("agentwatch.agents.gemini.stream:line_blocks"),
    traits=Traits(has_exit_codes=False),
)
CHAT = Agent(
    name="gemini-chat",
    agent="gemini",
    recognises=recognises_chat,
    role=chat_role,
    decoder=on_first_use("agentwatch.agents.gemini.chat:GeminiChatDecoder"),
    blocks=on_first_use("agentwatch.agents.gemini.chat:call_blocks"),
    traits=Traits(announces_calls=False, has_result=False, has_exit_codes=False),
    time_of=on_first_use("agentwatch.agents.gemini.chat:line_time"),
)
FORMATS = (CHAT, AGENT)
