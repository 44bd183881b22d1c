"""Recognises the lines of Claude Code's transcripts."""

from __future__ import annotations

from agentwatch.agents.agent import LineRole
from agentwatch.agents.fields import NO_FIELDS, Fields, items, mapping

FORMAT = "claude-transcript"
_MESSAGES = frozenset(("user", "assistant", "system", "progress"))
BESIDE = frozenset(
    (
        *("mode", "permission-mode", "last-prompt", "atis-latch", "tools-used", "file-history-snapshot"),
        *("file-history-delta", "queue-operation", "cost-state", "summary", "custom-title", "ai-title"),
        *("agent-name", "agent-color", "agent-setting", "pr-link", "frame-link", "worktree-state"),
        *("relocated", "bridge-session", "api-request-shape", "api-request-blob", "api-request"),
        *("attachment", "tag", "content-replacement", "started", "result", "subagent-meta"),
    )
)
"""The types of lines that are not messages. Most of them say nothing about the course of the session."""
NAMES = frozenset(("custom-title", "ai-title", "summary", "last-prompt"))
"""Those of them by which Claude Code lists its sessions."""
SILENT = BESIDE - NAMES - {"attachment", "cost-state", "subagent-meta", "permission-mode", "queue-operation"}
"""Those of them that report nothing: more than half of the lines of a newer transcript."""
_OWN = BESIDE - {"summary", "file-history-snapshot", "result", "started", "tag"}
"""Those that no other agent writes."""
_AT_START = BESIDE - {"cost-state", "result", "started"}


def recognises(fields: Fields) -> bool:
    """Return whether only Claude Code can have written a line, in a transcript.

    Its stream has `session_id` in every line; a transcript has `sessionId`, and some lines both. Only a
    stream has an init line.
    """
    kind = fields.get("type")
    if kind == "summary":
        return "leafUuid" in fields
    if kind == "file-history-snapshot":
        return "snapshot" in fields
    if "sessionId" not in fields or not isinstance(kind, str):
        return False
    if kind == "system" and fields.get("subtype") == "init":
        return False
    return kind in _OWN or (kind in _MESSAGES and "data" not in fields) or (kind == "progress")


def role(fields: Fields) -> LineRole:
    """Return the role of a line. The prompt may follow many lines that describe the session."""
    kind = fields.get("type")
    if kind == "progress":
        return LineRole.OTHER
    kinds = [mapping(block).get("type") for block in items(_message(fields).get("content"))]
    if kind == "user":
        return LineRole.CALL if "tool_result" in kinds else LineRole.START
    if kind == "assistant":
        return LineRole.CALL if "tool_use" in kinds else LineRole.OTHER
    return LineRole.START if isinstance(kind, str) and kind in _AT_START else LineRole.OTHER


def _message(fields: Fields) -> Fields:
    message = fields.get("message")
    return message if isinstance(message, dict) else NO_FIELDS
