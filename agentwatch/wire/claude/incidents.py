"""Reads the lines about incidents: hooks, background tasks, rate limits, retries and compactions."""

from __future__ import annotations

from typing import NamedTuple

from agentwatch.events import Compaction, Event, Notice, Retry, Tokens, Unknown, Usage, UsageScope
from agentwatch.wire.claude.calls import Calls
from agentwatch.wire.fields import NO_FIELDS, Fields, in_words, mapping, number, text

_QUIET = frozenset(
    (
        *("thinking_tokens", "hook_started", "hook_progress", "task_progress", "session_state_changed"),
        *("background_tasks_changed", "commands_changed", "files_persisted", "elicitation_complete"),
        *("plugin_install", "mirror_error", "memory_recall", "bridge_state", "post_turn_summary"),
        *("turn_duration", "microcompact_boundary", "local_command", "stop_hook_summary"),
        *("away_summary", "files_changed", "requesting", "worker_shutting_down"),
    )
)
"""Subtypes that report nothing that a user needs to know."""
_ENDS = frozenset(("completed", "failed", "stopped", "killed", "cancelled"))
_BAD_ENDS = frozenset(("failed", "killed"))
_MOST_TASKS = 256
_MOST_WORDS = 300
_MOST_DELAY = 1e12


class _Task(NamedTuple):
    words: str
    call_id: str | None


class Incidents:
    """Reads `system` lines other than init, and keeps the background tasks that are open; at most 256."""

    def __init__(self, calls: Calls) -> None:
        self._calls = calls
        self._tasks: dict[str, _Task] = {}

    def system(self, fields: Fields) -> list[Event]:
        """Return the events of a `system` line."""
        subtype = text(fields, "subtype")
        if subtype in _QUIET:
            return []
        match subtype:
            case "hook_response":
                return _hook(fields)
            case "task_started":
                return self._task_started(fields)
            case "task_updated":
                return self._task_ended(fields, mapping(fields.get("patch")))
            case "task_notification":
                return self._task_ended(fields, fields)
            case "status":
                return _status(fields)
            case "compact_boundary":
                return _compacted(mapping(fields.get("compact_metadata")))
            case "api_retry":
                return [_retry(fields)]
            case "informational" | "notification" | "local_command_output" | "model_refusal_fallback":
                return _said(fields)
        return [Unknown(f"type system/{in_words(subtype)}")]

    def _task_started(self, fields: Fields) -> list[Event]:
        key = _key(fields)
        self._tasks[key] = _Task(_words(fields, "description"), text(fields, "tool_use_id"))
        if len(self._tasks) > _MOST_TASKS:
            del self._tasks[next(iter(self._tasks))]
        return []

    def _task_ended(self, fields: Fields, state: Fields) -> list[Event]:
        """Return a notice if a task ends after its call: the call's own end says nothing about it."""
        status = text(state, "status")
        if status not in _ENDS or (task := self._tasks.pop(_key(fields), None)) is None:
            return []
        if self._calls.is_open(task.call_id):
            return []
        words = f"background task {status}: {task.words or _words(fields, 'summary')}"
        return [Notice(words, is_error=status in _BAD_ENDS)]


def _key(fields: Fields) -> str:
    return (text(fields, "task_id") or "")[:_MOST_WORDS]


def _words(fields: Fields, key: str) -> str:
    return (text(fields, key) or "")[:_MOST_WORDS]


def _hook(fields: Fields) -> list[Event]:
    """Return a notice about a hook that failed."""
    exit_code, outcome = number(fields, "exit_code"), text(fields, "outcome")
    if not exit_code and outcome in (None, "success"):
        return []
    said = _words(fields, "stderr").strip() or _words(fields, "output").strip()
    how = f"exit {exit_code}" if exit_code else outcome
    return [Notice(f"hook {_words(fields, 'hook_name')} failed: {how}{': ' if said else ''}{said}")]


def _status(fields: Fields) -> list[Event]:
    """Read a change of the agent's own status. The end of a compaction has a line of its own."""
    if fields.get("status") == "compacting":
        return [Compaction(is_over=False)]
    result = text(fields, "compact_result")
    if result in (None, "success"):
        return []
    reason = text(fields, "compact_error") or result
    return [Notice(f"compaction failed: {reason}")]


def _compacted(metadata: Fields) -> list[Event]:
    after = number(metadata, "post_tokens")
    ended = Compaction(True, text(metadata, "trigger"), number(metadata, "pre_tokens"), after)
    return [ended] if after is None else [ended, Usage(Tokens(context_used=after), UsageScope.REQUEST)]


def _retry(fields: Fields) -> Retry:
    """Read a retry. Its delay is a float."""
    delay = fields.get("retry_delay_ms")
    error, status = fields.get("error"), number(fields, "error_status")
    words = text(mapping(error), "message") or (error if isinstance(error, str) else "")
    shown = " ".join(filter(None, (words, "" if status is None else f"({status})")))
    return Retry(
        shown,
        number(fields, "attempt"),
        number(fields, "max_retries"),
        round(delay) if isinstance(delay, int | float) and 0 <= delay < _MOST_DELAY else None,
    )


def _said(fields: Fields) -> list[Event]:
    words = text(fields, "content") or text(fields, "message") or text(fields, "text")
    return [Notice(words)] if words else []


def rate_limit(fields: Fields) -> list[Event]:
    """Read a `rate_limit_event`. While all is allowed, it reports nothing."""
    info = mapping(fields.get("rate_limit_info")) or NO_FIELDS
    status = text(info, "status")
    if status == "allowed":
        return []
    kind = (text(info, "rateLimitType") or "").replace("_", " ")
    used = info.get("utilization")
    is_number = isinstance(used, float | int) and not isinstance(used, bool) and 0 <= used <= 1
    share = f"{used:.0%} used" if is_number else ""
    words = ("rate limit", kind, (status or "").replace("_", " "), share)
    return [Notice(" ".join(filter(None, words)), is_error=status == "rejected")]


def authentication(fields: Fields) -> list[Event]:
    """Read an `auth_status` line. Only one that failed is reported."""
    error = text(fields, "error")
    return [Notice(f"authentication failed: {error}", is_error=True)] if error else []
