"""Decodes the session files of Droid: a header, then messages in the blocks of Anthropic's interface. The
format is taken from files of Droid 0.215. A file has no token counts and no durations."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from agentwatch.agents.droid.agent import SESSION_FORMAT, blocks_of, is_added
from agentwatch.agents.droid.stream import line_blocks, plan_entries, read_result, tool_named
from agentwatch.agents.fields import Fields, in_words, joined_text, mapping, text
from agentwatch.agents.named_calls import LineDecoder
from agentwatch.agents.on_disk import Turns, time_of
from agentwatch.agents.tool import said
from agentwatch.session.blocks import Block
from agentwatch.session.events import (
    Channel,
    Event,
    Outcome,
    Prompt,
    RunInfo,
    RunStarted,
    TurnEnded,
    Unknown,
)

_REASONS = {
    "completed": Outcome.SUCCEEDED,
    "cancelled": Outcome.CANCELLED,
    "interrupted": Outcome.CANCELLED,
    "error": Outcome.FAILED,
}
"""How a turn ends, by the reason in its last line. Captures have only the first."""
_CHANNELS = {"text": ("text", Channel.ANSWER), "thinking": ("thinking", Channel.REASONING)}
_SILENT_BLOCKS = frozenset(("redacted_thinking", "image"))


class DroidSessionDecoder(LineDecoder):
    tool, counts_lines = staticmethod(tool_named), False

    def __init__(self) -> None:
        super().__init__()
        self._turns = Turns()
        self._outcome: Outcome | None = None

    def events(self, fields: Fields) -> Iterable[Event]:
        match fields.get("type"):
            case "session_start":
                return self._started(fields)
            case "message":
                message = mapping(fields.get("message"))
                match message.get("role"):
                    case "assistant":
                        return self._assistant(fields, message)
                    case "user":
                        return self._user(fields, message)
                    case role:
                        return [Unknown(f"message of role {in_words(role)}")]
            case "agent_turn_outcome":
                return self._ended(fields)
            case kind:
                return [Unknown(f"type {in_words(kind)}")]

    def _started(self, fields: Fields) -> list[Event]:
        cwd, title = text(fields, "cwd"), text(fields, "title")
        self._calls.begin_run(cwd)
        self._turns, self._outcome = Turns(), None
        started = RunStarted(SESSION_FORMAT, session_id=text(fields, "id"), cwd=cwd)
        is_users = fields.get("isSessionTitleManuallySet") is True
        return [started] if title is None else [started, RunInfo(title=title, is_users_title=is_users)]

    def _user(self, fields: Fields, message: Fields) -> Iterator[Event]:
        at_ms = time_of(fields)
        words = []
        for block in blocks_of(message):
            if block.get("type") == "tool_result":
                call_id = text(block, "tool_use_id") or ""
                result = read_result(self._calls.kind(call_id, ""), result_fields(block))
                yield from self._calls.ended(call_id, "", result, at_ms=at_ms)
            elif said := text(block, "text"):
                words.append(said)
        prompt = "\n".join(each for each in words if not is_added(fields, each))
        if prompt:
            self._turns.prompted(None)
            self._outcome = None
            yield Prompt(prompt)

    def _assistant(self, fields: Fields, message: Fields) -> Iterator[Event]:
        """Read an answer. It is written before its calls run; one without calls ends the turn."""
        at_ms = time_of(fields)
        yield from self.used(text(message, "modelId"))
        if (begun := self._turns.resumed(None)) is not None:
            self._outcome = None
            yield begun
        has_text = has_calls = False
        for block in blocks_of(message):
            kind = block.get("type")
            key, channel = _CHANNELS.get(kind if isinstance(kind, str) else "", ("", Channel.ANSWER))
            if words := text(block, key):
                has_text = has_text or channel is Channel.ANSWER
                yield from said(channel, words, at_ms)
            elif kind == "tool_use":
                has_calls = True
                call_id, name = text(block, "id") or "", text(block, "name") or "unknown"
                arguments, group = mapping(block.get("input")), text(fields, "id")
                entries = plan_entries(tool_named(name), arguments)
                yield self._calls.started(call_id, name, arguments, entries, group=group, at_ms=at_ms)
            elif not key and not (isinstance(kind, str) and kind in _SILENT_BLOCKS):
                yield Unknown(f"content {in_words(kind)}")
        self._turns.wrote(None)
        if has_text and not has_calls:
            self._outcome = Outcome.SUCCEEDED
            yield from self._turns.end(Outcome.SUCCEEDED)

    def _ended(self, fields: Fields) -> Iterator[Event]:
        """Read the last line of a turn. The turn may have ended with its answer before."""
        reason = text(fields, "reason")
        outcome = _REASONS.get(reason or "", Outcome.FAILED)
        if outcome is not self._outcome:
            self._outcome = outcome
            list(self._turns.end(outcome))
            yield TurnEnded(outcome, reason if outcome is Outcome.FAILED else None)
        if reason not in _REASONS:
            yield Unknown(f"turn outcome {in_words(fields.get('reason'))}")


def result_fields(block: Fields) -> Fields:
    """Return a `tool_result` block as the line of the stream that has the same result."""
    content = block.get("content")
    if isinstance(content, list):
        content = joined_text(content)
    return {"type": "tool_result", "isError": block.get("is_error"), "value": content}


def entry_blocks(fields: Fields, call_id: str) -> Iterator[Block]:
    for block in blocks_of(mapping(fields.get("message"))):
        if block.get("type") == "tool_use" and block.get("id") == call_id:
            name, arguments = block.get("name"), block.get("input")
            yield from line_blocks({"type": "tool_call", "toolName": name, "parameters": arguments})
        elif block.get("type") == "tool_result" and block.get("tool_use_id") == call_id:
            yield from line_blocks(result_fields(block))
