"""The formats of Droid."""

from __future__ import annotations

from agentwatch.agents.agent import Agent, LineRole
from agentwatch.agents.fields import Fields, items, mapping
from agentwatch.agents.first_use import on_first_use
from agentwatch.agents.on_disk import time_of
from agentwatch.session.events import Traits

_OTHER_AGENTS_MARKS = frozenset(
    (
        *("uuid", "permissionMode", "permission_mode", "apiKeySource", "mcp_servers", "slash_commands"),
        *("claude_code_version", "qwen_code_version", "sessionID", "subtype", "content"),
    )
)


def recognises(fields: Fields) -> bool:
    """Droid's init has tools but no mode of permissions; its calls a `toolName`, and no subtype as
    Cursor's; its messages a text of their own and the id of the session."""
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
    decoder=on_first_use("agentwatch.agents.droid.stream:DroidDecoder"),
    blocks=on_first_use("agentwatch.agents.droid.stream:line_blocks"),
    traits=Traits(result_is_last_text=True),
)

SESSION_FORMAT = "droid-session"
_OTHER_FILES_MARKS = frozenset(("sessionId", "session_id", "sessionID", "uuid", "parentUuid", "role", "data"))
_OWN_MEMBERS = ("modelId", "interactionMode")
_CONTEXT = "context-"
_REMINDER = "<system-reminder>"


def blocks_of(message: Fields) -> list[Fields]:
    """Return the blocks of a message; a text alone is a block too."""
    content = message.get("content")
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return [mapping(each) for each in items(content)]


def is_added(fields: Fields, words: str) -> bool:
    """Return whether Droid has added a text to the user's message, or the whole message."""
    line = fields.get("id")
    return (isinstance(line, str) and line.startswith(_CONTEXT)) or words.lstrip().startswith(_REMINDER)


def recognises_entry(fields: Fields) -> bool:
    """Return whether only a session file of Droid can contain a line. A message has the envelope of Pi's,
    without a time in the message, and the calls of Claude's. One that has only texts shows nothing."""
    if not _OTHER_FILES_MARKS.isdisjoint(fields):
        return False
    match fields.get("type"):
        case "session_start":
            has_owner = isinstance(fields.get("owner"), str) or isinstance(fields.get("cwd"), str)
            return has_owner and isinstance(fields.get("id"), str) and "version" in fields
        case "agent_turn_outcome":
            return isinstance(fields.get("turnId"), str)
        case "message":
            message = mapping(fields.get("message"))
            if not isinstance(fields.get("id"), str) or "timestamp" in message or "id" in message:
                return False
            is_own = any(key in message for key in _OWN_MEMBERS)
            return is_own or _has_calls(message)
    return False


def role_of_entry(fields: Fields) -> LineRole:
    message = mapping(fields.get("message"))
    if fields.get("type") == "session_start":
        return LineRole.START
    if _has_calls(message):
        return LineRole.CALL
    return LineRole.START if message.get("role") == "user" else LineRole.OTHER


def _has_calls(message: Fields) -> bool:
    return any(block.get("type") in ("tool_use", "tool_result") for block in blocks_of(message))


SESSION = Agent(
    name=SESSION_FORMAT,
    agent="droid",
    recognises=recognises_entry,
    role=role_of_entry,
    decoder=on_first_use("agentwatch.agents.droid.session_file:DroidSessionDecoder"),
    blocks=on_first_use("agentwatch.agents.droid.session_file:entry_blocks"),
    traits=Traits(has_result=False),
    time_of=time_of,
)
"""The session files in `~/.factory/sessions`."""
FORMATS = (AGENT, SESSION)
