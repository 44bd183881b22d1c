"""The formats of Claude Code, and what recognises the lines of Qwen Code and Amp, which write its
grammar. Lines that any of the three can have written are left to the neutral format `claude-family`."""

from __future__ import annotations

from agentwatch.agents.agent import Agent, LineRole
from agentwatch.agents.fields import Fields, items, mapping, text
from agentwatch.agents.first_use import on_first_use
from agentwatch.agents.on_disk import time_of
from agentwatch.session.events import Traits

_OWN_TYPES = frozenset(
    ("rate_limit_event", "tool_progress", "tool_use_summary", "auth_status", "prompt_suggestion")
)
"""Types of lines that only Claude Code writes."""
_CURSORS_SOURCES = ("login", "env", "flag")
"""Cursor's values of `apiKeySource`. Claude has others: `none`, `user`, `ANTHROPIC_API_KEY`, `oauth`."""

_NOT_AMPS = ("permissionMode", "permission_mode", "apiKeySource", "uuid", "model")


def is_init(fields: Fields) -> bool:
    is_system = fields.get("type") == "system" and fields.get("subtype") == "init"
    return is_system and not _is_stored(fields)


def recognises(fields: Fields) -> bool:
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
    Its session is a thread, `T-…`, or it has tools and servers and no effort."""
    if any(key in fields for key in _NOT_AMPS):
        return False
    if (text(fields, "session_id") or "").startswith("T-"):
        return True
    has_servers = isinstance(fields.get("tools"), list) and "mcp_servers" in fields
    return has_servers and "reasoning_effort" not in fields


def role(fields: Fields) -> LineRole:
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


_SHARED_TYPES = frozenset(("assistant", "user", "result", "stream_event"))
_CONTROL_TYPES = frozenset(("control_request", "control_response", "control_cancel_request"))


def recognises_family(fields: Fields) -> bool:
    is_start = is_init(fields) and (is_qwens_init(fields) or is_amps_init(fields))
    return is_start or recognises(fields)


def may_write(fields: Fields) -> bool:
    """Return whether only Claude Code, Qwen Code or Amp can have written a line."""
    kind = fields.get("type")
    if not isinstance(kind, str) or "sessionId" in fields:
        return False
    if kind in _CONTROL_TYPES:
        return isinstance(fields.get("request") or fields.get("response"), dict)
    return kind in _SHARED_TYPES and _has_familys_mark(kind, fields)


def _has_familys_mark(kind: str, fields: Fields) -> bool:
    if "timestamp_ms" in fields or "model_call_id" in fields:
        return False  # Cursor's
    if "parent_tool_use_id" in fields or "num_turns" in fields:
        return True
    if kind == "stream_event":
        return isinstance(fields.get("event"), dict)
    message = mapping(fields.get("message"))
    if "id" in message or "usage" in message:
        return True
    return any(
        mapping(part).get("type") in ("tool_use", "tool_result") for part in items(message.get("content"))
    )


TRANSCRIPT_FORMAT = "claude-transcript"
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
"""The types among them by which Claude Code lists its sessions."""
_COURSE = ("attachment", "cost-state", "subagent-meta", "permission-mode", "queue-operation", "api-request")
SILENT = BESIDE - NAMES - {*_COURSE}
"""The types among them that report nothing: more than half of the lines of a newer transcript."""
_OWN_BESIDE = BESIDE - {"summary", "file-history-snapshot", "result", "started", "tag"}
"""The types among them that no other agent writes."""
_AT_START = BESIDE - {"cost-state", "result", "started"}


def recognises_transcript(fields: Fields) -> bool:
    """A stream has `session_id` in every line; a transcript has `sessionId`, and some lines both."""
    kind = fields.get("type")
    if kind == "summary":
        return "leafUuid" in fields
    if kind == "file-history-snapshot":
        return "snapshot" in fields
    if "sessionId" not in fields or not isinstance(kind, str):
        return False
    if kind == "system" and fields.get("subtype") == "init":
        return False
    return kind in _OWN_BESIDE or (kind in _MESSAGES and "data" not in fields) or (kind == "progress")


def transcript_role(fields: Fields) -> LineRole:
    """Return the role of a line. The prompt may follow many lines that describe the session."""
    kind = fields.get("type")
    if kind == "progress":
        return LineRole.OTHER
    kinds = [mapping(block).get("type") for block in items(mapping(fields.get("message")).get("content"))]
    if kind == "user":
        return LineRole.CALL if "tool_result" in kinds else LineRole.START
    if kind == "assistant":
        return LineRole.CALL if "tool_use" in kinds else LineRole.OTHER
    return LineRole.START if isinstance(kind, str) and kind in _AT_START else LineRole.OTHER


AGENT = Agent(
    name="claude-code",
    agent="claude",
    recognises=recognises,
    role=role,
    decoder=on_first_use("agentwatch.agents.claude.stream:decoder"),
    blocks=on_first_use("agentwatch.agents.claude.blocks:blocks"),
    traits=Traits(result_is_last_text=True),
)
TRANSCRIPT = Agent(
    name=TRANSCRIPT_FORMAT,
    agent="claude",
    recognises=recognises_transcript,
    role=transcript_role,
    decoder=on_first_use("agentwatch.agents.claude.transcript:ClaudeTranscriptDecoder"),
    blocks=on_first_use("agentwatch.agents.claude.blocks:transcript_blocks"),
    traits=Traits(has_result=False),
    time_of=time_of,
)
"""Real transcripts of Claude Code 1.0 to 2.1, of October 2025 to November 2026. No line starts the run or
is its result. The lines are a tree. Exit codes are only in the texts of failed commands."""
FAMILY = Agent(
    name="claude-family",
    recognises=recognises_family,
    role=role,
    decoder=on_first_use("agentwatch.agents.claude.family:decoder"),
    blocks=on_first_use("agentwatch.agents.claude.blocks:blocks"),
    traits=Traits(result_is_last_text=True),
    may_write=may_write,
)
"""Decodes a stream whose head is missing, and whose lines Claude Code, Qwen Code and Amp write alike."""
FORMATS = (TRANSCRIPT, AGENT, FAMILY)
