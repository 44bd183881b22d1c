"""Recognises the lines that Claude Code, Qwen Code and Amp write alike."""

from __future__ import annotations

from agentwatch.agents.claude.recognition import is_amps_init, is_init, is_qwens_init
from agentwatch.agents.claude.recognition import recognises as is_claudes
from agentwatch.agents.fields import Fields, items, mapping

_SHARED_TYPES = frozenset(("assistant", "user", "result", "stream_event"))
_CONTROL_TYPES = frozenset(("control_request", "control_response", "control_cancel_request"))


def recognises(fields: Fields) -> bool:
    """Return whether a line shows which agent of the family wrote it. Those agents are asked first."""
    is_start = is_init(fields) and (is_qwens_init(fields) or is_amps_init(fields))
    return is_start or is_claudes(fields)


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
