"""Decodes the stream of `kimi -p --output-format stream-json`: messages of OpenAI's interface, and remarks.
It has no prompt, no times and no tokens, and the outcome of a call only in its words."""

from __future__ import annotations

import re
from collections.abc import Iterator

from agentwatch.agents.fields import Fields, in_words, integer, items, mapping, number, text
from agentwatch.agents.kimi.agent import AGENT
from agentwatch.agents.named_calls import NO_STATUS, NamedCalls, call_blocks, result_blocks
from agentwatch.agents.tool import (
    Phrase,
    Result,
    Tool,
    command_in,
    first_question,
    listed_entries,
    named,
    other_tool,
    path_in,
)
from agentwatch.session.blocks import Block
from agentwatch.session.events import (
    Channel,
    Event,
    Notice,
    Outcome,
    PlanEntry,
    Retry,
    RunInfo,
    RunStarted,
    Text,
    TextEnded,
    ToolKind,
    TurnEnded,
    Unknown,
)

_PATH = path_in("path")
_TODOS = Tool(ToolKind.PLAN, Phrase.TODOS)
TOOLS = {
    "Bash": Tool(ToolKind.EXECUTE, Phrase.RAN, command_in("command")),
    "Read": Tool(ToolKind.READ, Phrase.READ, paths=_PATH),
    "ReadMediaFile": Tool(ToolKind.READ, Phrase.READ, paths=_PATH),
    "Write": Tool(ToolKind.EDIT, Phrase.EDITED, paths=_PATH),
    "Edit": Tool(ToolKind.EDIT, Phrase.EDITED, paths=_PATH),
    "Glob": Tool(ToolKind.SEARCH, Phrase.FOUND, named("pattern")),
    "Grep": Tool(ToolKind.SEARCH, Phrase.SEARCHED, named("pattern")),
    "FetchURL": Tool(ToolKind.FETCH, Phrase.FETCHED, named("url")),
    "WebSearch": Tool(ToolKind.SEARCH, Phrase.SEARCHED_WEB, named("query")),
    "Agent": Tool(ToolKind.DELEGATE, Phrase.RAN_SUBAGENT, named("description", "prompt")),
    "TodoList": _TODOS,
    "AskUserQuestion": Tool(ToolKind.OTHER, "Asked a question", first_question),
}
"""The tools by their names, of those that version 2.1 offers to a model."""
_DONE = {"done": "completed"}
_CODE = re.compile(r"Command failed with exit code: (-?\d{1,10})\.$")
_FAILED = ("subagent error: ", "Invalid args for tool ", "Failed to ", 'Tool "')
_MISSING = ('" does not exist.', '" is not a file.')
_WORKED = ("Wrote ", "Replaced ", "Appended ", "Todo list updated.")
_MOST_LINE = 300


def tool_named(name: str) -> Tool:
    """Return the tool with a name. A tool of an MCP server is named `mcp__SERVER__TOOL`."""
    if name.startswith("mcp__"):
        words = name[len("mcp__") :].replace("__", " ", 1)
        return Tool(ToolKind.MCP, Phrase.CALLED_MCP, lambda _arguments: words)
    return TOOLS.get(name) or other_tool(name)


def plan_entries(name: str, arguments: Fields) -> tuple[PlanEntry, ...]:
    """Return the to-do list in the arguments of a call; empty for another tool."""
    if tool_named(name) is not _TODOS:
        return ()
    todos = [mapping(each) for each in items(arguments.get("todos"))]
    named_so = [
        {**each, "status": _DONE.get(text(each, "status") or "", each.get("status"))} for each in todos
    ]
    return listed_entries(named_so, "title", "content")


def exit_code(output: str) -> int | None:
    """Return the exit code at the end of what a command returned; None without one: it has succeeded."""
    found = _CODE.search(output.rstrip()[-80:])
    return None if found is None else integer(found[1])


def read_output(kind: ToolKind, output: str) -> Result:
    """Return how a call ended, from its words alone. A stream has no status of a call."""
    first = output[:_MOST_LINE]
    if kind is ToolKind.EXECUTE:
        code = exit_code(output)
        is_broken_off = output.rstrip().endswith(("Session closed", "Interrupted by user"))
        if is_broken_off:
            return Result(Outcome.CANCELLED, output.rstrip().rpartition("\n")[2])
        if code is not None:
            return Result(Outcome.FAILED, f"exit {code}", code)
        is_killed = "Command killed by timeout" in output[-_MOST_LINE:]
        return (
            Result(Outcome.FAILED, "killed by its timeout")
            if is_killed
            else Result(Outcome.SUCCEEDED, None, 0)
        )
    if first.startswith(_FAILED) or (len(output) < _MOST_LINE and output.endswith(_MISSING)):
        return Result(Outcome.FAILED, first)
    return Result(Outcome.SUCCEEDED) if first.startswith(_WORKED) else Result(Outcome.RETURNED, NO_STATUS)


def _content(fields: Fields) -> str:
    """Return the text of a message, which may be a list of parts."""
    content = fields.get("content")
    if isinstance(content, str):
        return content
    return "\n".join(found for part in items(content) if (found := text(mapping(part), "text")))


def _calls(fields: Fields) -> Iterator[tuple[str, str, Fields]]:
    for call in map(mapping, items(fields.get("tool_calls"))):
        function = mapping(call.get("function"))
        yield text(call, "id") or "", text(function, "name") or "tool", mapping(function.get("arguments"))


class KimiDecoder:
    """Decodes the lines of a stream into events, and keeps the state that later lines depend on."""

    def __init__(self) -> None:
        self._calls = NamedCalls(tool_named)

    def decode(self, fields: Fields) -> list[Event]:
        """Return the events of one line."""
        match fields.get("role"):
            case "meta":
                return self._remark(fields)
            case "assistant":
                return list(self._assistant(fields))
            case "tool":
                call_id = text(fields, "tool_call_id") or ""
                result = read_output(self._calls.kind(call_id), _content(fields))
                return self._calls.ended(call_id, "", result)
            case found:
                return [Unknown(f"role {in_words(found)}")]

    def end(self) -> list[Event]:
        """Return the events that follow from the end of the stream: none."""
        return []

    def _remark(self, fields: Fields) -> list[Event]:
        match fields.get("type"):
            case "system.version":
                self._calls.begin_run(None)
                return [RunStarted(AGENT.name, agent_version=text(fields, "version"))]
            case "session.resume_hint":  # the last line of a run that has not failed
                info = RunInfo(session_id=text(fields, "session_id"))
                return [info, TurnEnded(Outcome.SUCCEEDED, session_id=info.session_id)]
            case "turn.step.retrying":
                return [retry(fields, "error_message", "failed_attempt", "max_attempts", "delay_ms")]
            case "goal.summary":
                return [Notice(f"goal {in_words(fields.get('status'))}")]
            case kind:
                return [Unknown(f"type {in_words(kind)}")]

    def _assistant(self, fields: Fields) -> Iterator[Event]:
        thought = text(fields, "reasoning_content")
        for channel, words in ((Channel.REASONING, thought), (Channel.ANSWER, _content(fields))):
            if words:
                yield from (Text(channel, words), TextEnded(channel))
        for call_id, name, arguments in _calls(fields):
            yield self._calls.started(call_id, name, arguments, plan_entries(name, arguments))


def retry(
    fields: Fields, reason: str, attempt: str, most: str, delay: str, at_ms: int | None = None
) -> Retry:
    """Return a retry from the fields with these names."""
    delay_ms = fields.get(delay)
    rounded = int(delay_ms) if isinstance(delay_ms, float) and 0 <= delay_ms < 1e12 else number(fields, delay)
    words = text(fields, reason) or "the request failed"
    return Retry(words, number(fields, attempt), number(fields, most), rounded, at_ms)


def line_blocks(fields: Fields, call_id: str) -> Iterator[Block]:
    """Yield the blocks of a line that starts or ends a call."""
    if fields.get("role") == "tool":
        output = _content(fields)
        tool = TOOLS["Bash"] if exit_code(output) is not None else other_tool("tool")
        yield from result_blocks(tool, output, None)
    for found, name, arguments in _calls(fields):
        if found == call_id:
            yield from call_blocks(tool_named(name), arguments, plan_entries(name, arguments))
