"""Decodes Goose's stream. Texts, requests of calls and their responses are parts of messages.

A response comes in a message of the user. An error is followed by the line that ends the turn.
"""

from __future__ import annotations

from typing import NamedTuple

from agentwatch.agents.fields import Fields, cost, in_words, items, mapping, number, text
from agentwatch.agents.tool import Tool
from agentwatch.session.events import (
    Channel,
    Event,
    Notice,
    Outcome,
    Permission,
    Prompt,
    RunInfo,
    Text,
    Tokens,
    ToolEnded,
    ToolKind,
    ToolProgress,
    ToolStarted,
    TurnEnded,
    TurnStarted,
    Unknown,
    Usage,
    UsageScope,
)
from agentwatch_goose.content import Request, request_in, response_in
from agentwatch_goose.tools import tool_of

_MOST_OPEN = 1000
_MOST_REASON = 4096
_SILENT = frozenset(("image", "redactedThinking"))
"""Parts of a message that have no text."""


class _Open(NamedTuple):
    """The tool of an open call, which its response does not name."""

    name: str
    tool: Tool


class Decoder:
    """Decodes Goose's lines into events, and keeps the state that later lines depend on."""

    def __init__(self) -> None:
        self._open: dict[str, _Open] = {}
        self._model: str | None = None
        self._error: str | None = None
        """The error of the present turn."""
        self._is_over = True
        """Whether no turn is open. A stream need not contain the prompt."""

    def decode(self, fields: Fields) -> list[Event]:
        """Return the events of one line."""
        match fields.get("type"):
            case "message":
                return self._message(mapping(fields.get("message")))
            case "notification":
                return self._progress(fields)
            case "error":
                self._error = _bounded(text(fields, "error") or "error without a message")
                return [*self._continued(), Notice(self._error, is_error=True)]
            case "complete":
                return self._completed(fields)
            case "model_change":
                return self._used_model(text(fields, "model"))
        return [Unknown(f"type {in_words(fields.get('type'))}")]

    def end(self) -> list[Event]:
        """Return the end of the turn, if it failed and no line has ended it."""
        return [] if self._error is None else [TurnEnded(Outcome.FAILED, result=self._error)]

    def _continued(self) -> list[Event]:
        """Return the start of a turn, if the last one has ended."""
        is_over, self._is_over = self._is_over, False
        return [TurnStarted()] if is_over else []

    def _used_model(self, model: str | None) -> list[Event]:
        if model is None or model == self._model:
            return []
        self._model = model
        return [RunInfo(model=model)]

    def _message(self, message: Fields) -> list[Event]:
        inference = mapping(mapping(message.get("metadata")).get("inference"))
        events = self._used_model(text(inference, "requestedModel"))
        parts = [mapping(part) for part in items(message.get("content"))]
        is_users = message.get("role") == "user"
        prompts = [text(part, "text") for part in parts if part.get("type") == "text"] if is_users else []
        if prompt := "".join(words for words in prompts if words):
            is_hidden = mapping(message.get("metadata")).get("userVisible") is False
            if not is_hidden:
                self._is_over = False
                events.append(Prompt(prompt))
        for part in parts:
            if not (is_users and part.get("type") == "text"):
                events += self._part(part)
        return events

    def _part(self, part: Fields) -> list[Event]:
        kind = part.get("type")
        match kind:
            case "text":
                words = text(part, "text")
                return [*self._continued(), Text(Channel.ANSWER, words)] if words else []
            case "thinking" | "reasoning":
                words = text(part, "thinking") or text(part, "text")
                return [*self._continued(), Text(Channel.REASONING, words)] if words else []
            case "toolRequest" | "frontendToolRequest":
                return [*self._continued(), *self._requested(request_in(part))]
            case "toolResponse":
                return [self._responded(part)]
            case "toolConfirmationRequest":
                return [_permission(part)]
            case "actionRequired":
                data = mapping(part.get("data"))
                return [_permission(data)] if data.get("actionType") == "toolConfirmation" else []
            case "systemNotification":
                words = text(part, "msg")
                is_news = words and part.get("notificationType") != "thinkingMessage"
                return [Notice(_bounded(words))] if words and is_news else []
        if isinstance(kind, str) and kind in _SILENT:
            return []
        return [Unknown(f"content {in_words(kind)}")]

    def _requested(self, request: Request) -> list[Event]:
        tool = request.tool
        self._open[request.call_id] = _Open(request.name, tool)
        if len(self._open) > _MOST_OPEN:
            del self._open[next(iter(self._open))]
        paths = tool.paths(request.arguments)
        return [
            ToolStarted(
                call_id=request.call_id,
                session_id=None,
                tool=request.name,
                kind=tool.kind,
                phrase=tool.phrase,
                target=", ".join(paths) or tool.target(request.arguments),
                path=paths[0] if paths else None,
            )
        ]

    def _responded(self, part: Fields) -> ToolEnded:
        response = response_in(part)
        use = self._open.pop(response.call_id, None) or _Open("unknown", tool_of("unknown", {}))
        is_command = use.tool.kind is ToolKind.EXECUTE
        code = response.exit_code if is_command else None
        has_code = code is not None and code != 0 and response.outcome is Outcome.FAILED
        return ToolEnded(
            call_id=response.call_id,
            session_id=None,
            tool=use.name,
            kind=use.tool.kind,
            outcome=response.outcome,
            phrase=use.tool.phrase,
            error=f"exit {code}" if has_code else response.error,
            exit_code=code,
        )

    def _progress(self, fields: Fields) -> list[Event]:
        """Return what the open call has printed. The line does not name the call, so there must be one."""
        log = mapping(fields.get("log")) or fields
        message = text(log, "message")
        if message is None or len(self._open) != 1:
            return []
        return [ToolProgress(next(iter(self._open)), None, f"{message}\n")]

    def _completed(self, fields: Fields) -> list[Event]:
        """Read the end of the turn. The counts are those of the session, whose input includes the cache."""
        tokens = Tokens(
            input=number(fields, "input_tokens"),
            cached=number(fields, "cache_read_input_tokens"),
            output=number(fields, "output_tokens"),
            cost_usd=cost(fields.get("cost_usd")),
        )
        counts = {key: value for key in fields if (value := number(fields, key)) is not None}
        reason, self._error = self._error, None
        self._is_over = True
        outcome = Outcome.SUCCEEDED if reason is None else Outcome.FAILED
        ended = TurnEnded(outcome, result=reason, usage=counts or None)
        return [Usage(tokens, UsageScope.RUN), ended] if any(tokens) else [ended]


def _permission(asked: Fields) -> Permission:
    name, arguments = text(asked, "toolName") or "a tool", mapping(asked.get("arguments"))
    tool = tool_of(name, arguments)
    target = ", ".join(tool.paths(arguments)) or tool.target(arguments)
    key = text(asked, "id")
    return Permission(name, None, text(asked, "prompt"), key=key, call_id=key, target=target)


def _bounded(words: str) -> str:
    return f"{words[: _MOST_REASON - 1]}…" if len(words) > _MOST_REASON else words
