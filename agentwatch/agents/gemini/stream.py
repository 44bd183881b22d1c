"""Decodes Gemini's `--output-format stream-json`, as in gemini-cli 0.61
(`packages/core/src/output/types.ts`): the prompt once, the answer in deltas without a full copy, no
thoughts, working directory or exit codes. All calls of a batch are announced before the first ends."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from agentwatch.agents.agent import AgentDecoder
from agentwatch.agents.changes import argument_blocks, changed_lines, line_count, replacement
from agentwatch.agents.delta_frames import SegmentText
from agentwatch.agents.fields import Fields, in_words, integer, items, mapping, number, scalars, text
from agentwatch.agents.named_calls import NO_STATUS, result_blocks
from agentwatch.agents.on_disk import iso_ms
from agentwatch.agents.tool import (
    NO_FACTS,
    Facts,
    OpenCalls,
    Phrase,
    Result,
    Tool,
    command_in,
    listed_entries,
    named,
    other_tool,
    path_in,
    tokens_in,
)
from agentwatch.session.blocks import Block
from agentwatch.session.events import (
    Channel,
    Event,
    Notice,
    Outcome,
    Plan,
    Prompt,
    RunInfo,
    RunStarted,
    Text,
    TextEnded,
    ToolKind,
    TurnEnded,
    Unknown,
    Usage,
    UsageScope,
)
from agentwatch.text.amounts import plural

# The to-do list of the tool `write_todos`.


def plan_in(tool: Tool, arguments: Fields) -> Plan | None:
    todos = arguments.get("todos")
    is_list = tool.kind is ToolKind.PLAN and isinstance(todos, list)
    return Plan(listed_entries(todos, "description", "content")) if is_list else None


# The end of a call: the agent's own word, the reason of a failure, and the facts.

_REFUSED = "policy_violation"
"""The type of the error; `permission_denied` is a limit of the system that the tool met (`ToolErrorType`)."""
_REFUSED_WORDS = "Tool execution denied by policy"
_DECLINED_WORDS = ("User did not allow tool call", "User denied execution")
"""Words in the reason of a call that the user refused, which the agent calls cancelled."""
_READ_CHARACTERS = 1000
"""The beginning of a reason in which words of a refusal are searched, and its end for the exit code."""
_CANCELLED_WORDS = "[Operation Cancelled]"
_CANCELLED = ("cancelled", "canceled")
_FAILED = ("error", "failed")
_NOTE_KINDS = (ToolKind.READ, ToolKind.SEARCH, ToolKind.FETCH)
_MOST_NOTE = 60


def ending(status: object, reason: str | None, error_type: str | None = None) -> Result:
    """The agent's own status counts: a command with an exit code other than 0 is a success."""
    if status == "success":
        return Result(Outcome.SUCCEEDED)
    words = reason or error_type
    if any(each in (words or "")[:_READ_CHARACTERS] for each in _DECLINED_WORDS):
        return Result(Outcome.REJECTED, words)
    if status in _CANCELLED or (words or "").startswith(_CANCELLED_WORDS):
        return Result(Outcome.CANCELLED, words)
    if error_type == _REFUSED or (words or "").startswith(_REFUSED_WORDS):
        return Result(Outcome.REJECTED, words)
    if status in _FAILED or (status is None and words is not None):
        return Result(Outcome.FAILED, words)
    if status is None:
        return Result(Outcome.RETURNED, NO_STATUS)
    words = in_words(status)
    return Result(Outcome.RETURNED, f"unknown status {words}", unknown_status=words)


def argument_facts(name: str, arguments: Fields) -> Facts:
    if name == "write_file":
        content = text(arguments, "content")
        return NO_FACTS if content is None else Facts(note=plural(line_count(content), "line"))
    before, after = arguments.get("old_string"), arguments.get("new_string")
    if (
        name != "replace"
        or not (isinstance(before, str) and isinstance(after, str))
        or is_multiple(arguments)
    ):
        return NO_FACTS
    found = replacement(before, after)
    if not before:  # the tool creates a file if there is nothing to replace
        note = plural(found.added, "line")
        return Facts(note, Phrase.CREATED, is_new_file=True, lines_added=found.added, lines_removed=0)
    return Facts(lines_added=found.added, lines_removed=found.removed)


def is_multiple(arguments: Fields) -> bool:
    """Return whether a `replace` may change several places, so that its line counts are not known."""
    expected = arguments.get("expected_replacements")
    return arguments.get("allow_multiple") is True or expected not in (None, 1)


def shown_facts(tool: Tool, shown: object, facts: Facts) -> Facts:
    if isinstance(shown, str):
        line = shown.strip().removesuffix(".")
        is_note = tool.kind in _NOTE_KINDS and 0 < len(line) <= _MOST_NOTE and "\n" not in line
        return facts._replace(note=line) if is_note else facts
    fields = mapping(shown)
    diff = text(fields, "fileDiff")
    if diff is None:
        return facts
    added, removed = changed_lines(diff)
    if fields.get("isNewFile") is True or fields.get("originalContent", diff) in (None, ""):
        note = plural(added, "line")
        return Facts(note, Phrase.CREATED, is_new_file=True, lines_added=added, lines_removed=removed)
    return Facts(phrase=Phrase.EDITED, lines_added=added, lines_removed=removed)


# The tools: the kind, phrase and target of each.
# Adding a tool is one entry in `TOOLS`. The names and arguments are those of gemini-cli 0.61
# (`packages/core/src/tools/definitions`), and those of older versions.

SHELL = "run_shell_command"
_MCP_PREFIX = "mcp_"
_MCP_SEPARATOR = "__"
_MCP_DISPLAY = " MCP Server)"
_NUMBERS = 2
"""The time and the number, or the hash, at the end of a call's id."""
_MOST_PATHS = 1000
_MOST_PROMPT = 4096
_FILE = ("file_path", "absolute_path", "path", "filePath")


def _many_paths(arguments: Fields) -> list[str]:
    found = arguments.get("include") or arguments.get("paths")
    return [path for path in items(found)[:_MOST_PATHS] if isinstance(path, str) and path]


def _address(arguments: Fields) -> str | None:
    """Return the first address in a prompt, which is where `web_fetch` is given its pages."""
    prompt = text(arguments, "prompt") or ""
    words = prompt[:_MOST_PROMPT].split()
    address = next((word for word in words if word.startswith(("http://", "https://"))), None)
    return text(arguments, "url") or address or prompt or None


def _subagent(arguments: Fields) -> str | None:
    task = named("objective", "task", "prompt", "query", "question", "request", "description")(arguments)
    return " ".join(word for word in (text(arguments, "agent_name"), task) if word) or None


_SUBAGENT = Tool(ToolKind.DELEGATE, Phrase.RAN_SUBAGENT, _subagent)
_GREP = Tool(ToolKind.SEARCH, Phrase.SEARCHED, named("pattern", "query"))

TOOLS = {
    "read_file": Tool(ToolKind.READ, Phrase.READ, paths=path_in(*_FILE)),
    "read_many_files": Tool(ToolKind.READ, Phrase.READ, paths=_many_paths),
    "write_file": Tool(ToolKind.EDIT, Phrase.CREATED, paths=path_in(*_FILE)),
    "replace": Tool(ToolKind.EDIT, Phrase.EDITED, paths=path_in(*_FILE)),
    SHELL: Tool(ToolKind.EXECUTE, Phrase.RAN, command_in("command")),
    "grep_search": _GREP,
    "search_file_content": _GREP,
    "glob": Tool(ToolKind.SEARCH, Phrase.FOUND, named("pattern")),
    "list_directory": Tool(ToolKind.SEARCH, Phrase.LISTED, paths=path_in("dir_path", "path")),
    "google_web_search": Tool(ToolKind.SEARCH, Phrase.SEARCHED_WEB, named("query")),
    "web_fetch": Tool(ToolKind.FETCH, Phrase.FETCHED, _address),
    "write_todos": Tool(ToolKind.PLAN, Phrase.TODOS),
    "delegate_to_agent": _SUBAGENT,
    "invoke_agent": _SUBAGENT,
    "codebase_investigator": _SUBAGENT,
    "cli_help": _SUBAGENT,
    "generalist": _SUBAGENT,
    "browser_agent": _SUBAGENT,
}
"""The tools by the name that the agent gives them. The phrases are those of the text format."""


def tool_named(name: str, displayed: str | None = None) -> Tool:
    """Return the tool with a name. A tool of an MCP server is named `mcp_SERVER_TOOL`, in older versions
    `SERVER__TOOL`. Before that only the name for display had the server: `TOOL (SERVER MCP Server)`."""
    if name in TOOLS:
        return TOOLS[name]
    server, tool = _mcp_names(name, displayed or "")
    if server and tool:
        return Tool(ToolKind.MCP, Phrase.CALLED_MCP, lambda _arguments: f"{server} {tool}")
    return other_tool(name)


def _mcp_names(name: str, displayed: str) -> tuple[str, str]:
    if displayed.endswith(_MCP_DISPLAY):
        tool, _, server = displayed.removesuffix(_MCP_DISPLAY).rpartition(" (")
        return server, tool
    if name.startswith(_MCP_PREFIX):
        server, _, tool = name.removeprefix(_MCP_PREFIX).partition("_")
        return server, tool.lstrip("_")
    server, _, tool = name.partition(_MCP_SEPARATOR)
    return server, tool


def name_in_id(call_id: str) -> str:
    """Return the tool's name in a call's id, or "": `read_file_1795208170605_1`, in newer versions with
    the name twice, in older ones with a hash (`replace-1770507872133-32d31f85c46908`). Only the start has
    it in a field."""
    for separator in ("_", "-"):
        rest, *numbers = call_id.rsplit(separator, 2)
        if len(numbers) == _NUMBERS and rest and numbers[0].isdecimal():
            half = (len(rest) - len(_MCP_SEPARATOR)) // 2
            is_twice = half > 0 and rest == f"{rest[:half]}{_MCP_SEPARATOR}{rest[:half]}"
            return rest[:half] if is_twice else rest
    return ""


FORMAT = "gemini"
_MOST_REASON = 4096
"""The most characters of a reason. The message of an API error can have 50,000."""
_CANCELLATION = "FatalCancellationError"


class _Open(NamedTuple):
    name: str
    tool: Tool
    plan: Plan | None = None
    facts: Facts = NO_FACTS


class GeminiDecoder(AgentDecoder):
    def __init__(self) -> None:
        self._open = OpenCalls[_Open]()
        self._segment = SegmentText()
        self._has_deltas = False
        self._model: str | None = None
        self._last_error: str | None = None

    def decode(self, fields: Fields) -> list[Event]:
        kind = fields.get("type")
        if kind == "message":
            return self._message(fields)
        self._end_segment()
        match kind:
            case "tool_use":
                return self._tool_started(fields)
            case "tool_result":
                return self._tool_ended(fields)
            case "init":
                return [self._run_started(fields)]
            case "error":
                return [self._notice(fields)]
            case "result":
                return self._run_ended(fields)
        return [Unknown(f"type {in_words(kind)}")]

    def _run_started(self, fields: Fields) -> RunStarted:
        self._open.clear()
        self._last_error = None
        self._model = text(fields, "model")
        return RunStarted(
            FORMAT, session_id=text(fields, "session_id"), model=self._model, cwd=text(fields, "cwd")
        )

    def _message(self, fields: Fields) -> list[Event]:
        content, at_ms = _content(fields), iso_ms(fields.get("timestamp"))
        match fields.get("role"):
            case "user":
                self._end_segment()
                return [Unknown("user message without text")] if content is None else [Prompt(content)]
            case "assistant" | "model":
                if content is None:
                    return [Unknown("assistant message without text")]
                return self._answer(content, at_ms, is_delta=fields.get("delta") is True)
        return [Unknown(f"message of role {in_words(fields.get('role'))}")]

    def _answer(self, content: str, at_ms: int | None, *, is_delta: bool) -> list[Event]:
        if not is_delta and self._has_deltas and self._segment.is_repeated_by(content):
            self._end_segment()
            return [TextEnded(Channel.ANSWER, at_ms)]
        if is_delta:
            self._has_deltas = True
            self._segment.add(content)
        return [Text(Channel.ANSWER, content, at_ms)]

    def _end_segment(self) -> None:
        if self._has_deltas:
            self._segment.clear()
            self._has_deltas = False

    def _tool_started(self, fields: Fields) -> list[Event]:
        name = text(fields, "tool_name") or name_in_id(text(fields, "tool_id") or "")
        tool, arguments = tool_named(name), mapping(fields.get("parameters"))
        call_id = text(fields, "tool_id") or ""
        plan = plan_in(tool, arguments)
        self._open.keep(call_id, _Open(name, tool, plan, argument_facts(name, arguments)), name)
        return [tool.started(call_id, name, arguments, at_ms=iso_ms(fields.get("timestamp")))]

    def _tool_ended(self, fields: Fields) -> list[Event]:
        call_id = text(fields, "tool_id") or ""
        name = text(fields, "tool_name") or name_in_id(call_id)
        use = self._open.pop(call_id, None) or _Open(name, tool_named(name))
        error, output = fields.get("error"), text(fields, "output")
        details = mapping(error)
        reason = text(details, "message") or (error if isinstance(error, str) and error else None)
        error_type = text(details, "type")
        if reason is None and error_type is None and "status" in fields:
            reason = output
        result = ending(fields.get("status"), reason, error_type)
        is_success = result.outcome is Outcome.SUCCEEDED
        if is_success:
            result = result._replace(facts=shown_facts(use.tool, fields.get("output"), use.facts))
        at_ms = iso_ms(fields.get("timestamp"))
        events: list[Event] = [use.tool.ended(call_id, use.name, result, at_ms=at_ms)]
        if use.plan is not None and is_success:
            events.append(use.plan)
        if result.unknown_status is not None:
            events.append(Unknown(f"status {result.unknown_status} of a call"))
        return events

    def _notice(self, fields: Fields) -> Notice:
        message = _reason(fields) or "error without a message"
        is_error = fields.get("severity") != "warning"
        if is_error:
            self._last_error = message
        return Notice(message, iso_ms(fields.get("timestamp")), is_error=is_error)

    def _run_ended(self, fields: Fields) -> list[Event]:
        """A failure before the model's answer has no error here: the line of the error came before."""
        status, stats = fields.get("status"), mapping(fields.get("stats"))
        error = fields.get("error")
        is_success = status == "success" or (status is None and not error)
        is_cancelled = status == "cancelled" or text(mapping(error), "type") == _CANCELLATION
        outcome = Outcome.CANCELLED if is_cancelled else Outcome.FAILED
        reason = _reason(fields) or self._last_error
        events: list[Event] = []
        if model := self._used_model(stats):
            events.append(RunInfo(model=model))
        if stats:
            # the input includes cached tokens; the output includes no thoughts
            tokens = tokens_in(stats, "input_tokens", "cached", "output_tokens")
            events.append(Usage(tokens, UsageScope.TURN))
        self._last_error = None
        ended = TurnEnded(
            outcome=Outcome.SUCCEEDED if is_success else outcome,
            result=None if is_success else reason,
            session_id=text(fields, "session_id"),
            # the agent writes 0 for a run that failed
            duration_ms=number(stats, "duration_ms") if is_success else number(stats, "duration_ms") or None,
            usage=scalars(stats) if stats else None,
        )
        return [*events, ended]

    def _used_model(self, stats: Fields) -> str | None:
        """Unless the init line names one that was used: it may contain a choice such as `auto`."""
        used = mapping(stats.get("models")).items()
        models = {name: number(mapping(value), "total_tokens") or 0 for name, value in used if name}
        if not models or self._model in models:
            return None
        return max(models, key=lambda name: models[name])


def _content(fields: Fields) -> str | None:
    """Return the text of a message; None for a message without one. Some programs write a list of parts."""
    content = fields.get("content")
    if isinstance(content, str):
        return content
    texts = [text(mapping(part), "text") for part in items(content)]
    return "".join(part for part in texts if part) or None


def _reason(fields: Fields) -> str | None:
    error = fields.get("error")
    details = mapping(error)
    words = error if isinstance(error, str) else text(details, "message") or text(details, "type")
    words = words or text(fields, "message")
    return f"{words[: _MOST_REASON - 1]}…" if words and len(words) > _MOST_REASON else words


# The exit code of a command, which the text for the model has.

_EXIT = "Exit Code: "
_AFTER_EXIT = ("Signal: ", "Background PIDs: ", "Process Group PGID: ", "</untrusted_context>")
"""What may follow the exit code at the end of the text that the model gets."""
_MOST_LINES = 8


def exit_code_in(reason: str | None) -> int | None:
    """Return the exit code at the end of the text of a command that failed; None without one. The output of
    the command is before it, and may contain such a line too.

    Example:
        >>> exit_code_in("Output: no\\nError: (none)\\nExit Code: 2\\nSignal: (none)")
        2
    """
    for line in reversed((reason or "")[-_READ_CHARACTERS:].rstrip().split("\n")[-_MOST_LINES:]):
        if line.startswith(_EXIT):
            return integer(line.removeprefix(_EXIT).strip())
        if not line.startswith(_AFTER_EXIT):
            return None
    return None


# The arguments and the result of a call, divided into blocks.


def line_blocks(fields: Fields, _call_id: str = "") -> Iterator[Block]:
    call_id = text(fields, "tool_id") or ""
    name = text(fields, "tool_name") or name_in_id(call_id)
    tool = tool_named(name)
    if fields.get("type") == "tool_use":
        arguments = mapping(fields.get("parameters"))
        plan = plan_in(tool, arguments)
        yield from argument_blocks(tool.kind, arguments, plan.entries if plan else ())
        return
    error, output = mapping(fields.get("error")), text(fields, "output")
    reason = text(error, "message") or text(fields, "error")
    yield from result_blocks(tool, output or "", reason)
