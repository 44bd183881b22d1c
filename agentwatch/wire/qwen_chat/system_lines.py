"""Reads the system lines of a Qwen chat: telemetry, commands, the ends of turns."""

from __future__ import annotations

from typing import NamedTuple

from agentwatch.events import Compaction, Event, Notice, Outcome, Retry, RunInfo, Unknown
from agentwatch.wire.fields import Fields, in_words, mapping, number, text
from agentwatch.wire.on_disk.iso_time import iso_ms

_QUIET = frozenset(
    (
        *("attribution_snapshot", "at_command", "parent_session", "session_source", "rewind"),
        *("file_history_snapshot", "user_text_elements", "session_artifact_event", "branch_checkpoint"),
        *("session_artifact_snapshot", "session_sources_snapshot", "session_execution_engine", "cron"),
        *("agent_bootstrap", "agent_launch_prompt", "agent_session_ready", "goal_state", "goal_runtime"),
        *("goal_turn_end", "realtime_message", "session_notes", "omni_recall", "background_task_completed"),
        *("managed_session_header_v1", "managed_session_event_v1", "managed_session_commit_v1"),
    )
)
"""Subtypes that say nothing about the course of the session."""
_STATES = {"completed": Outcome.SUCCEEDED, "cancelled": Outcome.CANCELLED, "error": Outcome.FAILED}
_TOO_MANY = 429
_SERVER_ERROR = 500


class TurnEnd(NamedTuple):
    """The end of a turn that a line reports."""

    outcome: Outcome
    error: str | None = None
    may_be_repeated: bool = False
    """The agent may send the request again."""


def turn_end(fields: Fields) -> TurnEnd | None:
    """Return the end of a turn; None if the line reports none.

    A request that the service cannot answer now may be sent again. Other errors end the turn.
    """
    payload = mapping(fields.get("systemPayload"))
    if fields.get("subtype") == "turn_result":
        outcome = _STATES.get(text(payload, "state") or "")
        error = text(mapping(payload.get("error")), "message")
        return None if outcome is None else TurnEnd(outcome, error)
    event = telemetry(fields)
    if event.get("event.name") != "qwen-code.api_error":
        return None
    status = number(event, "status_code")
    may_be_repeated = status is not None and (status == _TOO_MANY or status >= _SERVER_ERROR)
    return TurnEnd(Outcome.FAILED, text(event, "error_message") or "API error", may_be_repeated)


def telemetry(fields: Fields) -> Fields:
    """Return the event of a telemetry line; {} for another line."""
    return mapping(mapping(fields.get("systemPayload")).get("uiEvent"))


def system_events(fields: Fields) -> list[Event]:
    """Return the events of a system line that does not end a turn."""
    payload, at_ms = mapping(fields.get("systemPayload")), iso_ms(fields.get("timestamp"))
    subtype = fields.get("subtype")
    match subtype:
        case "ui_telemetry":
            return []
        case "chat_compression":
            info = mapping(payload.get("info"))
            before, after = number(info, "originalTokenCount"), number(info, "newTokenCount")
            return [Compaction(is_over=True, tokens_before=before, tokens_after=after, at_ms=at_ms)]
        case "slash_command":
            command = text(payload, "rawCommand") if payload.get("phase") == "invocation" else None
            return [] if command is None else [Notice(command, at_ms)]
        case "notification":
            words = text(payload, "displayText")
            return [] if words is None else [Notice(words, at_ms)]
        case "session_model":
            return [RunInfo(model=text(payload, "modelId"))]
        case "session_approval_mode":
            return [RunInfo(permission_mode=text(payload, "mode"))]
        case "custom_title":
            is_users = payload.get("titleSource") != "auto"
            return [RunInfo(title=text(payload, "customTitle"), is_users_title=is_users)]
        case "agent_retry":
            return [Retry("", number(payload, "attempt"), at_ms=at_ms)]
        case str() if subtype in _QUIET:
            return []
    return [Unknown(f"type system/{in_words(subtype)}")]
