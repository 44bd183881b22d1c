"""Decodes the stream of `pi --mode json`.

Everything is reported three times: by the end of a message, by the end of the model step (`turn_end`) and by
the end of the turn (`agent_end`). Only the first is used. Each `message_update` of versions before 0.84
repeats the message so far, twice; only the delta is read.
"""

from __future__ import annotations

from agentwatch.events import (
    Channel,
    Compaction,
    Event,
    Notice,
    Outcome,
    Prompt,
    Retry,
    RunInfo,
    RunStarted,
    ToolProgress,
    TurnEnded,
    TurnStarted,
    Unknown,
)
from agentwatch.wire.fields import Fields, in_words, items, mapping, number, text
from agentwatch.wire.pi.calls import Calls
from agentwatch.wire.pi.messages import (
    content_text,
    model_of,
    own_command,
    prompt_text,
    texts,
    turn_ended,
    usage,
)
from agentwatch.wire.pi.text import MessageText

_SILENT = frozenset(
    {
        *("turn_start", "turn_end", "queue_update", "entry_appended", "session_info_changed"),
        *("thinking_level_changed", "bash_execution_update", "extension_ui_request"),
        *("summarization_retry_attempt_start", "summarization_retry_finished"),
    }
)
"""Types whose lines report nothing that is shown, or repeat other lines."""
_CHANNELS = {"text": Channel.ANSWER, "thinking": Channel.REASONING}
_GOOD = TurnEnded(Outcome.SUCCEEDED)


class Decoder:
    """Decodes the lines of a stream into events, and keeps the state that later lines depend on."""

    def __init__(self) -> None:
        self._calls = Calls()
        self._text = MessageText()
        self._model: str | None = None
        self._is_open = False
        """Whether a turn has started and not ended."""
        self._last: TurnEnded | None = None
        """How the turn ends by its last message; None if calls follow, or before its first message."""
        self._held: TurnEnded | None = None
        """The end of a turn that failed, as long as the next line may retry it."""
        self._step = 0

    def decode(self, fields: Fields) -> list[Event]:
        """Return the events of one line."""
        kind = fields.get("type")
        held = self._settle(kind, fields) if self._held is not None else []
        return [*held, *self._events(kind, fields)]

    def end(self) -> list[Event]:
        """Return the events that follow from the end of the stream: nothing has retried a failed turn."""
        return self._ended()

    def _events(self, kind: object, fields: Fields) -> list[Event]:
        match kind:
            case "message_update":
                return self._update(mapping(fields.get("assistantMessageEvent")))
            case "message_start":
                return self._text.begin()
            case "message_end":
                return self._message(mapping(fields.get("message")))
            case "tool_execution_start":
                call_id, name = _call(fields)
                arguments = mapping(fields.get("args"))
                return [self._calls.started(call_id, name, arguments, group=f"{self._step}")]
            case "tool_execution_update":
                output = content_text(mapping(fields.get("partialResult")).get("content"))
                return [ToolProgress(_call(fields)[0], None, output or None, is_whole=True)]
            case "tool_execution_end":
                call_id, name = _call(fields)
                result = mapping(fields.get("result"))
                return [self._calls.ended(call_id, name, result, fields.get("isError"))]
            case "session":
                return [*self._text.begin(), self._run_started(fields)]
            case "agent_start":
                return self._turn_started()
            case "agent_end":
                return self._agent_ended(fields)
            case "agent_settled":
                return self._turn_over(self._last or _GOOD) if self._is_open else []
            case "turn_start":
                self._step += 1
                return []
        return self._incident(kind, fields)

    def _incident(self, kind: object, fields: Fields) -> list[Event]:
        match kind:
            case "auto_retry_start" | "summarization_retry_scheduled":
                return [_retry(fields)]
            case "auto_retry_end":
                if fields.get("success") is not False or not self._is_open:
                    return []
                failed = self._last or _GOOD
                return self._turn_over(failed._replace(result=text(fields, "finalError") or failed.result))
            case "auto_compaction_start" | "compaction_start":
                return [Compaction(is_over=False, trigger=text(fields, "reason"))]
            case "auto_compaction_end" | "compaction_end":
                return _compacted(fields)
            case "extension_error" | "notice":
                message = text(fields, "error") or text(fields, "message") or "an extension failed"
                return [Notice(message, is_error=kind == "extension_error")]
            case "response":
                return _response(fields)
            case str() if kind in _SILENT:
                return []
        return [Unknown(f"type {in_words(kind)}")]

    def _update(self, update: Fields) -> list[Event]:
        """Read an update. The texts of several blocks may end together, at the end of the message."""
        kind = text(update, "type") or ""
        index = number(update, "contentIndex") or 0
        block, _, step = kind.partition("_")
        channel = _CHANNELS.get(block)
        if channel is not None and step == "delta" and (delta := text(update, "delta")):
            return self._text.add(index, channel, delta)
        if channel is not None and step == "end" and (whole := text(update, "content")):
            return self._text.end_block(index, channel, whole)
        return []

    def _message(self, message: Fields) -> list[Event]:
        match message.get("role"):
            case "user":
                self._is_open = True
                self._last = None
                return [*self._text.begin(), Prompt(prompt_text(message))]
            case "assistant":
                self._last = turn_ended(message)
                is_whole = self._last is None or self._last.outcome is _GOOD.outcome
                counts = usage(mapping(message.get("usage")), has_context=is_whole)
                return [*self._text.end(texts(message)), *self._info(message), *counts]
            case "bashExecution":
                return [own_command(message)]
        return []

    def _info(self, message: Fields) -> list[Event]:
        model = model_of(message)
        if model is None or model == self._model:
            return []
        self._model = model
        return [RunInfo(model=model)]

    def _run_started(self, fields: Fields) -> RunStarted:
        cwd = text(fields, "cwd")
        self._calls.begin_run(cwd)
        self._model = self._last = None
        self._is_open = False
        return RunStarted("pi", session_id=text(fields, "id"), cwd=cwd)

    def _turn_started(self) -> list[Event]:
        """Begin a turn, unless the agent only tries again."""
        self._last = None
        if self._is_open:
            return []
        self._is_open = True
        return [TurnStarted()]

    def _agent_ended(self, fields: Fields) -> list[Event]:
        """End the turn. A failure may be retried: versions before 0.84 say so only on the next line."""
        messages = map(mapping, items(fields.get("messages")))
        last = [each for each in messages if each.get("role") == "assistant"][-1:]
        ended = self._last or (turn_ended(last[0]) if last else None) or _GOOD
        if fields.get("willRetry") is True:
            self._last = ended
            return self._text.begin()
        if ended.outcome is not _GOOD.outcome and "willRetry" not in fields:
            self._held = ended
            return self._text.begin()
        return self._turn_over(ended)

    def _settle(self, kind: object, fields: Fields) -> list[Event]:
        """Return the held end of a turn, unless this line retries the turn or may still do so."""
        if kind == "auto_retry_start" or (_is_overflow(kind, fields) and fields.get("willRetry") is True):
            self._last, self._held = self._held, None
            return []
        is_undecided = _is_overflow(kind, fields) and "willRetry" not in fields
        return [] if is_undecided else self._ended()

    def _ended(self) -> list[Event]:
        held, self._held = self._held, None
        return [] if held is None else self._turn_over(held)

    def _turn_over(self, ended: TurnEnded) -> list[Event]:
        self._is_open = False
        return [*self._text.begin(), ended]


def _call(fields: Fields) -> tuple[str, str]:
    return text(fields, "toolCallId") or "", text(fields, "toolName") or "tool"


def _response(fields: Fields) -> list[Event]:
    """Read the answer to a command of `pi --mode rpc`. Only that to `get_state` has the session's id."""
    if fields.get("success") is False:
        command = text(fields, "command") or "a command"
        return [Notice(f"{command} failed: {text(fields, 'error') or 'no reason given'}", is_error=True)]
    session_id = text(mapping(fields.get("data")), "sessionId")
    is_state = fields.get("command") == "get_state" and session_id is not None
    return [RunInfo(session_id=session_id)] if is_state else []


def _retry(fields: Fields) -> Retry:
    return Retry(
        text(fields, "errorMessage") or "",
        attempt=number(fields, "attempt"),
        most_attempts=number(fields, "maxAttempts"),
        delay_ms=number(fields, "delayMs"),
    )


def _is_overflow(kind: object, fields: Fields) -> bool:
    """Return whether a line is about a compaction after a request that the context was too small for."""
    if kind in ("auto_compaction_end", "compaction_end"):
        return True
    return kind in ("auto_compaction_start", "compaction_start") and fields.get("reason") == "overflow"


def _compacted(fields: Fields) -> list[Event]:
    result = mapping(fields.get("result"))
    if not result:
        words = text(fields, "errorMessage") or ("aborted" if fields.get("aborted") is True else "no result")
        return [Compaction(is_over=True), Notice(f"compaction failed: {words}")]
    return [
        Compaction(
            is_over=True,
            trigger=text(fields, "reason"),
            tokens_before=number(result, "tokensBefore"),
            tokens_after=number(result, "estimatedTokensAfter"),
        )
    ]
