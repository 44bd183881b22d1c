"""Decodes the lines of a transcript of Cursor, in the order in which they were written."""

from __future__ import annotations

from collections.abc import Iterator

from agentwatch.events import (
    Channel,
    Event,
    Outcome,
    Prompt,
    RunStarted,
    Text,
    TextEnded,
    TurnStarted,
    Unknown,
)
from agentwatch.wire.cursor_transcript.calls import Calls
from agentwatch.wire.cursor_transcript.prompts import agent_words, user_words
from agentwatch.wire.cursor_transcript.recognition import FORMAT, parts_of
from agentwatch.wire.fields import Fields, in_words, text
from agentwatch.wire.on_disk.turns import Turns

_CHANNELS = {
    "text": Channel.ANSWER,
    "thinking": Channel.REASONING,
    "reasoning": Channel.REASONING,
}
_QUIET = frozenset(("tool_use", "tool_result", "image", "redacted_thinking"))
"""Types of parts that are read elsewhere, or say nothing in words."""
_OUTCOMES = {
    "success": Outcome.SUCCEEDED,
    "completed": Outcome.SUCCEEDED,
    "error": Outcome.FAILED,
    "aborted": Outcome.CANCELLED,
    "cancelled": Outcome.CANCELLED,
}


class Decoder:
    """Decodes the lines of one transcript into events, and keeps the state that later lines depend on.

    No line ends a call. A message after it shows that the agent went on, so that the call has ended in some
    way; the calls of the last message may still run.
    """

    def __init__(self) -> None:
        self._turns = Turns()
        self._calls = Calls()
        self._is_first = True

    def decode(self, fields: Fields) -> list[Event]:
        """Return the events of one line."""
        begun: list[Event] = []
        if self._is_first:
            self._is_first = False
            begun.append(RunStarted(FORMAT))
        return [*begun, *self._events(fields)]

    def end(self) -> list[Event]:
        """Return no events: the end of the file says nothing about its last turn."""
        return []

    def _events(self, fields: Fields) -> Iterator[Event]:
        role, kind = fields.get("role"), fields.get("type")
        if role == "user":
            yield from self._user(fields)
        elif role == "assistant":
            yield from self._assistant(fields)
        elif kind == "turn_ended":
            yield from self._turn_ended(fields)
        else:
            yield Unknown(f"type {in_words(kind)}" if role is None else f"role {in_words(role)}")

    def _user(self, fields: Fields) -> Iterator[Event]:
        yield from self._calls.results(fields)
        yield from _unknown_parts(fields)
        said = [words for part in parts_of(fields) if (words := _text_in(part))]
        prompt = user_words("\n".join(said))
        if prompt:
            yield from self._calls.went_on()
            self._turns.prompted(None)
            yield Prompt(prompt)

    def _assistant(self, fields: Fields) -> Iterator[Event]:
        yield from self._calls.went_on()
        if self._turns.resumes(None):
            yield TurnStarted()
        for part in parts_of(fields):
            kind = part.get("type")
            channel = _CHANNELS.get(kind) if isinstance(kind, str) else None
            words = agent_words(_text_in(part) or "")
            if channel is not None and words:
                yield Text(channel, words)
                yield TextEnded(channel)
        yield from _unknown_parts(fields)
        yield from self._calls.started(fields)

    def _turn_ended(self, fields: Fields) -> Iterator[Event]:
        status = fields.get("status")
        outcome = _OUTCOMES.get(status) if isinstance(status, str) else None
        if outcome is None:
            yield Unknown(f"status {in_words(status)}")
            return
        if outcome is Outcome.SUCCEEDED:
            yield from self._calls.went_on()
        self._calls.clear()
        yield from self._turns.end(outcome, text(fields, "error"))


def _text_in(part: Fields) -> str | None:
    """Return the text of a part; None for a part of another type."""
    kind = part.get("type")
    if not isinstance(kind, str) or kind not in _CHANNELS:
        return None
    return text(part, "text") or text(part, "thinking")


def _unknown_parts(fields: Fields) -> Iterator[Unknown]:
    for part in parts_of(fields):
        kind = part.get("type")
        if not isinstance(kind, str) or (kind not in _CHANNELS and kind not in _QUIET):
            yield Unknown(f"content {in_words(kind)}")
