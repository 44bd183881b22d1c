"""Decodes the stream of `kimi -p --output-format stream-json`, and the journals of sessions. The stream has
messages of OpenAI's interface and remarks: no prompt, no times and no tokens, and the outcome of a call only
in its words. A session has the journal `agents/main/wire.jsonl`, and one for each subagent. Each fact in one
is written more than once: the lines of the type `agent.…` repeat what others have said before."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from agentwatch.agents.changes import argument_blocks
from agentwatch.agents.claude.calls import mcp_tool
from agentwatch.agents.fields import (
    SUBAGENT,
    Fields,
    in_words,
    integer,
    items,
    joined_text,
    mapping,
    number,
    text,
)
from agentwatch.agents.kimi.agent import AGENT, WIRE_FORMAT, time_of
from agentwatch.agents.named_calls import NO_STATUS, LineDecoder, result_blocks
from agentwatch.agents.subagents import MOST_SUBAGENTS
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
    remember,
    said,
    tokens_in,
)
from agentwatch.session.blocks import Block
from agentwatch.session.events import (
    Channel,
    Compaction,
    Event,
    Notice,
    Outcome,
    Permission,
    PlanEntry,
    Prompt,
    Retry,
    Rewound,
    RunInfo,
    RunStarted,
    ToolKind,
    TurnEnded,
    TurnStarted,
    Unknown,
    Usage,
    UsageScope,
)

_PATH = path_in("path")
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
    "TodoList": Tool(ToolKind.PLAN, Phrase.TODOS),
    "AskUserQuestion": Tool(ToolKind.OTHER, "Asked a question", first_question),
}
"""The tools by their names, of those that version 2.1 offers to a model."""
_CODE = re.compile(r"Command failed with exit code: (-?\d{1,10})\.$")
_FAILED = ("subagent error: ", "Invalid args for tool ", "Failed to ", 'Tool "')
_BROKEN_OFF = ("Session closed", "Interrupted by user")
_MISSING = ('" does not exist.', '" is not a file.')
_WORKED = ("Wrote ", "Replaced ", "Appended ", "Todo list updated.")
_MOST_LINE = 300


def tool_named(name: str) -> Tool:
    """Return the tool with a name. A tool of an MCP server is named `mcp__SERVER__TOOL`."""
    return TOOLS.get(name) or mcp_tool(name) or other_tool(name)


def plan_entries(name: str, arguments: Fields) -> tuple[PlanEntry, ...]:
    """Return the to-do list in the arguments of a call; empty for another tool."""
    todos = map(mapping, items(arguments.get("todos"))) if name == "TodoList" else ()
    named_so = [{**each, "status": "completed"} if each.get("status") == "done" else each for each in todos]
    return listed_entries(named_so, "title", "content")


def exit_code(output: str) -> int | None:
    """Return the exit code at the end of what a command returned; None without one: it has succeeded."""
    found = _CODE.search(output.rstrip()[-80:])
    return None if found is None else integer(found[1])


def _tool_of(output: str) -> Tool:
    """Return what is known of the tool of a call without a start."""
    return TOOLS["Bash"] if exit_code(output) is not None else other_tool("tool")


def read_output(kind: ToolKind, output: str) -> Result:
    """Return how a call ended, from its words alone. A stream has no status of a call."""
    first = output[:_MOST_LINE]
    if kind is ToolKind.EXECUTE:
        code, last = exit_code(output), output.rstrip().rpartition("\n")[2]
        if last.endswith(_BROKEN_OFF):
            return Result(Outcome.CANCELLED, last)
        if code is not None:
            return Result(Outcome.FAILED, f"exit {code}", code)
        if "Command killed by timeout" in output[-_MOST_LINE:]:
            return Result(Outcome.FAILED, "killed by its timeout")
        return Result(Outcome.SUCCEEDED, None, 0)
    if first.startswith(_FAILED) or (len(output) < _MOST_LINE and output.endswith(_MISSING)):
        return Result(Outcome.FAILED, first)
    return Result(Outcome.SUCCEEDED) if first.startswith(_WORKED) else Result(Outcome.RETURNED, NO_STATUS)


def _calls(fields: Fields) -> Iterator[tuple[str, str, Fields]]:
    for call in map(mapping, items(fields.get("tool_calls"))):
        function = mapping(call.get("function"))
        yield text(call, "id") or "", text(function, "name") or "tool", mapping(function.get("arguments"))


class KimiDecoder(LineDecoder):
    tool = staticmethod(tool_named)

    def events(self, fields: Fields) -> Iterable[Event]:
        match fields.get("role"):
            case "meta":
                return self._remark(fields)
            case "assistant":
                return self._assistant(fields)
            case "tool":
                call_id, output = text(fields, "tool_call_id") or "", joined_text(fields.get("content"))
                return self._calls.ended(call_id, "tool", read_output(self._calls.kind(call_id), output))
            case found:
                return [Unknown(f"role {in_words(found)}")]

    def _remark(self, fields: Fields) -> Iterator[Event]:
        match fields.get("type"):
            case "system.version":
                self._calls.begin_run(None)
                yield RunStarted(AGENT.name, agent_version=text(fields, "version"))
            case "session.resume_hint":  # the last line of a run that has not failed
                session_id = text(fields, "session_id")
                yield from (RunInfo(session_id), TurnEnded(Outcome.SUCCEEDED, session_id=session_id))
            case "turn.step.retrying":
                yield _retry(fields, "error_message", "failed_attempt", "max_attempts", "delay_ms")
            case "goal.summary":
                yield Notice(f"goal {in_words(fields.get('status'))}")
            case kind:
                yield Unknown(f"type {in_words(kind)}")

    def _assistant(self, fields: Fields) -> Iterator[Event]:
        yield from said(Channel.REASONING, text(fields, "reasoning_content"))
        yield from said(Channel.ANSWER, joined_text(fields.get("content")))
        for call_id, name, arguments in _calls(fields):
            yield self._calls.started(call_id, name, arguments, plan_entries(name, arguments))


def _retry(
    fields: Fields, reason: str, attempt: str, most: str, delay: str, at_ms: int | None = None
) -> Retry:
    """Return a retry from the fields with these names."""
    given, delay_ms = fields.get(delay), number(fields, delay)
    if isinstance(given, float) and 0 <= given < 1e12:
        delay_ms = int(given)
    words = text(fields, reason) or "the request failed"
    return Retry(words, number(fields, attempt), number(fields, most), delay_ms, at_ms)


# The journals of sessions.

_ENDS = {"completed": Outcome.SUCCEEDED, "cancelled": Outcome.CANCELLED, "failed": Outcome.FAILED}
_CHANNELS = {"text": Channel.ANSWER, "think": Channel.REASONING}
_SILENT_STEPS = frozenset(("step.begin", "step.end", "tool.call.delta"))
_SILENT = (
    *("agent.", "llm.", "token_counting.", "file_history.", "prompt.", "runtime.", "plugin.", "tools."),
    *("subagent.", "task.", "cron.", "goal.", "plan.", "plan_mode.", "swarm_mode.", "tower_mode.", "mcp."),
    *("staleGuard.", "interruptionReminder.", "permission.", "micro_compaction.", "config.", "context."),
    *("turn.cancel", "turn.step.interrupted", "full_compaction.cancel", "notify.", "profile.", "forked"),
)
"""The beginnings of the types that report nothing that is shown."""


class KimiWireDecoder(LineDecoder):
    tool = staticmethod(tool_named)

    def __init__(self) -> None:
        super().__init__()
        self._callers: dict[str, str] = {}
        """The call that has started each subagent."""
        self._asked: dict[str, str] = {}
        """The subject of each open question, by its id."""

    def decode(self, fields: Fields) -> list[Event]:
        if (name := text(fields, SUBAGENT)) is not None:
            fields = {**fields, SUBAGENT: self._callers.get(name, name)}
        return super().decode(fields)

    def events(self, fields: Fields) -> Iterator[Event]:
        at_ms = time_of(fields)
        match fields.get("type"):
            case "metadata":
                self._calls.begin_run(None)
                yield RunStarted(WIRE_FORMAT)
            case "profile.bind":
                cwd = text(mapping(fields.get("environmentDisclosure")), "cwd")
                self._calls.begin_run(cwd)
                yield RunInfo(cwd=cwd, model=text(fields, "modelAlias"))
            case "permission.set_mode":
                yield RunInfo(permission_mode=text(fields, "mode"))
            case "turn.prompt" | "turn.steer" as kind:
                words, origin = joined_text(fields.get("input")), mapping(fields.get("origin"))
                if origin.get("kind") in ("user", None) or origin.get("name") == "subagent":
                    yield from [Prompt(words)] if words else []
                elif kind == "turn.prompt":
                    yield TurnStarted(is_prompted=False)
            case "context.append_loop_event":
                yield from self._step(mapping(fields.get("event")), at_ms)
            case "subagent.spawned":
                child, call = text(fields, "subagentId"), text(fields, "parentToolCallId")
                if child is not None and call is not None:
                    remember(self._callers, child, call, MOST_SUBAGENTS)
            case "interaction.request" | "interaction.resolved":
                yield self._question(fields, at_ms)
            case "usage.record":
                counts = ("inputOther", "inputCacheRead", "output", "inputCacheCreation")
                tokens = tokens_in(mapping(fields.get("usage")), *counts, excludes_cache=True)
                tokens = tokens._replace(context_used=tokens.input)
                yield Usage(tokens, UsageScope.REQUEST, at_ms, model=text(fields, "model"))
            case "turn.step.retrying":
                yield _retry(fields, "errorMessage", "failedAttempt", "maxAttempts", "delayMs", at_ms)
            case "turn.ended":
                outcome = _ENDS.get(text(fields, "reason") or "", Outcome.FAILED)
                reason = text(mapping(fields.get("error")), "message") or text(fields, "reason")
                failure = reason if outcome is Outcome.FAILED else None
                yield TurnEnded(outcome, failure, duration_ms=number(fields, "durationMs"))
            case "full_compaction.begin" | "full_compaction.complete" as kind:
                before, after = number(fields, "tokensBefore"), number(fields, "tokensAfter")
                yield Compaction(kind.endswith("complete"), text(fields, "trigger"), before, after, at_ms)
            case "context.undo":
                yield Rewound(max(number(fields, "count") or 0, 0))
            case kind if not (isinstance(kind, str) and kind.startswith(_SILENT)):
                yield Unknown(f"type {in_words(kind)}")

    def _step(self, event: Fields, at_ms: int | None) -> Iterator[Event]:
        call_id = text(event, "toolCallId") or ""
        match event.get("type"):
            case "content.part":
                part = mapping(event.get("part"))
                kind = text(part, "type") or ""
                channel, words = _CHANNELS.get(kind), text(part, kind)
                yield from said(channel, words, at_ms) if channel else ()
            case "tool.call":
                name, arguments = text(event, "name") or "tool", mapping(event.get("args"))
                entries, group = plan_entries(name, arguments), text(event, "stepUuid")
                yield self._calls.started(call_id, name, arguments, entries, group=group, at_ms=at_ms)
            case "tool.result":
                result = mapping(event.get("result"))
                ended, duration_ms = _result(self._calls.kind(call_id), result), number(result, "durationMs")
                yield from self._calls.ended(call_id, "tool", ended, at_ms=at_ms, duration_ms=duration_ms)
            case kind if not (isinstance(kind, str) and kind in _SILENT_STEPS):
                yield Unknown(f"event {in_words(kind)}")

    def _question(self, fields: Fields, at_ms: int | None) -> Permission:
        """Read a question for permission, or its answer."""
        key, request = text(fields, "id"), mapping(fields.get("request"))
        if fields.get("type") == "interaction.request":
            subject = text(request, "toolName") or text(fields, "kind") or "question"
            remember(self._asked, key or "", subject, MOST_SUBAGENTS)
            target = text(mapping(request.get("display")), "command") or text(request, "action")
            return Permission(subject, None, None, at_ms, key, text(fields, "toolCallId"), target)
        answer = text(mapping(fields.get("response")), "decision") or text(fields, "response") or "answered"
        return Permission(self._asked.pop(key or "", "question"), answer, at_ms=at_ms, key=key)


def _result(kind: ToolKind, result: Fields) -> Result:
    output = joined_text(result.get("output"))
    code = exit_code(output) if kind is ToolKind.EXECUTE else None
    if result.get("isError") is not True:
        return Result(Outcome.SUCCEEDED, None, 0 if kind is ToolKind.EXECUTE else None)
    last = output.rstrip().rpartition("\n")[2]
    if last in _BROKEN_OFF:
        return Result(Outcome.CANCELLED, last)
    return Result(Outcome.FAILED, output[:4096] if code is None else f"exit {code}", code)


def line_blocks(fields: Fields, call_id: str) -> Iterator[Block]:
    """Yield the blocks of a line of a stream or a journal that starts or ends a call."""
    event, result = mapping(fields.get("event")), mapping(mapping(fields.get("event")).get("result"))
    is_end, calls = event.get("type") == "tool.result", [*_calls(fields)]
    if is_end or fields.get("role") == "tool":
        output = joined_text(result.get("output") if is_end else fields.get("content"))
        tool = _tool_of(output)
        yield from result_blocks(tool, output, _result(tool.kind, result).error if is_end else None)
    elif event.get("type") == "tool.call":
        calls = [(call_id, text(event, "name") or "", mapping(event.get("args")))]
    for found, name, arguments in calls:
        if found == call_id:
            yield from argument_blocks(tool_named(name).kind, arguments, plan_entries(name, arguments))
