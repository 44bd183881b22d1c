"""Decodes Gemini's `--output-format stream-json`.

The lines are those of gemini-cli 0.61 (`packages/core/src/output/types.ts`). The agent writes the user's
prompt once, the answer in deltas without a full copy, no thoughts, no working directory and no exit codes.
All calls of a batch are announced before the first of them ends.
"""

from __future__ import annotations

from typing import NamedTuple

from agentwatch.events import (
    Channel,
    Event,
    Notice,
    Outcome,
    Plan,
    Prompt,
    RunInfo,
    RunStarted,
    Text,
    TextEnded,
    Tokens,
    ToolEnded,
    ToolKind,
    ToolStarted,
    TurnEnded,
    Unknown,
    Usage,
    UsageScope,
)
from agentwatch.wire.fields import Fields, in_words, items, mapping, number, scalars, text
from agentwatch.wire.gemini.plans import plan_in
from agentwatch.wire.gemini.results import argument_facts, ending, shown_facts
from agentwatch.wire.gemini.tools import name_in_id, target_of, tool_named
from agentwatch.wire.on_disk.iso_time import iso_ms
from agentwatch.wire.segment_text import SegmentText
from agentwatch.wire.tool import NO_FACTS, Facts, Tool

FORMAT = "gemini"
_MOST_OPEN = 1000
"""The number of open calls whose arguments are kept. A batch of real sessions has a few."""
_MOST_REASON = 4096
"""In characters. The message of an API error can have 50,000."""
_CANCELLATION = "FatalCancellationError"


class _Open(NamedTuple):
    """What the start of a call says about its end."""

    name: str
    tool: Tool
    plan: Plan | None = None
    facts: Facts = NO_FACTS


class Decoder:
    """Decodes Gemini's lines into events, and keeps the state that later lines depend on."""

    def __init__(self) -> None:
        self._open: dict[str, _Open] = {}
        self._segment = SegmentText()
        self._has_deltas = False
        self._model: str | None = None
        self._last_error: str | None = None

    def decode(self, fields: Fields) -> list[Event]:
        """Return the events of one line."""
        kind = fields.get("type")
        if kind == "message":
            return self._message(fields)
        self._end_segment()
        match kind:
            case "tool_use":
                return self._tool_started(fields)
            case "tool_result":
                return self._tool_ended(fields)
            case "init":
                return [self._run_started(fields)]
            case "error":
                return [self._notice(fields)]
            case "result":
                return self._run_ended(fields)
        return [Unknown(f"type {in_words(kind)}")]

    def end(self) -> list[Event]:
        """Return the events that follow from the end of the stream: none."""
        return []

    def _run_started(self, fields: Fields) -> RunStarted:
        self._open.clear()
        self._last_error = None
        self._model = text(fields, "model")
        return RunStarted(
            FORMAT, session_id=text(fields, "session_id"), model=self._model, cwd=text(fields, "cwd")
        )

    def _message(self, fields: Fields) -> list[Event]:
        content, at_ms = _content(fields), iso_ms(fields.get("timestamp"))
        match fields.get("role"):
            case "user":
                self._end_segment()
                return [Unknown("user message without text")] if content is None else [Prompt(content)]
            case "assistant" | "model":
                if content is None:
                    return [Unknown("assistant message without text")]
                return self._answer(content, at_ms, is_delta=fields.get("delta") is True)
        return [Unknown(f"message of role {in_words(fields.get('role'))}")]

    def _answer(self, content: str, at_ms: int | None, *, is_delta: bool) -> list[Event]:
        """Return the text of a message, unless it repeats the deltas before it."""
        if not is_delta and self._has_deltas and self._segment.is_repeated_by(content):
            self._end_segment()
            return [TextEnded(Channel.ANSWER, at_ms)]
        if is_delta:
            self._has_deltas = True
            self._segment.add(content)
        return [Text(Channel.ANSWER, content, at_ms)]

    def _end_segment(self) -> None:
        if self._has_deltas:
            self._segment.clear()
            self._has_deltas = False

    def _tool_started(self, fields: Fields) -> list[Event]:
        name = text(fields, "tool_name") or name_in_id(text(fields, "tool_id") or "")
        tool, arguments = tool_named(name), mapping(fields.get("parameters"))
        call_id = text(fields, "tool_id") or ""
        plan = plan_in(arguments) if tool.kind is ToolKind.PLAN else None
        self._open[call_id] = _Open(name, tool, plan, argument_facts(name, arguments))
        if len(self._open) > _MOST_OPEN:
            del self._open[next(iter(self._open))]
        target, paths = target_of(tool, arguments)
        return [
            ToolStarted(
                call_id=call_id,
                session_id=None,
                tool=name,
                kind=tool.kind,
                phrase=tool.phrase,
                target=", ".join(paths) or target,
                path=paths[0] if paths else None,
                more_paths=tuple(paths[1:]),
                at_ms=iso_ms(fields.get("timestamp")),
            )
        ]

    def _tool_ended(self, fields: Fields) -> list[Event]:
        call_id = text(fields, "tool_id") or ""
        name = text(fields, "tool_name") or name_in_id(call_id)
        use = self._open.pop(call_id, None) or _Open(name, tool_named(name))
        error, output = fields.get("error"), text(fields, "output")
        details = mapping(error)
        reason = text(details, "message") or (error if isinstance(error, str) and error else None)
        error_type = text(details, "type")
        if reason is None and error_type is None and "status" in fields:
            reason = output
        end = ending(fields.get("status"), reason, error_type)
        is_success = end.outcome is Outcome.SUCCEEDED
        facts = shown_facts(use.tool, fields.get("output"), use.facts) if is_success else NO_FACTS
        ended = ToolEnded(
            call_id=call_id,
            session_id=None,
            tool=use.name,
            kind=use.tool.kind,
            outcome=end.outcome,
            phrase=facts.phrase or use.tool.phrase,
            error=end.error,
            note=facts.note,
            is_new_file=facts.is_new_file,
            lines_added=facts.lines_added,
            lines_removed=facts.lines_removed,
            at_ms=iso_ms(fields.get("timestamp")),
        )
        events: list[Event] = [ended]
        if use.plan is not None and is_success:
            events.append(use.plan)
        if end.unknown_status is not None:
            events.append(Unknown(f"status {end.unknown_status} of a call"))
        return events

    def _notice(self, fields: Fields) -> Notice:
        message = _reason(fields) or "error without a message"
        is_error = fields.get("severity") != "warning"
        if is_error:
            self._last_error = message
        return Notice(message, iso_ms(fields.get("timestamp")), is_error=is_error)

    def _run_ended(self, fields: Fields) -> list[Event]:
        """Read a result line: the token counts and the end of the turn.

        A failure before the model's answer has no error of its own: the line of the error came before.
        """
        status, stats = fields.get("status"), mapping(fields.get("stats"))
        error = fields.get("error")
        is_success = status == "success" or (status is None and not error)
        is_cancelled = status == "cancelled" or text(mapping(error), "type") == _CANCELLATION
        outcome = Outcome.CANCELLED if is_cancelled else Outcome.FAILED
        reason = _reason(fields) or self._last_error
        events: list[Event] = []
        if model := self._used_model(stats):
            events.append(RunInfo(model=model))
        if stats:
            events.append(Usage(_tokens(stats), UsageScope.TURN))
        self._last_error = None
        ended = TurnEnded(
            outcome=Outcome.SUCCEEDED if is_success else outcome,
            result=None if is_success else reason,
            session_id=text(fields, "session_id"),
            # the agent writes 0 for a run that failed
            duration_ms=number(stats, "duration_ms") if is_success else number(stats, "duration_ms") or None,
            usage=scalars(stats) if stats else None,
        )
        return [*events, ended]

    def _used_model(self, stats: Fields) -> str | None:
        """Return the model with the most tokens, if the init line names none of those that were used.

        The init line may contain a choice instead, such as `auto`.
        """
        models = {name: number(mapping(value), "total_tokens") or 0 for name, value in _models(stats)}
        if not models or self._model in models:
            return None
        return max(models, key=lambda name: models[name])


def _models(stats: Fields) -> list[tuple[str, object]]:
    return [(name, value) for name, value in mapping(stats.get("models")).items() if name]


def _content(fields: Fields) -> str | None:
    """Return the text of a message; None for a message without one. Some programs write a list of parts."""
    content = fields.get("content")
    if isinstance(content, str):
        return content
    texts = [text(mapping(part), "text") for part in items(content)]
    return "".join(part for part in texts if part) or None


def _reason(fields: Fields) -> str | None:
    """Return why a run failed, or what the agent reports, in at most 4,096 characters."""
    error = fields.get("error")
    details = mapping(error)
    words = error if isinstance(error, str) else text(details, "message") or text(details, "type")
    words = words or text(fields, "message")
    return f"{words[: _MOST_REASON - 1]}…" if words and len(words) > _MOST_REASON else words


def _tokens(stats: Fields) -> Tokens:
    """Return the tokens of a run. The input includes what was cached; the output includes no thoughts."""
    return Tokens(
        input=number(stats, "input_tokens"),
        cached=number(stats, "cached"),
        output=number(stats, "output_tokens"),
    )
