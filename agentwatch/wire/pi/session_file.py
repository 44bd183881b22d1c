"""Decodes the session files of Pi: a header, then entries that form a tree by `id` and `parentId`.

An entry is appended to the leaf. An entry with another parent begins a new branch: the user went back, and
what came after the parent is no part of the conversation any more.
"""

from __future__ import annotations

from agentwatch.events import (
    Compaction,
    Event,
    Notice,
    Prompt,
    Rewound,
    RunInfo,
    RunStarted,
    Text,
    TextEnded,
    Unknown,
)
from agentwatch.wire.fields import Fields, in_words, mapping, number, text
from agentwatch.wire.on_disk.iso_time import time_of
from agentwatch.wire.pi.calls import Calls
from agentwatch.wire.pi.messages import (
    content_text,
    model_of,
    own_command,
    prompt_text,
    texts,
    tool_calls,
    turn_ended,
    usage,
)
from agentwatch.wire.pi.tree import Tree

_SILENT = frozenset(
    {
        *("thinking_level_change", "label", "custom", "context_edit", "context_transform"),
        *("ephemeral", "branch_summary", "title", "title_change", "mode_change", "session_init"),
    }
)
"""Types of entries that report nothing that is shown. The last four are those of omp."""


class Decoder:
    """Decodes the lines of a session file into events, and keeps the state that later lines depend on."""

    def __init__(self) -> None:
        self._calls = Calls()
        self._tree = Tree()
        self._model: str | None = None

    def decode(self, fields: Fields) -> list[Event]:
        """Return the events of one line."""
        kind = fields.get("type")
        if kind == "session":
            return [self._run_started(fields)]
        message = mapping(fields.get("message"))
        is_prompt = kind == "message" and message.get("role") == "user"
        turns = self._tree.add(fields, is_prompt=is_prompt)
        events = self._events(kind, fields, message)
        return [Rewound(turns), *events] if turns else events

    def end(self) -> list[Event]:
        """Return the events that follow from the end of the file: none."""
        return []

    def _run_started(self, fields: Fields) -> RunStarted:
        """Read the header. Versions before 2 have the model in it."""
        cwd = text(fields, "cwd")
        self._calls.begin_run(cwd)
        self._tree = Tree()
        self._model = model_of(fields, "modelId")
        return RunStarted("pi-session", session_id=text(fields, "id"), model=self._model, cwd=cwd)

    def _events(self, kind: object, fields: Fields, message: Fields) -> list[Event]:
        match kind:
            case "message":
                return self._message(fields, message)
            case "model_change":
                return self._info(model_of(fields, "modelId"))
            case "compaction":
                return [Compaction(is_over=True, tokens_before=number(fields, "tokensBefore"))]
            case "custom_message":
                return _custom(fields)
            case "session_info":
                title = text(fields, "name")
                return [] if title is None else [RunInfo(title=title, is_users_title=True)]
            case "usage":
                return usage(mapping(fields.get("usage")), has_context=False)
            case str() if kind in _SILENT:
                return []
        return [Unknown(f"type {in_words(kind)}")]

    def _message(self, fields: Fields, message: Fields) -> list[Event]:
        match message.get("role"):
            case "user":
                return [Prompt(prompt_text(message))]
            case "assistant":
                return self._assistant(fields, message)
            case "toolResult":
                call_id, name = text(message, "toolCallId") or "", text(message, "toolName") or "tool"
                at_ms = time_of(fields)
                return [self._calls.ended(call_id, name, message, message.get("isError"), at_ms=at_ms)]
            case "bashExecution":
                return [own_command(message)]
            case "custom" | "hookMessage":
                return _custom(message)
            case "branchSummary" | "compactionSummary" | "developer":
                return []
        return [Unknown(f"role {in_words(message.get('role'))}")]

    def _assistant(self, fields: Fields, message: Fields) -> list[Event]:
        """Read a message. It is written when it is complete, before its calls run."""
        at_ms = time_of(fields)
        events = self._info(model_of(message))
        for _, channel, words in texts(message):
            events += [Text(channel, words, at_ms), TextEnded(channel, at_ms)]
        group = text(fields, "id") or text(message, "responseId")
        for call in tool_calls(message):
            call_id, name = text(call, "id") or "", text(call, "name") or "tool"
            arguments = mapping(call.get("arguments"))
            events.append(self._calls.started(call_id, name, arguments, group=group, at_ms=at_ms))
        ended = turn_ended(message)
        is_whole = message.get("stopReason") not in ("error", "aborted")
        events += usage(mapping(message.get("usage")), has_context=is_whole)
        return events if ended is None else [*events, ended]

    def _info(self, model: str | None) -> list[Event]:
        if model is None or model == self._model:
            return []
        self._model = model
        return [RunInfo(model=model)]


def _custom(fields: Fields) -> list[Event]:
    """Read a message that an extension added. It may be hidden from the user."""
    words = content_text(fields.get("content"))
    return [Notice(words)] if words and fields.get("display") is not False else []
