"""Reads Copilot's lines about incidents, and knows the lines that report nothing."""

from __future__ import annotations

from agentwatch.events import Compaction, Event, Notice, Retry, Unknown
from agentwatch.wire.fields import Fields, in_words, mapping, number, text
from agentwatch.wire.tool import first_line

_SESSION = (
    *("remote_steerable_changed", "schedule_created", "schedule_cancelled"),
    *("schedule_rearmed", "autopilot_objective_changed", "mode_changed", "mode_notice_delivered"),
    *("session_limits_changed", "limits_changed", "permissions_changed", "plan_changed", "todos_changed"),
    *("workspace_file_changed", "handoff", "usage_checkpoint", "context_cleared", "task_complete"),
    *("tools_updated", "background_tasks_changed", "skills_loaded", "custom_agents_updated"),
    *("mcp_servers_loaded", "mcp_server_status_changed", "extensions_loaded", "binary_asset"),
    *("custom_notification", "managed_settings_resolved", "managed_settings_enforced"),
    *("canvas_opened", "canvas_registry_changed", "canvas_closed", "canvas_unavailable"),
    *("canvas_recorded", "canvas_removed", "extensions_attachments_pushed", "fusion_route_started"),
    *("fusion_route_failed", "fusion_resolved", "fusion_completed", "external_agents_changed"),
)
_ASSISTANT = (
    *("turn_start", "turn_end", "intent", "message_start", "streaming_delta", "tool_call_delta", "idle"),
    *("server_tool_progress", "fusion_phase_started", "fusion_phase_completed", "fusion_phase_failed"),
)
_OTHERS = (
    *("tool.user_requested", "tool.execution_progress", "tool_search.activated", "skill.invoked"),
    *("subagent.configured", "subagent.completed", "subagent.selected", "subagent.deselected"),
    *("hook.start", "hook.end", "hook.progress", "system.message", "pending_messages.modified"),
    *("model.call_start", "model.call_finished", "model.model_call_started", "sampling.requested"),
    *("sampling.completed", "mcp.oauth_required", "mcp.oauth_completed", "mcp.tools.list_changed"),
    *("mcp.resources.list_changed", "mcp.prompts.list_changed", "mcp.headers_refresh_required"),
    *("mcp.headers_refresh_completed", "mcp_app.tool_call_complete", "external_tool.requested"),
    *("external_tool.completed", "command.queued", "command.execute", "command.completed"),
    *("commands.changed", "capabilities.changed", "factory.run_updated", "factory.run_started"),
    *("factory.run_settled", "ui.ephemeral_query"),
)

SILENT = frozenset(
    (
        *(f"session.{name}" for name in _SESSION),
        *(f"assistant.{name}" for name in _ASSISTANT),
        *_OTHERS,
    )
)
"""The types of lines that report nothing that is shown, or that repeat other lines. The list is that of
`session-events.ts` in `@github/copilot-sdk`, and of captures."""


def session_incident(kind: str, data: Fields, at_ms: int | None) -> list[Event]:
    """Return the events of a line about the session: a compaction, a notice."""
    match kind:
        case "session.compaction_start":
            before = number(data, "preCompactionTokens")
            return [Compaction(False, text(data, "trigger"), before, at_ms=at_ms)]
        case "session.compaction_complete":
            before, after = number(data, "preCompactionTokens"), number(data, "postCompactionTokens")
            done = Compaction(True, text(data, "trigger"), before, after, at_ms)
            failure = text(data, "error") if data.get("success") is False else None
            return [done] if failure is None else [done, Notice(f"compaction failed: {failure}", at_ms)]
        case "session.truncation":
            removed = number(data, "tokensRemovedDuringTruncation") or number(data, "droppedTokens")
            count = "" if removed is None else f": {removed:,} tokens removed"
            return [Notice(f"context truncated{count}", at_ms)]
        case "session.info" | "session.warning":
            message = text(data, "message")
            return [] if message is None else [Notice(message, at_ms)]
    return silent_or_unknown(kind)


def other_incident(kind: str, data: Fields, at_ms: int | None) -> list[Event]:
    """Return the events of a line of another family: a failed request or hook, a notification."""
    match kind:
        case "model.call_failure":
            return [Retry(text(data, "errorMessage") or _status(data), at_ms=at_ms)]
        case "hook.end" if data.get("success") is False:
            error = text(mapping(data.get("error")), "message") or "no reason given"
            return [Notice(f"hook {in_words(data.get('hookType'))} failed: {error}", at_ms)]
        case "system.notification":
            description = text(mapping(data.get("kind")), "description")
            words = description or first_line(text(data, "content"))
            return [Notice(f"notification: {words}", at_ms)] if words else []
    return silent_or_unknown(kind)


def silent_or_unknown(kind: str) -> list[Event]:
    """Return no events for a known line; an `Unknown` for any other."""
    return [] if kind in SILENT else [Unknown(f"type {in_words(kind)}")]


def _status(data: Fields) -> str:
    status = number(data, "statusCode")
    return "the model's request failed" + ("" if status is None else f" with status {status}")
