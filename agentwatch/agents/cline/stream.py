"""Decodes the stream of `cline --json`. It has no prompt and no working directory."""

from __future__ import annotations

import re
from collections.abc import Iterator

from agentwatch.agents.cline.agent import FORMAT
from agentwatch.agents.fields import Fields, cost, in_words, integer, items, mapping, number, text
from agentwatch.agents.named_calls import NO_STATUS, NamedCalls, call_blocks, result_blocks
from agentwatch.agents.on_disk import iso_ms
from agentwatch.agents.subagents import of_subagent
from agentwatch.agents.tool import (
    NO_FACTS,
    Facts,
    Phrase,
    Result,
    Tool,
    named,
    other_tool,
    path_in,
    tokens_in,
)
from agentwatch.session.blocks import Block
from agentwatch.session.call import MOST_COMMAND
from agentwatch.session.events import (
    Channel,
    Event,
    Notice,
    Outcome,
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


def _listed(arguments: Fields, key: str, inner: str) -> list[str]:
    """Return the texts in a list of texts, or of objects with the text under a name."""
    found = (
        each if isinstance(each, str) else text(mapping(each), inner) for each in items(arguments.get(key))
    )
    return [each for each in found if each]


def _commands(arguments: Fields) -> str | None:
    return "\n".join(_listed(arguments, "commands", "command"))[:MOST_COMMAND] or None


def _files(arguments: Fields) -> list[str]:
    return _listed(arguments, "files", "path") or path_in("path")(arguments)


TOOLS = {
    "run_commands": Tool(ToolKind.EXECUTE, Phrase.RAN, _commands),
    "read_files": Tool(ToolKind.READ, Phrase.READ, paths=_files),
    "editor": Tool(ToolKind.EDIT, Phrase.EDITED, paths=path_in("path")),
    "search_codebase": Tool(
        ToolKind.SEARCH,
        Phrase.SEARCHED,
        lambda arguments: " ".join(_listed(arguments, "queries", "")) or None,
    ),
    "fetch_web_content": Tool(
        ToolKind.FETCH,
        Phrase.FETCHED,
        lambda arguments: " ".join(_listed(arguments, "requests", "url")) or None,
    ),
    "spawn_agent": Tool(ToolKind.DELEGATE, Phrase.RAN_SUBAGENT, named("task")),
    "ask_question": Tool(ToolKind.OTHER, "Asked a question", named("question")),
}
"""The tools by their names. Those of teams show their names and one argument."""
_CODE = re.compile(r"Command exited with code (-?\d{1,10})\b")
_ENDS = {"completed": Outcome.SUCCEEDED, "aborted": Outcome.CANCELLED}
_CHANNELS = {"text": Channel.ANSWER, "reasoning": Channel.REASONING}
_SILENT = frozenset(("iteration_start", "iteration_end", "done", "notice", "status"))


def tool_named(name: str) -> Tool:
    """Return the tool with a name."""
    return TOOLS.get(name) or other_tool(name)


def _parts(output: object) -> list[Fields]:
    """Return what each part of a call returned: each command, each file."""
    return [mapping(each) for each in (output if isinstance(output, list) else [output])]


def output_text(output: object) -> str:
    """Return what a call returned."""
    if isinstance(output, str) and not mapping(output):
        return output
    found = (text(each, "result") or text(each, "error") or text(each, "text") for each in _parts(output))
    return "\n".join(filter(None, found))


def read_output(kind: ToolKind, output: object, *, is_error: bool) -> Result:
    """Return how a call ended. Its first part that has failed decides."""
    parts = _parts(output)
    failed = [each for each in parts if each.get("success") is False or is_error]
    reason = next((found for each in failed if (found := text(each, "error"))), None)
    if not failed:
        is_new = kind is ToolKind.EDIT and (text(parts[0], "result") or "").startswith("File created ")
        facts = Facts(phrase=Phrase.CREATED, is_new_file=True) if is_new else NO_FACTS
        is_known = bool(parts and parts[0])
        if not is_known and not isinstance(output, str):
            return Result(Outcome.RETURNED, NO_STATUS)
        return Result(Outcome.SUCCEEDED, None, 0 if kind is ToolKind.EXECUTE else None, facts)
    code = _CODE.search(reason or "") if kind is ToolKind.EXECUTE else None
    if code is not None:
        return Result(Outcome.FAILED, f"exit {code[1]}", integer(code[1]))
    is_refused = "requires approval" in (reason or "")[:200]
    return Result(
        Outcome.REJECTED if is_refused else Outcome.FAILED, (reason or output_text(output))[:4096] or None
    )


class ClineDecoder:
    """Decodes the lines of a stream into events, and keeps the state that later lines depend on."""

    def __init__(self) -> None:
        self._calls = NamedCalls(tool_named)
        self._parents: list[str] = []
        """The calls whose subagents run, the outermost first. A line does not name its agent."""
        self._delegating = ""
        """The last call that has started a subagent."""

    def decode(self, fields: Fields) -> list[Event]:
        """Return the events of one line."""
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
                return [
                    own
                    for each in found
                    for own in ([each] if isinstance(each, Usage) else of_subagent(each, parent))
                ]
            case "run_result":
                return [*_model(fields), _ended(fields)]
            case "error":
                return [Notice(text(fields, "message") or "error", at_ms, is_error=True)]
            case kind:
                return [Unknown(f"type {in_words(kind)}")]

    def end(self) -> list[Event]:
        """Return the events that follow from the end of the stream: none."""
        return []

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
        match event.get("type"):
            case "content_start" if content == "tool":
                call_id, name = text(event, "toolCallId") or "", text(event, "toolName") or "tool"
                started = self._calls.started(call_id, name, mapping(event.get("input")), at_ms=at_ms)
                self._delegating = call_id if started.kind is ToolKind.DELEGATE else self._delegating
                yield started
            case "content_update" if content == "tool":
                if chunk := text(mapping(event.get("update")), "chunk"):
                    yield ToolProgress(text(event, "toolCallId") or "", None, chunk)
            case "content_end" if content == "tool":
                call_id, name = text(event, "toolCallId") or "", text(event, "toolName") or "tool"
                kind, is_error = self._calls.kind(call_id, name), event.get("error") is not None
                result = read_output(kind, event.get("output"), is_error=is_error)
                took_ms = number(event, "durationMs")
                yield from self._calls.ended(call_id, name, result, at_ms=at_ms, duration_ms=took_ms)
            case "content_start" if content in _CHANNELS:
                if words := text(event, "text"):
                    yield Text(_CHANNELS[content], words, at_ms)
            case "content_end" if content in _CHANNELS:
                yield TextEnded(_CHANNELS[content], at_ms)
            case "usage":
                counts = ("inputTokens", "cacheReadTokens", "outputTokens", "cacheWriteTokens")
                tokens = tokens_in(event, *counts)
                context = None if self._parents else tokens.input
                spent = cost(event.get("cost"))
                yield Usage(tokens._replace(context_used=context, cost_usd=spent), UsageScope.REQUEST, at_ms)
            case "error":
                words = text(mapping(event.get("error")), "message") or "error"
                if event.get("recoverable") is not True:
                    yield Notice(words, at_ms, is_error=True)
            case str(kind) if kind in _SILENT or content:
                return
            case kind:
                yield Unknown(f"event {in_words(kind)}")


_MOST_DEPTH = 100


def _model(fields: Fields) -> list[Event]:
    model = text(mapping(fields.get("model")), "id")
    return [] if model is None else [RunInfo(model=model)]


def _ended(fields: Fields) -> TurnEnded:
    outcome = _ENDS.get(text(fields, "finishReason") or "", Outcome.FAILED)
    usage = mapping(fields.get("usage"))
    duration_ms = number(fields, "durationMs")
    return TurnEnded(outcome, text(fields, "text"), duration_ms=duration_ms, usage=usage)


def line_blocks(fields: Fields, _call_id: str) -> Iterator[Block]:
    """Yield the blocks of a line that starts or ends a call."""
    event = mapping(fields.get("event"))
    tool = tool_named(text(event, "toolName") or "tool")
    match event.get("type"):
        case "content_start":
            yield from call_blocks(tool, mapping(event.get("input")))
        case "content_end":
            output = event.get("output")
            result = read_output(tool.kind, output, is_error=event.get("error") is not None)
            yield from result_blocks(tool, output_text(output), result.error)
