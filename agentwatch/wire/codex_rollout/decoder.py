"""Decodes Codex's rollouts.

The format is taken from rollouts of versions 0.104 to 0.169, and from `codex-rs/protocol` and
`codex-rs/rollout`. A line is `{"timestamp": …, "type": …, "payload": …}`. A `response_item` is what the model
wrote or got, an `event_msg` is what Codex reported to its screen.
"""

from __future__ import annotations

from agentwatch.events import (
    Compaction,
    Event,
    Notice,
    RunInfo,
    RunStarted,
    Tokens,
    Unknown,
    Usage,
    UsageScope,
)
from agentwatch.wire.codex.usage import tokens_of
from agentwatch.wire.codex_rollout.notices import notice_of
from agentwatch.wire.codex_rollout.recognition import time_of
from agentwatch.wire.codex_rollout.turns import Turns
from agentwatch.wire.fields import Fields, in_words, mapping, number, text

FORMAT = "codex-rollout"
_ONE_LINER = "codex_exec"
"""The originator of a session that another program starts for one prompt, with `codex exec`."""
_CONTEXT_ITEMS = frozenset(
    {
        *("compaction", "compaction_summary", "context_compaction", "compaction_trigger", "ghost_snapshot"),
        *("additional_tools", "other"),
    }
)
"""Items that belong to the model's context, and report nothing."""


class Decoder:
    """Decodes the lines of a rollout into events."""

    def __init__(self) -> None:
        self._turns = Turns()
        self._has_begun = False
        self._is_compacted = False
        """Whether the newest content of the conversation is a compaction, which up to three lines report."""

    def decode(self, fields: Fields) -> list[Event]:
        """Return the events of one line."""
        payload, at_ms = mapping(fields.get("payload")), time_of(fields)
        match fields.get("type"):
            case "session_meta":
                return self._session(payload)
            case "turn_context":
                return self._context(payload)
            case "response_item":
                return self._item(payload, at_ms)
            case "event_msg":
                return self._event(payload, at_ms)
            case "compacted":
                return self._compacted(at_ms)
            case "token_usage_record":
                return _usage(mapping(payload.get("thread_token_usage")), mapping(payload.get("usage")))
            case "world_state" | "inter_agent_communication" | "inter_agent_communication_metadata":
                return []
        return [Unknown(f"type {in_words(fields.get('type'))}")]

    def end(self) -> list[Event]:
        """Return the events that follow from the end of the rollout."""
        return [*self._turns.texts.late_prompts(), *self._turns.calls.end()]

    def _session(self, payload: Fields) -> list[Event]:
        """Begin the run. A second session_meta is that of the session from which this one was forked."""
        if self._has_begun:
            return []
        self._has_begun = True
        started = RunStarted(
            FORMAT,
            session_id=text(payload, "id") or text(payload, "session_id"),
            cwd=self._move_to(text(payload, "cwd")),
            agent_version=text(payload, "cli_version"),
        )
        branch = text(mapping(payload.get("git")), "branch")
        is_one_liner = payload.get("originator") == _ONE_LINER
        begun: list[Event] = [started]
        if branch is not None or is_one_liner:
            begun.append(RunInfo(branch=branch, is_one_liner=is_one_liner))
        spawned = mapping(mapping(mapping(payload.get("source")).get("subagent")).get("thread_spawn"))
        if parent := text(payload, "parent_thread_id") or text(spawned, "parent_thread_id"):
            return [*begun, Notice(f"subagent of session {parent}")]
        if origin := text(payload, "forked_from_id"):
            return [*begun, Notice(f"forked from session {origin}")]
        return begun

    def _move_to(self, cwd: str | None) -> str | None:
        if cwd is not None:
            self._turns.calls.cwd = cwd.rstrip("/\\")
        return cwd

    def _context(self, payload: Fields) -> list[Event]:
        model, policy = text(payload, "model"), text(payload, "approval_policy")
        cwd = self._move_to(text(payload, "cwd"))
        if model is None and policy is None and cwd is None:
            return []
        return [RunInfo(model=model, cwd=cwd, permission_mode=policy)]

    def _compacted(self, at_ms: int | None) -> list[Event]:
        if self._is_compacted:
            return []
        self._is_compacted = True
        return [Compaction(is_over=True, at_ms=at_ms)]

    def _item(self, item: Fields, at_ms: int | None) -> list[Event]:
        kind = item.get("type")
        if isinstance(kind, str) and kind in _CONTEXT_ITEMS:
            return []
        events = self._turns.item(kind, item, at_ms) if isinstance(kind, str) else None
        return [Unknown(f"item {in_words(kind)}")] if events is None else self._changed(events)

    def _event(self, event: Fields, at_ms: int | None) -> list[Event]:
        kind = event.get("type")
        if kind == "token_count":
            info = mapping(event.get("info"))
            total, last = mapping(info.get("total_token_usage")), mapping(info.get("last_token_usage"))
            return _usage(total, last, number(info, "model_context_window"))
        if kind == "thread_settings_applied":
            return self._context(mapping(event.get("thread_settings")))
        if kind == "thread_name_updated":
            title = text(event, "thread_name")
            return [] if title is None else [RunInfo(title=title, is_users_title=True)]
        if kind in ("task_started", "turn_started"):
            size = number(event, "model_context_window")
            self._turns.texts.announce_turn()
            cut = self._turns.calls.begin_turn()
            return cut if size is None else [*cut, Usage(Tokens(context_size=size), UsageScope.REQUEST)]
        if kind == "context_compacted":
            return self._compacted(at_ms)
        if kind == "item_completed":
            item = mapping(event.get("item"))
            if item.get("type") == "ContextCompaction":
                return self._compacted(at_ms)
            found = self._turns.completed(item, event, at_ms)
            return [Unknown(f"item {in_words(item.get('type'))}")] if found is None else self._changed(found)
        if not isinstance(kind, str):
            return [Unknown(f"event {in_words(kind)}")]
        events = self._turns.event(kind, event, at_ms)
        if events is not None:
            return self._changed(events)
        notice = notice_of(kind, event, at_ms)
        return [Unknown(f"event {in_words(kind)}")] if notice is None else notice

    def _changed(self, events: list[Event]) -> list[Event]:
        if events:
            self._is_compacted = False
        return events


def _usage(total: Fields, last: Fields, size: int | None = None) -> list[Event]:
    """Return the token count of the run so far, and the context of the newest request."""
    used = number(last, "total_tokens")
    tokens = tokens_of(total)._replace(context_used=used, context_size=size)
    return [] if tokens == Tokens() else [Usage(tokens, UsageScope.RUN)]
