"""Recognises the lines of Claude Code and of the agents that share its grammar, and finds a line's role.

Qwen Code and Amp write Claude's grammar. Their init lines differ; of the other lines, some are only
Claude's, and the rest can be any of the three. These are left to the neutral format `claude-family`.
"""

from __future__ import annotations

from agentwatch.agents.agent import LineRole
from agentwatch.agents.fields import Fields, items, mapping, text

_OWN_TYPES = frozenset(
    ("rate_limit_event", "tool_progress", "tool_use_summary", "auth_status", "prompt_suggestion")
)
"""Types of lines that only Claude Code writes."""
_CURSORS_SOURCES = ("login", "env", "flag")
"""Cursor's values of `apiKeySource`. Claude has others: `none`, `user`, `ANTHROPIC_API_KEY`, `oauth`."""

_NOT_AMPS = ("permissionMode", "permission_mode", "apiKeySource", "uuid", "model")


def is_init(fields: Fields) -> bool:
    """Return whether a line is the init line of a live stream."""
    is_system = fields.get("type") == "system" and fields.get("subtype") == "init"
    return is_system and not _is_stored(fields)


def recognises(fields: Fields) -> bool:
    """Return whether only Claude Code can have written a line, judged by its type and top-level keys."""
    kind = fields.get("type")
    if not isinstance(kind, str) or _is_stored(fields):
        return False
    if kind == "system":
        return _is_own_init(fields) if is_init(fields) else "uuid" in fields
    return kind in _OWN_TYPES or (kind == "result" and "total_cost_usd" in fields)


def _is_stored(fields: Fields) -> bool:
    """Return whether a line is one of a file on disk. A stream writes `session_id`, a file `sessionId`."""
    return "sessionId" in fields and "session_id" not in fields


def _is_own_init(fields: Fields) -> bool:
    """Return whether an init line is Claude Code's. Version 1 has neither its version nor a uuid in it."""
    if is_qwens_init(fields):
        return False
    if "claude_code_version" in fields or "uuid" in fields:
        return True
    is_cursors = fields.get("apiKeySource") in _CURSORS_SOURCES
    has_mode = "permissionMode" in fields or "apiKeySource" in fields
    return not is_cursors and has_mode and isinstance(fields.get("tools"), list)


def is_qwens_init(fields: Fields) -> bool:
    """Return whether an init line is Qwen Code's: only Qwen writes its version or `permission_mode`."""
    return "qwen_code_version" in fields or ("permission_mode" in fields and "permissionMode" not in fields)


def is_amps_init(fields: Fields) -> bool:
    """Return whether an init line is Amp's: it has no mode of permission, no model, no key and no uuid.

    The id of a session is that of a thread, `T-…`, or the line has tools and servers and no effort: another
    agent that writes them also writes its effort.
    """
    if any(key in fields for key in _NOT_AMPS):
        return False
    if (text(fields, "session_id") or "").startswith("T-"):
        return True
    has_servers = isinstance(fields.get("tools"), list) and "mcp_servers" in fields
    return has_servers and "reasoning_effort" not in fields


def role(fields: Fields) -> LineRole:
    """Return the role of a line."""
    if is_init(fields):
        return LineRole.START
    kind = fields.get("type")
    if kind not in ("assistant", "user"):
        return LineRole.OTHER
    content = mapping(fields.get("message")).get("content")
    if any(mapping(part).get("type") in ("tool_use", "tool_result") for part in items(content)):
        return LineRole.CALL
    is_prompt = kind == "user" and fields.get("parent_tool_use_id") is None
    return LineRole.START if is_prompt and fields.get("isSynthetic") is not True else LineRole.OTHER
