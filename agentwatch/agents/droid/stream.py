"""Decodes Droid's stream. Its texts, thoughts and calls are lines of their own."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from agentwatch.agents.blocks import returned_block
from agentwatch.agents.changes import argument_blocks
from agentwatch.agents.fields import Fields, digest_of, in_words, integer, items, mapping, number, text
from agentwatch.agents.named_calls import NO_STATUS, LineDecoder
from agentwatch.agents.tool import (
    MOST_ENTRIES,
    Phrase,
    Result,
    Tool,
    command_in,
    listed_entries,
    named,
    other_tool,
    path_in,
    plan_entry,
    said,
    tokens_in,
)
from agentwatch.session.blocks import Block, ErrorBlock, FieldsBlock
from agentwatch.session.events import (
    Channel,
    Event,
    Notice,
    Outcome,
    PlanEntry,
    Prompt,
    RunStarted,
    ToolKind,
    TurnEnded,
    TurnStarted,
    Unknown,
    Usage,
    UsageScope,
)

# The outcome of a call, from the line that ends it.

_EXITED = "[Process exited with code "
"""How Droid begins the last line of a command's output: `[Process exited with code 0]`."""
_CANCELLED = "tool execution cancelled"


def read_result(kind: ToolKind, fields: Fields) -> Result:
    """Only a command has an exit code. `fields` have a `value`, or an `error` with a message."""
    reason = reason_in(fields)
    code = _exit_code(reason or "") if kind is ToolKind.EXECUTE else None
    is_error = fields.get("isError")
    if is_error is True and _CANCELLED in (reason or "")[:100]:
        return Result(Outcome.CANCELLED, reason)
    if code:
        return Result(Outcome.FAILED, f"exit {code}", code)
    if is_error is True:
        return Result(Outcome.FAILED, reason, code)
    if is_error is False:
        return Result(Outcome.SUCCEEDED, None, code)
    return Result(Outcome.RETURNED, NO_STATUS, code)


def reason_in(fields: Fields) -> str | None:
    error = fields.get("error")
    return text(fields, "value") or text(mapping(error), "message") or text(fields, "error")


def _exit_code(output: str) -> int | None:
    last = output.rstrip().rpartition("\n")[2]
    if not (last.startswith(_EXITED) and last.endswith("]")):
        return None
    return integer(last.removeprefix(_EXITED)[:-1])


# The tools: the kind, phrase and target of each, and the to-do list.

_MCP_SEPARATOR = "___"
_PATCHED = ("*** Update File: ", "*** Add File: ", "*** Delete File: ")


def _patched(arguments: Fields) -> list[str]:
    patch = named("input", "patch")(arguments) or ""
    lines = (line.strip() for line in patch.split("\n"))
    return [line.partition(": ")[2] for line in lines if line.startswith(_PATCHED)]


def _patterns(arguments: Fields) -> str | None:
    patterns = arguments.get("patterns")
    found = [each for each in items(patterns) if isinstance(each, str)]
    return " ".join(found) or named("patterns", "pattern")(arguments)


_SHELL = Tool(ToolKind.EXECUTE, Phrase.RAN, command_in("command"))
_EDIT = Tool(ToolKind.EDIT, Phrase.EDITED, paths=path_in("file_path", "path"))
_CREATE = Tool(ToolKind.EDIT, Phrase.CREATED, paths=path_in("file_path", "path"))

TOOLS = {
    "Read": Tool(ToolKind.READ, Phrase.READ, paths=path_in("file_path", "path")),
    "Edit": _EDIT,
    "MultiEdit": _EDIT,
    "Create": _CREATE,
    "Write": _CREATE,
    "ApplyPatch": Tool(ToolKind.EDIT, Phrase.EDITED, paths=_patched),
    "Execute": _SHELL,
    "Bash": _SHELL,
    "Shell": _SHELL,
    "Grep": Tool(ToolKind.SEARCH, Phrase.SEARCHED, named("pattern", "query")),
    "Glob": Tool(ToolKind.SEARCH, Phrase.FOUND, _patterns),
    "LS": Tool(ToolKind.SEARCH, Phrase.LISTED, paths=path_in("directory_path", "path")),
    "WebSearch": Tool(ToolKind.SEARCH, Phrase.SEARCHED_WEB, named("query")),
    "FetchUrl": Tool(ToolKind.FETCH, Phrase.FETCHED, named("url")),
    "TodoWrite": Tool(ToolKind.PLAN, Phrase.TODOS),
    "Task": Tool(ToolKind.DELEGATE, Phrase.RAN_SUBAGENT, named("description", "prompt")),
}
"""The tools by the name that the agent gives them. The phrases are those of the text format."""


def tool_named(name: str) -> Tool:
    """Return the tool with a name. A tool of an MCP server is named `SERVER___TOOL`."""
    if name in TOOLS:
        return TOOLS[name]
    server, _, tool = name.partition(_MCP_SEPARATOR)
    if server and tool:
        return Tool(ToolKind.MCP, Phrase.CALLED_MCP, lambda _arguments: f"{server} {tool}")
    return other_tool(name)


def plan_entries(tool: Tool, arguments: Fields) -> tuple[PlanEntry, ...]:
    """A list of objects, or one text with a line for each entry: `1. [in_progress] Write the tests`."""
    if tool.kind is not ToolKind.PLAN:
        return ()
    todos = arguments.get("todos")
    if isinstance(todos, str):
        return tuple(islice(filter(None, map(_entry_in, todos.split("\n"))), MOST_ENTRIES))
    return listed_entries(todos, "content")


def _entry_in(line: str) -> PlanEntry | None:
    head, has_status, rest = line.partition("[")
    status, is_closed, content = rest.partition("]")
    is_entry = has_status and is_closed and head.strip().rstrip(".").isdecimal()
    return plan_entry(content.strip(), status.strip()) if is_entry else None


FORMAT = "droid"
_MOST_REASON = 4096


class DroidDecoder(LineDecoder):
    tool, counts_lines = staticmethod(tool_named), False

    def __init__(self) -> None:
        super().__init__()
        self._last: dict[str, tuple[str, int]] = {}
        """The id and a digest of the last text of each type: a thought is written twice."""
        self._last_error: str | None = None
        """The last error, if nothing but the end of the turn came after it."""
        self._is_over = False

    def events(self, fields: Fields) -> list[Event]:
        kind = fields.get("type")
        match kind, fields.get("subtype"):
            case "system", "init":
                return [self._run_started(fields)]
            case "error", _:
                return [self._error(fields)]
            case "completion", _:
                return self._completed(fields)
        self._last_error = None
        call_id, at_ms = text(fields, "id") or "", number(fields, "timestamp")
        match kind:
            case "message" | "reasoning" as channel:
                return self._text(channel, fields)
            case "tool_call":
                name, arguments = _name(fields), mapping(fields.get("parameters"))
                entries, group = plan_entries(tool_named(name), arguments), text(fields, "messageId")
                return [
                    *self._continued(),
                    self._calls.started(call_id, name, arguments, entries, group=group, at_ms=at_ms),
                ]
            case "tool_result":
                name = _name(fields)
                result = read_result(self._calls.kind(call_id, name), fields)
                return self._calls.ended(call_id, name, result, at_ms=at_ms)
        subtype = "" if "subtype" not in fields else f"/{in_words(fields['subtype'])}"
        return [Unknown(f"type {in_words(kind)}{subtype}")]

    def end(self) -> list[Event]:
        """Return the end of the turn, if the last line is an error."""
        if self._last_error is None or self._is_over:
            return []
        return [TurnEnded(Outcome.FAILED, result=self._last_error)]

    def _run_started(self, fields: Fields) -> RunStarted:
        cwd = text(fields, "cwd")
        self._calls.begin_run(cwd)
        self._last.clear()
        self._last_error = None
        self._is_over = False
        return RunStarted(FORMAT, session_id=_session_id(fields), model=text(fields, "model"), cwd=cwd)

    def _continued(self) -> list[Event]:
        is_over, self._is_over = self._is_over, False
        return [TurnStarted()] if is_over else []

    def _text(self, kind: str, fields: Fields) -> list[Event]:
        """Return a prompt, an answer or a thought, unless the line before was the same."""
        role = fields.get("role")
        words, at_ms = text(fields, "text"), number(fields, "timestamp")
        if words is None:
            return [Unknown(f"{kind} without text")]
        key = text(fields, "id")
        last = key or "", digest_of(words)
        if key is not None and self._last.get(kind) == last:
            return []
        self._last[kind] = last
        if kind == "message" and role == "user":
            self._is_over = False
            return [Prompt(words)]
        if kind == "message" and role != "assistant":
            return [Unknown(f"message of role {in_words(role)}")]
        channel = Channel.REASONING if kind == "reasoning" else Channel.ANSWER
        return [*self._continued(), *said(channel, words, at_ms)]

    def _error(self, fields: Fields) -> Notice:
        message = _reason(fields) or "error without a message"
        self._last_error = message
        return Notice(message, number(fields, "timestamp"), is_error=True)

    def _completed(self, fields: Fields) -> list[Event]:
        """Read the end of a turn. An error just before it is why it failed, unless there is an answer."""
        result, usage = text(fields, "finalText"), mapping(fields.get("usage"))
        reason, self._last_error = self._last_error, None
        has_failed = reason is not None and result is None
        self._is_over = True
        # the counts are named as Anthropic's: the input excludes the cache
        keys = ("input_tokens", "cache_read_input_tokens", "output_tokens", "cache_creation_input_tokens")
        tokens = tokens_in(usage, *keys, excludes_cache=True)
        events: list[Event] = [Usage(tokens, UsageScope.TURN)] if usage else []
        ended = TurnEnded(
            outcome=Outcome.FAILED if has_failed else Outcome.SUCCEEDED,
            result=reason if has_failed else result,
            session_id=_session_id(fields),
            duration_ms=number(fields, "durationMs"),
            usage={key: value for key in usage if (value := number(usage, key)) is not None} or None,
        )
        return [*events, ended]


def _session_id(fields: Fields) -> str | None:
    """Return the id of the session. Some published captures have the key in the other spelling."""
    return text(fields, "session_id") or text(fields, "sessionId")


def _name(fields: Fields) -> str:
    return text(fields, "toolName") or text(fields, "toolId") or "unknown"


def _reason(fields: Fields) -> str | None:
    words = text(fields, "message") or text(mapping(fields.get("error")), "message") or text(fields, "error")
    return f"{words[: _MOST_REASON - 1]}…" if words and len(words) > _MOST_REASON else words


# The arguments and the result of a call, divided into blocks.


def line_blocks(fields: Fields, _call_id: str = "") -> Iterator[Block]:
    tool = tool_named(text(fields, "toolName") or text(fields, "toolId") or "")
    if fields.get("type") == "tool_call":
        arguments = mapping(fields.get("parameters"))
        yield from argument_blocks(tool.kind, arguments, plan_entries(tool, arguments))
        return
    value = fields.get("value")
    if fields.get("isError") is True and (reason := reason_in(fields)) is not None:
        yield ErrorBlock(reason)
        return
    if not isinstance(value, str):
        if value not in (None, [], {}):
            yield FieldsBlock("result", {"value": value})
    elif value:
        yield returned_block(tool.kind, value)
