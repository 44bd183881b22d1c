"""Decodes `codex exec --json`.

The format is taken from captures of versions 0.46 to 0.169, and from `codex-rs/exec/src/exec_events.rs`.
No line has a time. Only the first line has the session's id. A message is always whole, never a delta.
"""

from __future__ import annotations

from agentwatch.events import (
    Channel,
    Event,
    Notice,
    Outcome,
    Permission,
    RunStarted,
    Text,
    TextEnded,
    TurnEnded,
    TurnStarted,
    Unknown,
    Usage,
    UsageScope,
)
from agentwatch.wire.codex.calls import ended, started
from agentwatch.wire.codex.items import CALLS, ENDS_ALONE, read_item
from agentwatch.wire.codex.messages import error_event, message_in
from agentwatch.wire.codex.plans import plan_of
from agentwatch.wire.codex.repeats import Repeats
from agentwatch.wire.codex.usage import tokens_of
from agentwatch.wire.fields import Fields, in_words, items, mapping, text
from agentwatch.wire.json_line import whole_text
from agentwatch.wire.oversize import Salvaged

FORMAT = "codex"
_CHANNELS = {
    "agent_message": Channel.ANSWER,
    "plan": Channel.ANSWER,
    "reasoning": Channel.REASONING,
}
_IS_RETRY = "Reconnecting..."


class Decoder:
    """Decodes the lines of `codex exec --json` into events."""

    def __init__(self) -> None:
        self._repeats = Repeats()

    def decode(self, fields: Fields) -> list[Event]:
        """Return the events of one line."""
        match fields.get("type"):
            case "thread.started":
                self._repeats.clear()
                return [RunStarted(FORMAT, text(fields, "thread_id"))]
            case "turn.started":
                self._repeats.clear()
                return [TurnStarted()]
            case "turn.completed":
                return self._turn_completed(mapping(fields.get("usage")))
            case "turn.failed":
                self._repeats.clear()
                error = fields.get("error")
                reason = message_in(mapping(error)) or (error if isinstance(error, str) else None)
                return [TurnEnded(Outcome.FAILED, reason)]
            case "error":
                return self._error(message_in(fields))
            case "item.started" | "item.updated" | "item.completed" as kind:
                return self._item(kind, mapping(fields.get("item")), isinstance(fields, Salvaged))
            case "item.plan.delta":
                return []  # the item of the plan repeats the whole text
            case "request_user_input":
                return [_question(fields)]
        return [Unknown(f"type {in_words(fields.get('type'))}")]

    def end(self) -> list[Event]:
        """Return the events that follow from the end of the stream: none."""
        return []

    def _turn_completed(self, usage: Fields) -> list[Event]:
        """Return the end of a turn. Its token count is that of the whole thread, also of earlier runs.

        A capture of version 0.157 shows this: three runs of one thread counted 10,656, 21,328 and 32,017.
        """
        self._repeats.clear()
        ended = TurnEnded(Outcome.SUCCEEDED, usage=usage or None)
        return [Usage(tokens_of(usage), UsageScope.RUN), ended] if usage else [ended]

    def _error(self, message: str | None) -> list[Event]:
        """Return a retry or a notice. An error ends a turn only if `turn.failed` follows."""
        if message is None:
            return [Unknown("error without a message")]
        if message.startswith(_IS_RETRY):
            self._repeats.retry()
        return [error_event(message)]

    def _item(self, line: str, item: Fields, is_partial: bool) -> list[Event]:
        kind = item.get("type")
        match kind:
            case "agent_message" | "reasoning" | "plan":
                return self._text(kind, item) if line == "item.completed" else []
            case "todo_list":
                return [plan_of(item.get("items"))]
            case "error":
                message = message_in(item)
                return [Unknown("error without a message") if message is None else Notice(message)]
            case str() if kind in CALLS or "status" in item:
                self._repeats.clear()
                events = _call(line, kind, item, is_partial)
                return events if kind in CALLS else [*events, Unknown(f"item {in_words(kind)}")]
        return [Unknown(f"item {in_words(kind)}")]

    def _text(self, kind: str, item: Fields) -> list[Event]:
        found = item.get("text")
        if not isinstance(found, str):
            return [Unknown(f"{in_words(kind)} without text")]
        found = whole_text(found)
        if self._repeats.is_repeated(kind, found):
            return []
        channel = _CHANNELS[kind]
        return [Text(channel, found), TextEnded(channel)]


def _call(line: str, kind: str, item: Fields, is_partial: bool) -> list[Event]:
    """Return the events of an item that is a tool call."""
    call_id = text(item, "id")
    if call_id is None:
        return [Unknown(f"{in_words(kind)} without an id")]
    read = read_item(kind, item)
    begun = started(call_id, read.use)
    if line == "item.started":
        return [begun]
    if line == "item.updated":
        return [begun._replace(is_update=True)]
    if read.end is None:  # the turn ended before the call
        return []
    end = read.end
    if is_partial and end.outcome is Outcome.SUCCEEDED and kind not in ENDS_ALONE:
        end = end._replace(outcome=Outcome.RETURNED, error="its line is too large to be read")
    over = ended(call_id, read.use, end)._replace(has_arguments=True)
    return [begun, over] if kind in ENDS_ALONE else [over]


def _question(fields: Fields) -> Permission:
    """Return what the model asks the user. `codex exec` has nobody who could answer."""
    asked = [text(mapping(each), "question") for each in items(fields.get("questions"))]
    call_id = text(fields, "call_id")
    first = next((each for each in asked if each), None)
    return Permission("request_user_input", None, key=call_id, call_id=call_id, target=first)
