"""Decodes the session files of Cline: one document of JSON, whose messages a store returns as lines."""

from __future__ import annotations

import re
from collections.abc import Iterator

from agentwatch.agents.cline.agent import SESSION_FORMAT
from agentwatch.agents.cline.stream import output_text, read_output, tool_named
from agentwatch.agents.fields import SUBAGENT, Fields, in_words, items, mapping, number, text
from agentwatch.agents.named_calls import NamedCalls, call_blocks, result_blocks
from agentwatch.agents.subagents import SubagentDecoder
from agentwatch.agents.tool import remember, tokens_in
from agentwatch.session.blocks import Block
from agentwatch.session.events import (
    Channel,
    Event,
    Outcome,
    Prompt,
    RunInfo,
    RunStarted,
    Text,
    TextEnded,
    TurnEnded,
    Unknown,
    Usage,
    UsageScope,
)

_INPUT = re.compile(r"<user_input[^>]{0,100}>(.*)</user_input>", re.DOTALL)
_CHANNELS = {"text": ("text", Channel.ANSWER), "thinking": ("thinking", Channel.REASONING)}
_SILENT = frozenset(("image", "redacted_thinking", "file"))
_MOST_MESSAGES = 1 << 14


class ClineSessionDecoder:
    """Decodes the lines of a session file into events, and keeps the state that later lines depend on."""

    def __init__(self) -> None:
        self._calls = NamedCalls(tool_named)
        self._model: str | None = None
        self._seen: dict[str, int] = {}
        """The parts of each message that are decoded: a message may be written again with more of them."""
        self._subagents = SubagentDecoder(lambda _: ClineSessionDecoder())

    def decode(self, fields: Fields) -> list[Event]:
        """Return the events of one line."""
        if SUBAGENT in fields:
            return self._subagents.decode(fields)
        if "origin" in fields:
            self._calls.begin_run(None)
            version = text(mapping(fields.get("origin")), "version")
            return [RunStarted(SESSION_FORMAT, text(fields, "sessionId"), agent_version=version)]
        if "$set" in fields or "$rewindTo" in fields:
            return []
        if fields.get("role") not in ("user", "assistant"):
            return [Unknown(f"role {in_words(fields.get('role'))}")]
        return list(self._message(fields))

    def end(self) -> list[Event]:
        """Return the events that follow from the end of the file: those of the subagents."""
        return self._subagents.end()

    def _message(self, fields: Fields) -> Iterator[Event]:
        at_ms, message_id = number(fields, "ts"), (text(fields, "id") or "")[:200]
        parts = [mapping(each) for each in items(fields.get("content"))]
        known = self._seen.get(message_id, 0) if message_id else 0
        remember(self._seen, message_id, len(parts), _MOST_MESSAGES)
        is_users, is_answer = fields.get("role") == "user", fields.get("role") == "assistant"
        is_error = mapping(fields.get("metadata")).get("displayRole") == "error"
        model = text(mapping(fields.get("modelInfo")), "id")
        if model is not None and model != self._model:
            self._model = model
            yield RunInfo(model=model)
        for part in parts[known:]:
            kind = text(part, "type") or ""
            key, channel = _CHANNELS.get(kind, ("", Channel.ANSWER))
            words = text(part, key)
            if is_users and words:
                found = _INPUT.search(words)
                yield Prompt(found[1] if found else words)
            elif words and not is_error:
                yield from (Text(channel, words, at_ms), TextEnded(channel, at_ms))
            elif kind == "tool_use":
                call_id, name = text(part, "id") or "", text(part, "name") or "tool"
                yield self._calls.started(
                    call_id, name, mapping(part.get("input")), group=message_id, at_ms=at_ms
                )
            elif kind == "tool_result":
                call_id, name = text(part, "tool_use_id") or "", text(part, "name") or "tool"
                failed = part.get("is_error") is True
                result = read_output(self._calls.kind(call_id, name), part.get("content"), is_error=failed)
                yield from self._calls.ended(call_id, name, result, at_ms=at_ms)
            elif not key and kind not in _SILENT:
                yield Unknown(f"content {in_words(part.get('type'))}")
        if not is_answer or known:
            return
        if metrics := mapping(fields.get("metrics")):
            counts = ("inputTokens", "cacheReadTokens", "outputTokens", "cacheWriteTokens")
            tokens = tokens_in(metrics, *counts)
            yield Usage(
                tokens._replace(context_used=tokens.input), UsageScope.REQUEST, at_ms, message_id or None
            )
        if is_error:
            yield TurnEnded(Outcome.FAILED, output_text(text(mapping(parts[0]), "text")) if parts else None)
        elif not any(part.get("type") == "tool_use" for part in parts):
            yield TurnEnded(Outcome.SUCCEEDED)


def entry_blocks(fields: Fields, call_id: str) -> Iterator[Block]:
    """Yield the blocks of a line of a session file that starts or ends a call."""
    for part in map(mapping, items(fields.get("content"))):
        tool = tool_named(text(part, "name") or "tool")
        if part.get("type") == "tool_use" and part.get("id") == call_id:
            yield from call_blocks(tool, mapping(part.get("input")))
        elif part.get("type") == "tool_result" and part.get("tool_use_id") == call_id:
            result = read_output(tool.kind, part.get("content"), is_error=part.get("is_error") is True)
            yield from result_blocks(tool, output_text(part.get("content")), result.error)
