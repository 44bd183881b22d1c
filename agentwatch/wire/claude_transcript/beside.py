"""Reads the lines of a transcript that are no messages: system lines, attachments, progress."""

from __future__ import annotations

from agentwatch.events import Compaction, Event, Notice, Retry, RunInfo, ToolProgress, Unknown
from agentwatch.wire.claude_transcript.user_texts import Origin, read_text
from agentwatch.wire.fields import Fields, in_words, items, mapping, number, text
from agentwatch.wire.on_disk.iso_time import iso_ms

_QUIET = frozenset(
    ("session_start", "turn_duration", "scheduled_task_fire", "bridge_status", "memory_saved", "away_summary")
)
"""Subtypes that say nothing about the course of the session."""
_WAITS = frozenset(
    (
        *("hook_progress", "mcp_progress", "waiting_for_task", "query_update", "skill_progress"),
        *("search_results_received", "powershell_progress", "repl_tool_call"),
    )
)
_MOST_DELAY_MS = 1e12
_TITLES = {"custom-title": "customTitle", "ai-title": "aiTitle", "summary": "summary"}
_HOOK_ERRORS = ("hook_blocking_error", "hook_non_blocking_error", "hook_stopped_continuation")


def system(fields: Fields) -> list[Event]:
    """Return the events of a system line that does not end a turn."""
    at_ms, subtype = iso_ms(fields.get("timestamp")), fields.get("subtype")
    match subtype:
        case "compact_boundary" | "microcompact_boundary":
            return [_compaction(mapping(fields.get("compactMetadata")), at_ms)]
        case "api_error":
            return [_retry(fields, at_ms)]
        case "local_command":
            said = read_text(text(fields, "content") or "")
            return [Notice(said.text, at_ms)] if said.origin is Origin.NOTICE else []
        case "stop_hook_summary":
            return [
                Notice(f"hook failed: {_error(error)}", at_ms) for error in items(fields.get("hookErrors"))
            ]
        case str() if subtype in _QUIET:
            return []
    words = text(fields, "content") or text(mapping(fields.get("error")), "message")
    if words is None:
        return [Unknown(f"type system/{in_words(subtype)}")]
    return [Notice(words, at_ms, is_error=fields.get("level") == "error")]


def attachment(fields: Fields) -> list[Event]:
    """Return the events of an attachment: what the program adds to a message for the model."""
    attached, at_ms = mapping(fields.get("attachment")), iso_ms(fields.get("timestamp"))
    kind = attached.get("type")
    if kind == "queued_command":
        return _queued(text(attached, "prompt"), at_ms)
    if kind in _HOOK_ERRORS:
        name = text(attached, "hookName") or text(attached, "hookEvent") or ""
        why = _error(attached.get("blockingError")) or text(attached, "stderr") or text(attached, "message")
        return [Notice(f"hook {name} failed: {why}" if why else f"hook {name} failed", at_ms)]
    return []


def names(kind: str, fields: Fields) -> list[Event]:
    """Return the title of the session, or its last prompt, by which Claude Code lists it."""
    if kind == "last-prompt":
        prompt = text(fields, "lastPrompt")
        return [] if prompt is None else [RunInfo(last_prompt=prompt)]
    title = text(fields, _TITLES[kind])
    return [] if title is None else [RunInfo(title=title, is_users_title=kind == "custom-title")]


def queue(fields: Fields) -> list[Event]:
    """Return the events of a queue operation: a prompt that is taken out of the queue goes to the model.

    One that begins a turn is written as a line of its own.
    """
    if fields.get("operation") != "remove":
        return []
    return _queued(text(fields, "content"), iso_ms(fields.get("timestamp")))


def _queued(words: str | None, at_ms: int | None) -> list[Event]:
    said = read_text(words or "")
    if said.origin is Origin.PROMPT:
        return [Notice(f"queued: {said.text}", at_ms)]
    return [Notice(said.text, at_ms)] if said.origin is Origin.NOTICE else []


def progress(fields: Fields) -> list[Event]:
    """Return the events of a progress line that does not wrap a message of a subagent."""
    data, call_id = mapping(fields.get("data")), text(fields, "parentToolUseID")
    kind = data.get("type")
    if kind == "bash_progress":
        output = text(data, "fullOutput")
        return [] if call_id is None else [ToolProgress(call_id, None, output, is_whole=True)]
    return [] if isinstance(kind, str) and kind in _WAITS else [Unknown(f"progress {in_words(kind)}")]


def _compaction(metadata: Fields, at_ms: int | None) -> Compaction:
    return Compaction(
        is_over=True,
        trigger=text(metadata, "trigger"),
        tokens_before=number(metadata, "preTokens"),
        tokens_after=number(metadata, "postTokens"),
        at_ms=at_ms,
    )


def _retry(fields: Fields, at_ms: int | None) -> Retry:
    delay = fields.get("retryInMs")
    if not isinstance(delay, int | float) or isinstance(delay, bool) or not 0 <= delay < _MOST_DELAY_MS:
        delay = None
    return Retry(
        _error(fields.get("error")),
        number(fields, "retryAttempt"),
        number(fields, "maxRetries"),
        None if delay is None else int(delay),
        at_ms,
    )


def _error(error: object) -> str:
    """Return the words of an error, which may be wrapped in further objects."""
    if isinstance(error, str):
        return error
    fields = mapping(error)
    for key in ("formatted", "message", "blockingError"):
        if found := text(fields, key):
            return found
    inner = mapping(fields.get("error"))
    deepest = mapping(inner.get("error"))
    status = number(fields, "status")
    code = text(mapping(fields.get("cause")), "code")
    return (
        text(inner, "message")
        or text(deepest, "message")
        or code
        or ("" if not status else f"status {status}")
    )
