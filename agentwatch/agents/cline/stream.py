"""Decodes the stream of `cline --json`, which has no prompt and no working directory, and the session files:
one document of JSON, whose messages a store returns as lines."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator

from agentwatch.agents.changes import argument_blocks
from agentwatch.agents.cline.agent import FORMAT, SESSION_FORMAT
from agentwatch.agents.fields import Fields, cost, in_words, integer, items, mapping, number, text
from agentwatch.agents.named_calls import NO_STATUS, LineDecoder, result_blocks
from agentwatch.agents.on_disk import iso_ms
from agentwatch.agents.subagents import of_subagent
from agentwatch.agents.tool import (
    NEW_FILE,
    NO_FACTS,
    Phrase,
    Result,
    Tool,
    named,
    other_tool,
    path_in,
    remember,
    said,
    tokens_in,
)
from agentwatch.session.blocks import Block
from agentwatch.session.events import (
    Channel,
    Event,
    Notice,
    Outcome,
    Prompt,
    RunInfo,
    RunStarted,
    Text,
    TextEnded,
    ToolKind,
    ToolProgress,
    TurnEnded,
    Unknown,
    Usage,
    UsageScope,
)
from agentwatch.session.tool_kind import MOST_COMMAND


def _listed(arguments: Fields, key: str, inner: str = "") -> list[str]:
    """Return the texts in a list of texts, or of objects with the text under a name."""
    found = (
        each if isinstance(each, str) else text(mapping(each), inner) for each in items(arguments.get(key))
    )
    return [each for each in found if each]


def _joined(key: str, inner: str = "", between: str = " ") -> Callable[[Fields], str | None]:
    return lambda arguments: between.join(_listed(arguments, key, inner))[:MOST_COMMAND] or None


_PATH = path_in("path")
TOOLS = {
    "run_commands": Tool(ToolKind.EXECUTE, Phrase.RAN, _joined("commands", "command", "\n")),
    "read_files": Tool(
        ToolKind.READ, Phrase.READ, paths=lambda given: _listed(given, "files", "path") or _PATH(given)
    ),
    "editor": Tool(ToolKind.EDIT, Phrase.EDITED, paths=_PATH),
    "search_codebase": Tool(ToolKind.SEARCH, Phrase.SEARCHED, _joined("queries")),
    "fetch_web_content": Tool(ToolKind.FETCH, Phrase.FETCHED, _joined("requests", "url")),
    "spawn_agent": Tool(ToolKind.DELEGATE, Phrase.RAN_SUBAGENT, named("task")),
    "ask_question": Tool(ToolKind.OTHER, "Asked a question", named("question")),
}
"""The tools by their names. Those of teams show their names and one argument."""
_CODE = re.compile(r"Command exited with code (-?\d{1,10})\b")
_ENDS = {"completed": Outcome.SUCCEEDED, "aborted": Outcome.CANCELLED}
_CHANNELS = {"text": Channel.ANSWER, "reasoning": Channel.REASONING}
_SILENT = frozenset(("iteration_start", "iteration_end", "done", "notice", "status"))
_COUNTS = ("inputTokens", "cacheReadTokens", "outputTokens", "cacheWriteTokens")
_MOST_DEPTH = 100


def tool_named(name: str) -> Tool:
    return TOOLS.get(name) or other_tool(name)


def _parts(output: object) -> list[Fields]:
    """Return what each part of a call returned: each command, each file."""
    return [mapping(each) for each in (output if isinstance(output, list) else [output])]


def output_text(output: object) -> str:
    if isinstance(output, str) and not mapping(output):
        return output
    found = (text(each, "result") or text(each, "error") or text(each, "text") for each in _parts(output))
    return "\n".join(filter(None, found))


def read_output(kind: ToolKind, output: object, *, is_error: bool) -> Result:
    """Return how a call ended. Its first part that has failed decides."""
    parts, is_command = _parts(output), kind is ToolKind.EXECUTE
    failed = [each for each in parts if each.get("success") is False or is_error]
    if not failed:
        if not isinstance(output, str) and not (parts and parts[0]):
            return Result(Outcome.RETURNED, NO_STATUS)
        is_new = kind is ToolKind.EDIT and (text(parts[0], "result") or "").startswith("File created ")
        return Result(Outcome.SUCCEEDED, None, 0 if is_command else None, NEW_FILE if is_new else NO_FACTS)
    reason = next((found for each in failed if (found := text(each, "error"))), "")
    if is_command and (code := _CODE.search(reason)):
        return Result(Outcome.FAILED, f"exit {code[1]}", integer(code[1]))
    outcome = Outcome.REJECTED if "requires approval" in reason[:200] else Outcome.FAILED
    return Result(outcome, (reason or output_text(output))[:4096] or None)


class ClineDecoder(LineDecoder):
    tool = staticmethod(tool_named)

    def __init__(self) -> None:
        super().__init__()
        self._parents: list[str] = []
        """The calls whose subagents run, the outermost first. A line does not name its agent."""
        self._delegating = ""
        """The last call that has started a subagent."""

    def events(self, fields: Fields) -> list[Event]:
        at_ms = iso_ms(fields.get("ts"))
        match fields.get("type"):
            case "hook_event":
                return self._hook(fields)
            case "agent_event":
                event = mapping(fields.get("event"))
                found = list(self._event(event, at_ms))
                if not self._parents:
                    return found
                parent = self._parents[-1]
                if event.get("type") == "done":
                    self._parents.pop()
                below = ([each] if isinstance(each, Usage) else of_subagent(each, parent) for each in found)
                return [own for each in below for own in each]
            case "run_result":
                model, took_ms = text(mapping(fields.get("model")), "id"), number(fields, "durationMs")
                outcome = _ENDS.get(text(fields, "finishReason") or "", Outcome.FAILED)
                usage = mapping(fields.get("usage"))
                ended = TurnEnded(outcome, text(fields, "text"), duration_ms=took_ms, usage=usage)
                return [ended] if model is None else [RunInfo(model=model), ended]
            case "error":
                return [Notice(text(fields, "message") or "error", at_ms, is_error=True)]
            case kind:
                return [Unknown(f"type {in_words(kind)}")]

    def _hook(self, fields: Fields) -> list[Event]:
        if fields.get("hookEventName") != "agent_start":
            return []
        if fields.get("parentAgentId") is None:
            self._calls.begin_run(None)
            self._parents.clear()
            return [RunStarted(FORMAT)]
        if len(self._parents) < _MOST_DEPTH:
            self._parents.append(self._delegating)
        return []

    def _event(self, event: Fields, at_ms: int | None) -> Iterator[Event]:
        content = text(event, "contentType") or ""
        channel = _CHANNELS.get(content)
        call_id, name = text(event, "toolCallId") or "", text(event, "toolName") or "tool"
        match event.get("type"):
            case "content_start" if content == "tool":
                started = self._calls.started(call_id, name, mapping(event.get("input")), at_ms=at_ms)
                self._delegating = call_id if started.kind is ToolKind.DELEGATE else self._delegating
                yield started
            case "content_update" if content == "tool":
                if chunk := text(mapping(event.get("update")), "chunk"):
                    yield ToolProgress(call_id, None, chunk)
            case "content_end" if content == "tool":
                result, took_ms = _result(self._calls.kind(call_id, name), event), number(event, "durationMs")
                yield from self._calls.ended(call_id, name, result, at_ms=at_ms, duration_ms=took_ms)
            case "content_start" if channel:
                if words := text(event, "text"):
                    yield Text(channel, words, at_ms)
            case "content_end" if channel:
                yield TextEnded(channel, at_ms)
            case "usage":
                tokens, spent = tokens_in(event, *_COUNTS), cost(event.get("cost"))
                used = None if self._parents else tokens.input
                yield Usage(tokens._replace(context_used=used, cost_usd=spent), UsageScope.REQUEST, at_ms)
            case "error":
                if event.get("recoverable") is not True:
                    words = text(mapping(event.get("error")), "message") or "error"
                    yield Notice(words, at_ms, is_error=True)
            case kind if not (isinstance(kind, str) and (kind in _SILENT or content)):
                yield Unknown(f"event {in_words(kind)}")


def _result(kind: ToolKind, event: Fields) -> Result:
    return read_output(kind, event.get("output"), is_error=event.get("error") is not None)


def line_blocks(fields: Fields, _call_id: str) -> Iterator[Block]:
    event = mapping(fields.get("event"))
    tool = tool_named(text(event, "toolName") or "tool")
    if event.get("type") == "content_start":
        yield from argument_blocks(tool.kind, mapping(event.get("input")))
    elif event.get("type") == "content_end":
        yield from result_blocks(tool, output_text(event.get("output")), _result(tool.kind, event).error)


# The session files.

_INPUT = re.compile(r"<user_input[^>]{0,100}>")
_TEXTS = {"text": ("text", Channel.ANSWER), "thinking": ("thinking", Channel.REASONING)}
_SILENT_PARTS = frozenset(("image", "redacted_thinking", "file"))
_MOST_MESSAGES = 1 << 14


class ClineSessionDecoder(LineDecoder):
    tool = staticmethod(tool_named)

    def __init__(self) -> None:
        super().__init__()
        self._seen: dict[str, int] = {}
        """The parts of each message that are decoded: a message may be written again with more of them."""

    def events(self, fields: Fields) -> Iterable[Event]:
        if "origin" in fields:
            self._calls.begin_run(None)
            version = text(mapping(fields.get("origin")), "version")
            return [RunStarted(SESSION_FORMAT, text(fields, "sessionId"), agent_version=version)]
        if "$set" in fields or "$rewindTo" in fields:
            return []
        if fields.get("role") not in ("user", "assistant"):
            return [Unknown(f"role {in_words(fields.get('role'))}")]
        return self._message(fields)

    def _message(self, fields: Fields) -> Iterator[Event]:
        at_ms, message_id = number(fields, "ts"), (text(fields, "id") or "")[:200]
        parts = [mapping(each) for each in items(fields.get("content"))]
        known = self._seen.get(message_id, 0) if message_id else 0
        remember(self._seen, message_id, len(parts), _MOST_MESSAGES)
        is_users = fields.get("role") == "user"
        is_error = mapping(fields.get("metadata")).get("displayRole") == "error"
        yield from self.used(text(mapping(fields.get("modelInfo")), "id"))
        for part in parts[known:]:
            kind, name = text(part, "type") or "", text(part, "name") or "tool"
            key, channel = _TEXTS.get(kind, ("", Channel.ANSWER))
            words = text(part, key)
            if is_users and words:
                found, end = _INPUT.search(words), words.rfind("</user_input>")
                yield Prompt(words[found.end() : end] if found and end >= found.end() else words)
            elif words and not is_error:
                yield from said(channel, words, at_ms)
            elif kind == "tool_use":
                call_id, arguments = text(part, "id") or "", mapping(part.get("input"))
                yield self._calls.started(call_id, name, arguments, group=message_id, at_ms=at_ms)
            elif kind == "tool_result":
                call_id = text(part, "tool_use_id") or ""
                result = _part_result(self._calls.kind(call_id, name), part)
                yield from self._calls.ended(call_id, name, result, at_ms=at_ms)
            elif not key and kind not in _SILENT_PARTS:
                yield Unknown(f"content {in_words(part.get('type'))}")
        if is_users or known:
            return
        if metrics := mapping(fields.get("metrics")):
            tokens = tokens_in(metrics, *_COUNTS)
            tokens = tokens._replace(context_used=tokens.input)
            yield Usage(tokens, UsageScope.REQUEST, at_ms, message_id or None)
        if is_error:
            yield TurnEnded(Outcome.FAILED, output_text(text(mapping(parts[0]), "text")) if parts else None)
        elif not any(part.get("type") == "tool_use" for part in parts):
            yield TurnEnded(Outcome.SUCCEEDED)


def _part_result(kind: ToolKind, part: Fields) -> Result:
    return read_output(kind, part.get("content"), is_error=part.get("is_error") is True)


def entry_blocks(fields: Fields, call_id: str) -> Iterator[Block]:
    for part in map(mapping, items(fields.get("content"))):
        tool = tool_named(text(part, "name") or "tool")
        if part.get("type") == "tool_use" and part.get("id") == call_id:
            yield from argument_blocks(tool.kind, mapping(part.get("input")))
        elif part.get("type") == "tool_result" and part.get("tool_use_id") == call_id:
            error = _part_result(tool.kind, part).error
            yield from result_blocks(tool, output_text(part.get("content")), error)
