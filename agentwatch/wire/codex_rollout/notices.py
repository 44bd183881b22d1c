"""Reads the events of Codex that belong to no turn."""

from __future__ import annotations

from agentwatch.events import Event, Notice, Permission
from agentwatch.wire.codex.messages import error_event, message_in
from agentwatch.wire.fields import Fields, mapping, text

_QUIET = frozenset(
    {
        *("thread_goal_updated", "sub_agent_activity", "session_configured"),
        *("agent_reasoning_raw_content", "agent_reasoning_section_break", "dynamic_tool_call_request"),
        *("collab_agent_interaction_end", "collab_waiting_end", "collab_close_end", "collab_resume_end"),
        *("collab_agent_spawn_begin", "collab_agent_interaction_begin", "collab_waiting_begin"),
        *("collab_close_begin", "collab_resume_begin", "exec_command_begin", "exec_command_output_delta"),
        *("terminal_interaction", "patch_apply_begin", "patch_apply_updated", "mcp_tool_call_begin"),
        *("web_search_begin", "image_generation_begin", "plan_update", "turn_diff", "item_started"),
        *("hook_started", "hook_completed", "shutdown_complete", "raw_response_item", "plan_delta"),
        *("mcp_startup_update", "mcp_startup_complete", "turn_moderation_metadata", "model_verification"),
        *("agent_message_delta", "agent_message_content_delta", "agent_reasoning_delta"),
        *("reasoning_content_delta", "reasoning_raw_content_delta", "safety_buffering"),
    }
)
"""Events that report nothing new, or that another line repeats."""


def notice_of(kind: str, event: Fields, at_ms: int | None) -> list[Event] | None:
    """Return the notice of an event; None if its type is not known."""
    message = message_in(event)
    match kind:
        case "error" | "stream_error":
            return [error_event(message or kind.replace("_", " "), at_ms)]
        case "warning" | "guardian_warning" | "deprecation_notice" | "background_event" | "undo_completed":
            return [Notice(message or text(event, "summary") or kind.replace("_", " "), at_ms)]
        case "model_reroute":
            models = " → ".join(name for key in ("from_model", "to_model") if (name := text(event, key)))
            return [Notice(f"model changed: {models}", at_ms)]
        case "exited_review_mode":
            review = mapping(event.get("review_output"))
            words = text(review, "overall_explanation") or text(review, "overall_correctness")
            return [Notice(f"review ended: {words}" if words else "review ended", at_ms)]
        case "guardian_assessment":
            return _assessment(event, at_ms)
    return [] if kind in _QUIET else None


def _assessment(event: Fields, at_ms: int | None) -> list[Event]:
    """Return what a second model decided about a call: it answers in the place of the user."""
    action, status = mapping(event.get("action")), text(event, "status")
    call_id = text(event, "target_item_id")
    answer = None if status in {None, "in_progress"} else status
    subject = text(action, "tool_name") or text(action, "type") or "action"
    target = text(action, "command")
    key = text(event, "id") or call_id
    return [
        Permission(subject, answer, text(event, "rationale"), at_ms, key, call_id, target, is_automatic=True)
    ]
