"""The tools and calls of Claude Code, for its stream, its transcripts, and the agents of its family."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Container, Iterator
from itertools import islice
from typing import NamedTuple

from agentwatch.agents.changes import line_count, patch_lines, replaced_lines
from agentwatch.agents.fields import (
    MOST_ID,
    NO_FIELDS,
    Fields,
    digest_of,
    integer,
    items,
    mapping,
    number,
    percent,
    seconds_ms,
    text,
)
from agentwatch.agents.tool import (
    NO_FACTS,
    Facts,
    OpenCalls,
    Phrase,
    Result,
    Tool,
    command_in,
    counted,
    entry_in,
    first_question,
    listed_entries,
    named,
    other_tool,
    path_in,
    plan_entry,
    remember,
)
from agentwatch.session.counts import known_sum
from agentwatch.session.events import (
    Event,
    Limits,
    LimitWindow,
    Outcome,
    Plan,
    PlanEntry,
    Tokens,
    ToolEnded,
    ToolKind,
    ToolStarted,
    Usage,
    UsageScope,
)
from agentwatch.text.amounts import plural

# The to-do list: `TodoWrite` writes all of it, `TaskUpdate` changes one entry.

_MAX_ENTRIES = 1_000
_TEXTS = ("content", "subject")
_WRITES_ALL = frozenset(("TodoWrite", "todo_write"))
_NUMBER_START = "Task #"


class Plans:
    """The entries that `TaskCreate` made, by their ids; at most 1,000."""

    def __init__(self) -> None:
        self._tasks: dict[str, PlanEntry] = {}

    def after(self, tool: str, arguments: Fields, structured: Fields, words: str) -> Plan | None:
        """Return the to-do list after a call that succeeded; None if the tool does not change it."""
        if tool in _WRITES_ALL:
            return Plan(plan_entries(structured.get("newTodos") or arguments.get("todos")))
        match tool:
            case "TaskCreate":
                self._create(arguments, mapping(structured.get("task")), words)
            case "TaskUpdate":
                self._update(arguments)
            case "TaskList" if "tasks" in structured:
                tasks = map(mapping, islice(items(structured["tasks"]), _MAX_ENTRIES))
                self._tasks = {text(task, "id") or "": entry_in(task, *_TEXTS) for task in tasks}
            case _:
                return None
        return Plan(tuple(self._tasks.values()))

    def _create(self, arguments: Fields, task: Fields, words: str) -> None:
        number = words.removeprefix(_NUMBER_START)[:20].partition(" ")[0]
        key = text(task, "id") or (number if words.startswith(_NUMBER_START) else f"task {len(self._tasks)}")
        if len(self._tasks) < _MAX_ENTRIES:
            self._tasks[key[:100]] = entry_in({**task, **arguments}, *_TEXTS)

    def _update(self, arguments: Fields) -> None:
        key = (text(arguments, "taskId") or "")[:100]
        before = self._tasks.get(key)
        if before is None:
            return
        status = text(arguments, "status")
        if status == "deleted":
            del self._tasks[key]
            return
        words = text(arguments, "subject") or before.text
        self._tasks[key] = plan_entry(words, status, before.status)


def plan_entries(value: object) -> tuple[PlanEntry, ...]:
    return listed_entries(items(value)[:_MAX_ENTRIES], *_TEXTS)


# The outcome of a call, from its `tool_result` block and the structured result beside it.
# A result says that it failed with `is_error`, and why in its text. Whether a person or a rule refused the
# call is only in that text, and in lines of their own (`permission_denied`, and `permission_denials` of a
# result). The texts are those of captures of Claude Code 1.0 to 2.1, Qwen Code 0.15 and Amp.

_new = tuple.__new__
IN_BACKGROUND = "in the background"
_READ_CHARACTERS = 1000
"""The beginning of a result's text in which the reason of a failure is searched."""
_MOST_ERROR = 10_000
_MOST_DIGITS = 10
EXIT = "Exit code "
_TAG, _END_TAG = "<tool_use_error>", "</tool_use_error>"
_BARE_REFUSAL = "The user doesn't want to proceed with this tool use"
_FEEDBACK = "the user said"
_REFUSALS = (
    *(_BARE_REFUSAL, "Claude requested permissions to ", "Permission to use ", "Permission for this "),
    *("PreToolUse:", "Hook PreToolUse:", "Execution stopped by PreToolUse hook", "Execute skill:"),
    *("Execute slash command:", "Answer questions?", "Exit plan mode?", "User rejected"),
    *("The user rejected", "User declined", "User denied", "The agent proposed a plan that was rejected"),
)
"""Beginnings of the text of a call that a person or a rule refused. Without a terminal, Claude Code refuses
what it would have to ask for, and the text is its question."""
_UNSAFE_COMMANDS = ("Command contains ", "Contains ", "Unhandled node type")
_DECLINED = "User did not allow tool call"
"""The words of Qwen Code for a call that the user refused, which it calls cancelled."""
_REFUSING_WORDS = (
    *("requires permission", "that permission was declined", "denied by your permission settings"),
    *("was blocked. For security", "rejected by user", "rejected by the user", _DECLINED),
)
"""Words in the first line of the text of such a call."""
INTERRUPTED = "[Request interrupted by user"
_INTERRUPTIONS = (
    INTERRUPTED,
    "The user doesn't want to take this action right now",
    "[Operation Cancelled]",
    "Cancelled: parallel tool call",
    "Sibling tool call errored",
    "Command was aborted",
)
"""Beginnings of the text of a call that was interrupted."""
_BACKGROUND_TEXTS = ("Command running in background", "Async agent launched")
_MOVED = "was moved to the background"
"""Words in the first line of a command that took longer than its limit, and continues."""
_BACKGROUND_STATES = (
    *("async_launched", "remote_launched", "queued_to_running"),
    *("backgrounded", "teammate_spawned"),
)


def read_result(tool: Tool, block: Fields, structured: object, *, is_denied: bool = False) -> Result:
    """Read the result of a call. `structured` is None if the line has no such field. `is_denied` says whether
    another field or line says that the call was refused."""
    details = mapping(structured)
    if block.get("is_error") is True:
        return _failure(tool, block, details, is_denied=is_denied)
    if is_denied:
        return Result(Outcome.REJECTED, reason_of(block))
    # A subagent that was stopped alone: the turn continues, and the result is not an error.
    is_stopped = tool.kind is ToolKind.DELEGATE and first_text(block).startswith(INTERRUPTED)
    if details.get("interrupted") is True or is_stopped:
        return Result(Outcome.CANCELLED)
    exit_code = _stated_exit_code(details)
    if exit_code or details.get("is_error") is True or details.get("success") is False:
        error = f"exit {exit_code}" if exit_code else text(details, "error") or reason_of(block)
        return Result(Outcome.FAILED, error, exit_code)
    if _is_in_background(tool, block, details):
        return Result(Outcome.RETURNED, facts=Facts(note=IN_BACKGROUND))
    return Result(Outcome.SUCCEEDED, None, exit_code, tool.facts(details))


def result_texts(block: Fields) -> Iterator[str]:
    content = block.get("content")
    if isinstance(content, str):
        yield content
    for piece in items(content):
        if found := text(mapping(piece), "text"):
            yield found


def first_text(block: Fields) -> str:
    content = block.get("content")
    return content if isinstance(content, str) else next(result_texts(block), "")


def _failure(tool: Tool, block: Fields, details: Fields, *, is_denied: bool) -> Result:
    reason = reason_of(block)
    if reason.startswith(_INTERRUPTIONS) and _DECLINED not in reason[:_READ_CHARACTERS]:
        return Result(Outcome.CANCELLED, reason)
    if is_denied or _is_refusal(tool, reason):
        return Result(Outcome.REJECTED, reason or None)
    if details.get("interrupted") is True:
        return Result(Outcome.CANCELLED, reason)
    exit_code = _stated_exit_code(details)
    if exit_code is None and tool.kind is ToolKind.EXECUTE:
        exit_code = _exit_code_in(reason)
    error = f"exit {exit_code}" if exit_code else reason or text(details, "stderr") or "the tool says so"
    return Result(Outcome.FAILED, error, exit_code)


def reason_of(block: Fields) -> str:
    found = first_text(block)[:_MOST_ERROR].strip()
    return found.removeprefix(_TAG).removesuffix(_END_TAG).strip()


def is_bare_refusal(reason: str | None) -> bool:
    """Return whether it has no words of the user. A call that the user interrupted has the same text."""
    return reason is not None and reason.startswith(_BARE_REFUSAL) and _FEEDBACK not in reason


def _is_refusal(tool: Tool, reason: str) -> bool:
    if reason.startswith(EXIT):
        return False
    first = reason[:_READ_CHARACTERS].partition("\n")[0]
    is_unsafe = tool.kind is ToolKind.EXECUTE and reason.startswith(_UNSAFE_COMMANDS)
    awaits_approval = "approval" in first and ("require" in first or "need" in first)
    is_said = reason.startswith(_REFUSALS) or any(words in first for words in _REFUSING_WORDS)
    return is_unsafe or awaits_approval or is_said


def _exit_code_in(reason: str) -> int | None:
    if not reason.startswith(EXIT):
        return None
    return integer(reason[len(EXIT) : len(EXIT) + _MOST_DIGITS].partition("\n")[0].strip())


def _stated_exit_code(details: Fields) -> int | None:
    for key in ("exit_code", "exitCode"):
        if (found := number(details, key)) is not None:
            return found
    return None


def _is_in_background(tool: Tool, block: Fields, details: Fields) -> bool:
    if text(details, "backgroundTaskId") or details.get("isAsync") is True:
        return True
    if tool.kind not in (ToolKind.EXECUTE, ToolKind.DELEGATE):
        return False
    if details:
        return details.get("status") in _BACKGROUND_STATES
    words = first_text(block)
    return words.startswith(_BACKGROUND_TEXTS) or _MOVED in words[:_READ_CHARACTERS].partition("\n")[0]


# The tools: the kind, phrase and target of each, and the facts in its results.
# Adding a tool is one entry in `TOOLS`. The names and fields come from captures of Claude Code 1.0 to 2.1,
# and from the vendor's published types of the tools' arguments and results. The arguments are the `input`
# of a `tool_use` block; the result is the object under `tool_use_result` (`toolUseResult` on disk).

MCP_PREFIX = "mcp__"
_MCP_SEPARATOR = "__"


def _read_facts(result: Fields) -> Facts:
    file = mapping(result.get("file"))
    count, total = number(file, "numLines"), number(file, "totalLines")
    first = number(file, "startLine") or 1
    if count is None:
        return NO_FACTS
    if total is None or (first <= 1 and count >= total - 1):
        return Facts(note=plural(count if total is None else total, "line"))
    return Facts(note=f"lines {first:,}-{first + count - 1:,} of {total:,}")


def _edit_facts(result: Fields) -> Facts:
    is_new = "originalFile" in result and not result["originalFile"] and result.get("oldString") == ""
    return created(result.get("newString")) if is_new else patch_lines(result.get("structuredPatch"))


def _write_facts(result: Fields) -> Facts:
    if result.get("type") == "update" or text(result, "originalFile"):
        return patch_lines(result.get("structuredPatch"))._replace(phrase=Phrase.EDITED)
    return created(result.get("content"))


def created(content: object) -> Facts:
    if not isinstance(content, str):
        return Facts(phrase=Phrase.CREATED, is_new_file=True)
    count = line_count(content)
    return Facts(plural(count, "line"), Phrase.CREATED, is_new_file=True, lines_added=count, lines_removed=0)


def argument_facts(tool: Tool, arguments: Fields) -> Facts:
    if tool.kind is not ToolKind.EDIT:
        return NO_FACTS
    content = arguments.get("content")
    return created(content) if isinstance(content, str) else replaced_lines(arguments)


def _grep_facts(result: Fields) -> Facts:
    mode = result.get("mode")
    if mode == "files_with_matches":
        return counted("numFiles", "file")(result)
    if mode == "count":
        return counted("numMatches", "match")(result)
    return counted("numLines", "line")(result)


def _web_search_facts(result: Fields) -> Facts:
    found = [each for part in items(result.get("results")) for each in items(mapping(part).get("content"))]
    return Facts(note=plural(len(found), "result")) if "results" in result else NO_FACTS


def _todo_facts(result: Fields) -> Facts:
    todos = items(result.get("newTodos"))
    done = sum(mapping(todo).get("status") == "completed" for todo in todos)
    return Facts(note=f"{done} of {len(todos)} done") if todos else NO_FACTS


def _question(arguments: Fields) -> str:
    return _with("AskUserQuestion", first_question(arguments))


def questions_in(arguments: Fields) -> str | None:
    asked = [text(mapping(each), "question") for each in items(arguments.get("questions"))]
    plan = (text(arguments, "plan") or "").strip().partition("\n")[0]
    return " ".join(filter(None, asked)) or plan or None


_SUBAGENT = Tool(
    ToolKind.DELEGATE,
    Phrase.RAN_SUBAGENT,
    named("description", "prompt"),
    facts=counted("totalToolUseCount", "call"),
)
_SHELL = Tool(ToolKind.EXECUTE, Phrase.RAN, command_in("command"))
_PLAN = Tool(ToolKind.PLAN, Phrase.TODOS)

TOOLS = {
    "Bash": _SHELL,
    "PowerShell": _SHELL,
    "Read": Tool(ToolKind.READ, Phrase.READ, paths=path_in("file_path"), facts=_read_facts),
    "Edit": Tool(ToolKind.EDIT, Phrase.EDITED, paths=path_in("file_path"), facts=_edit_facts),
    "MultiEdit": Tool(ToolKind.EDIT, Phrase.EDITED, paths=path_in("file_path"), facts=_edit_facts),
    "Write": Tool(ToolKind.EDIT, Phrase.CREATED, paths=path_in("file_path"), facts=_write_facts),
    "NotebookEdit": Tool(ToolKind.EDIT, Phrase.EDITED, paths=path_in("notebook_path")),
    "NotebookRead": Tool(ToolKind.READ, Phrase.READ, paths=path_in("notebook_path")),
    "Glob": Tool(ToolKind.SEARCH, Phrase.FOUND, named("pattern"), facts=counted("numFiles", "file")),
    "Grep": Tool(ToolKind.SEARCH, Phrase.SEARCHED, named("pattern"), facts=_grep_facts),
    "LS": Tool(ToolKind.SEARCH, Phrase.LISTED, paths=path_in("path")),
    "Task": _SUBAGENT,
    "Agent": _SUBAGENT,
    "TodoWrite": Tool(ToolKind.PLAN, Phrase.TODOS, facts=_todo_facts),
    "TaskCreate": Tool(ToolKind.PLAN, Phrase.TODOS, named("subject", "description")),
    "TaskUpdate": Tool(ToolKind.PLAN, Phrase.TODOS, named("subject", "taskId")),
    "TaskList": _PLAN,
    "TaskGet": Tool(
        ToolKind.PLAN, Phrase.USED, lambda arguments: _with("TaskGet", text(arguments, "taskId"))
    ),
    "WebSearch": Tool(ToolKind.SEARCH, Phrase.SEARCHED_WEB, named("query"), facts=_web_search_facts),
    "WebFetch": Tool(ToolKind.FETCH, Phrase.FETCHED, named("url")),
    "AskUserQuestion": Tool(ToolKind.OTHER, Phrase.USED, _question),
    "ListMcpResourcesTool": Tool(ToolKind.MCP, Phrase.CALLED_MCP, named("server")),
    "ReadMcpResourceTool": Tool(
        ToolKind.MCP,
        Phrase.CALLED_MCP,
        lambda arguments: " ".join(filter(None, (text(arguments, "server"), text(arguments, "uri")))),
    ),
}
"""The tools by the name in a `tool_use` block. A tool that is not listed shows its name and one argument."""


def _with(name: str, argument: str | None) -> str:
    return f"{name} {argument}" if argument else name


def tool_named(name: str) -> Tool:
    return TOOLS.get(name) or mcp_tool(name) or other_tool(name)


def mcp_tool(name: str) -> Tool | None:
    """Return the description of an MCP tool, `mcp__server__tool`; None if the name has another form.

    Example:
        >>> mcp_tool("mcp__github__create_issue").target({})
        'github create_issue'
    """
    if not name.startswith(MCP_PREFIX):
        return None
    server, separator, tool = name.removeprefix(MCP_PREFIX).partition(_MCP_SEPARATOR)
    target = f"{server} {tool}" if separator else server
    return Tool(ToolKind.MCP, Phrase.CALLED_MCP, lambda _arguments: target)


# What differs between the agents that write Claude's grammar.


def no_details(_tool: Tool, _words: str) -> Fields:
    """Return no fields: the text of a result is only a text."""
    return NO_FIELDS


class Dialect(NamedTuple):
    """An agent's variant of the grammar."""

    format: str
    tool_named: Callable[[str], Tool] = tool_named
    input_includes_cache: bool = False
    """Whether `input_tokens` contains the tokens that were read from the cache and written to it."""
    echoes_prompts: bool = False
    """Whether each prompt of the user is a line. If not, a user's text within a turn is the agent's own."""
    error_start: str | None = None
    """The beginning of a result that is an error, although the line says success."""
    has_whole_usage: bool = False
    """Whether the line of a message has its final output tokens. If not, they are a value of its middle."""
    details_in: Callable[[Tool, str], Fields] = no_details
    """Returns the structured result in the text of a result."""
    counts_subagents_apart: bool = False
    """Whether a result line counts only the main agent's tokens, and subagents' messages have their own."""


CLAUDE_CODE = Dialect("claude-code", counts_subagents_apart=True)


_NO_NAME = "unknown"
_NO_TOOL = other_tool("")._replace(target=lambda _arguments: None)
"""The tool of a result whose call is not in the recording: its name is not known."""
ASKING = ("AskUserQuestion", "ExitPlanMode")
"""Tools whose calls wait until the user has answered, and do not run before."""
_INTERRUPTED = ("interrupted", "cancelled")
"""The reasons not to run a call that no person and no rule gave."""
_BY_USER = "user-rejected"
"""The reason of a call that the user refused, and of a call that was running when the user interrupted it."""
_REJECTED = "User rejected tool use"
"""The structured result of such calls, whatever their text is."""
_MOST_UNCLEAR = 64
_OVERWRITTEN = ("has been updated", "overwrote")
_PLAN_ARGUMENTS = ("todos", "taskId", "status", "subject", "content")


class _Open(NamedTuple):
    name: str
    tool: Tool
    parent_call: str | None
    facts: Facts
    plan: Fields
    """The arguments of a tool that updates the to-do list; empty for others."""


class Calls:
    def __init__(
        self,
        tool_named: Callable[[str], Tool],
        details_in: Callable[[Tool, str], Fields] = no_details,
    ) -> None:
        self._details_in = details_in
        self.cwd = ""
        self.tool_named = tool_named
        self._open = OpenCalls[_Open]()
        self._denied = OpenCalls[None]()
        self._unclear: list[ToolEnded] = []
        """The ends of calls that were either refused or interrupted: a later line says which; at most 64."""
        self._ended = OpenCalls[ToolEnded]()
        """The ends of this turn's calls that did not succeed: its result may say that they were refused."""
        self._plans = Plans()

    def begin_run(self) -> None:
        self._open.clear()
        self._denied.clear()
        self._ended.clear()
        self._plans = Plans()

    def is_open(self, call_id: str | None) -> bool:
        return call_id in self._open

    def deny(self, call_id: str | None) -> None:
        if call_id is not None:
            self._denied.keep(call_id, None)

    def described(self, name: str, arguments: Fields) -> tuple[str | None, list[str]]:
        return self.tool_named(name).described(arguments, self.cwd)

    def start(
        self,
        block: Fields,
        *,
        parent_call: str | None = None,
        group: str | None = None,
        at_ms: int | None = None,
    ) -> ToolStarted:
        call_id, name = text(block, "id") or "", text(block, "name") or _NO_NAME
        arguments, tool = mapping(block.get("input")), self.tool_named(name)
        plan = _plan_in(arguments) if tool.kind is ToolKind.PLAN else NO_FIELDS
        facts = argument_facts(tool, arguments)
        self._open.keep(call_id, _new(_Open, (name, tool, parent_call, facts, plan)), name)
        return tool.started(
            call_id,
            name,
            arguments,
            cwd=self.cwd,
            group=group,
            limit_ms=number(arguments, "timeout"),
            at_ms=at_ms,
            parent_call=parent_call,
        )

    def end(
        self,
        block: Fields,
        structured: object,
        *,
        parent_call: str | None = None,
        at_ms: int | None = None,
        is_whole: bool = True,
        denial: str | None = None,
    ) -> list[Event]:
        """`denial` is why the call did not run or end, if the line says it: `user-rejected`,
        `permission-rule`, `automode-blocked`, `interrupted`, `cancelled`. Unless `is_whole`, the error
        may be missing. Return nothing if only a later line says whether it was refused or interrupted."""
        call_id = text(block, "tool_use_id") or ""
        known = self._open.pop(call_id, None)
        name, tool, parent_call, argued, plan = known or ("", _NO_TOOL, parent_call, NO_FACTS, NO_FIELDS)
        is_denied = call_id in self._denied
        self._denied.pop(call_id, None)
        words = first_text(block)
        details = mapping(structured) or self._details_in(tool, words)
        did_not_run = is_denied or denial is not None or structured == _REJECTED
        result = read_result(tool, block, details or structured, is_denied=did_not_run)
        if denial in _INTERRUPTED:
            result = result._replace(outcome=Outcome.CANCELLED)
        if result.outcome is Outcome.SUCCEEDED and not details:
            result = result._replace(facts=_facts_without_details(argued, words))
        if result.outcome is Outcome.SUCCEEDED and not is_whole:
            result = Result(Outcome.RETURNED, "its line is too large to be read")
        ended = tool.ended(
            call_id,
            name,
            result,
            has_arguments=True,
            at_ms=at_ms,
            parent_call=parent_call,
            # Only the result of a subagent reports a duration.
            duration_ms=number(details, "totalDurationMs") if tool.kind is ToolKind.DELEGATE else None,
        )
        is_clear = is_denied or denial not in (None, _BY_USER) or name in ASKING
        if result.outcome is Outcome.REJECTED and not is_clear and is_bare_refusal(result.error):
            self._unclear.append(ended)
            return [self._unclear.pop(0)] if len(self._unclear) > _MOST_UNCLEAR else []
        if result.outcome in (Outcome.FAILED, Outcome.CANCELLED):
            self._ended.keep(call_id, ended)
        if (
            result.outcome is not Outcome.SUCCEEDED
            or tool.kind is not ToolKind.PLAN
            or parent_call is not None
        ):
            return [ended]
        planned = self._plans.after(name, plan, details, words)
        return [ended] if planned is None else [ended, planned]

    def released(self, *, is_interrupted: bool = False, denied: Container[str] = ()) -> list[Event]:
        """Return the ends of the calls that were refused or interrupted. `denied` has the ids of calls
        that were refused although the user interrupted the agent."""
        if not self._unclear:
            return []
        unclear, self._unclear = [each._replace(has_result=False) for each in self._unclear], []
        return [
            ended._replace(outcome=Outcome.CANCELLED, error="interrupted by the user")
            if is_interrupted and ended.call_id not in denied
            else ended
            for ended in unclear
        ]

    def turn_ended(self, denials: object, *, is_interrupted: bool) -> list[Event]:
        """Return the ends that the `permission_denials` of a result decide: not of a call that was
        running when the user interrupted it. One whose own text says no refusal has ended as failed."""
        found = [text(denial, "tool_use_id") for denial in map(mapping, items(denials))]
        ids = {call_id: None for call_id in found if call_id is not None}
        events = self.released(is_interrupted=is_interrupted, denied=ids)
        ended = [self._ended[call_id] for call_id in ids if call_id in self._ended]
        self._ended.clear()
        events += [each._replace(outcome=Outcome.REJECTED, corrects=each.outcome) for each in ended]
        return events + [event for call_id in ids if call_id in self._open for event in self.refuse(call_id)]

    def refuse(self, call_id: str, reason: str | None = None) -> list[Event]:
        """End an open call as refused: the agent says so, and its result cannot follow."""
        block = {"tool_use_id": call_id, "is_error": True, "content": reason or ""}
        self.deny(call_id)
        return self.end(block, None) if call_id in self._open else []


def _facts_without_details(argued: Facts, words: str) -> Facts:
    if argued.is_new_file and any(marker in words[:500] for marker in _OVERWRITTEN):
        return Facts(phrase=Phrase.EDITED)
    return argued


def _plan_in(arguments: Fields) -> Fields:
    return {key: arguments[key] for key in _PLAN_ARGUMENTS if key in arguments}


# The token counts of requests to the model: those of the main agent, and those of its subagents.

_MOST_OPEN_ANSWERS = 256
"""The answers whose lines may still come, mixed with those of others."""


class Requests:
    """Counts the tokens of each answer once: its lines, one for each block, repeat them. It is known by
    the ids of message and request; where a gateway leaves these out, also by the time of its first line.
    Its lines end at a prompt, or when the counts of the input change."""

    def __init__(self) -> None:
        self._counted: OrderedDict[str, tuple[int | None, ...]] = OrderedDict()
        """The input, the cached, the output and the written tokens of each answer."""
        self._settled: set[int] = set()
        """The digests of the answers that are not in `_counted` any more: 74 bytes each."""
        self._open: OrderedDict[tuple[str, str, str], tuple[object, str]] = OrderedDict()
        """The counts of the input and the key of answers without both ids, by these ids and the agent."""
        self._last: object = None

    def prompted(self, parent_call: str | None) -> None:
        for names in [names for names in self._open if names[2] == (parent_call or "")[:MOST_ID]]:
            del self._open[names]
        self._last = None

    def usage(
        self,
        message: Fields,
        at_ms: int | None,
        request_id: str | None = None,
        parent_call: str | None = None,
    ) -> Usage | None:
        """Return what a line of a message adds. Only the last line has the final count of its output."""
        counts, message_id = mapping(message.get("usage")), text(message, "id")
        cached, output = number(counts, "cache_read_input_tokens"), number(counts, "output_tokens")
        parts = (number(counts, "input_tokens"), cached, number(counts, "cache_creation_input_tokens"))
        last = (message_id, request_id, parent_call, parts, output)
        if last == self._last:
            return None
        sent = known_sum(parts)
        kept = kept_for_an_hour(counts) if "cache_creation" in counts else None
        found = sent, cached, output, parts[2], kept
        names = (message_id or "", (request_id or "")[:MOST_ID], (parent_call or "")[:MOST_ID])
        if not any(found) or (key := self._key(names, at_ms, parts)) is None:
            return None
        self._last = last
        before = self._counted.get(key)
        if before is None and self._settled and digest_of(key) in self._settled:
            return None
        self._counted[key] = found
        if len(self._counted) > _MOST_OPEN_ANSWERS:
            self._settled.add(digest_of(self._counted.popitem(last=False)[0]))
        if found == before:
            return None
        context = (sent or None) if parent_call is None else None
        new = found if before is None else [*map(_added, found, before)]
        added = _new(Tokens, (*new[:3], None, context, None, *new[3:]))
        return _new(Usage, (added, UsageScope.REQUEST, at_ms, key, text(message, "model")))

    def _key(self, names: tuple[str, str, str], at_ms: int | None, parts: object) -> str | None:
        message_id, request_id, _ = names
        if len(message_id) > MOST_ID:
            return None
        if (message_id and request_id) or at_ms is None:
            return f"{message_id} {request_id}".strip() or None
        known = self._open.get(names)
        is_same = known is not None and known[0] == parts
        key = known[1] if known is not None and is_same else f"{message_id} {request_id} {at_ms} {parts}"
        remember(self._open, names, (parts, key), _MOST_OPEN_ANSWERS)
        return key


def kept_for_an_hour(counts: Fields) -> int | None:
    return number(mapping(counts.get("cache_creation")), "ephemeral_1h_input_tokens")


def _added(now: int | None, before: int | None) -> int | None:
    return now if now is None or before is None else now - before


def model_in(fields: Fields) -> str | None:
    model = text(mapping(fields.get("message")), "model")
    return None if model is None or model.startswith("<") else model


# The usage limits: `rate_limit_info` in a stream, `quotaLimits` in a file.

_LENGTHS = {"five_hour": "5h", "seven_day": "7d"}
_MOST_NAME = 40
_MOST_WINDOWS = 6


def limits_in(info: Fields, at_ms: int | None = None) -> list[Limits]:
    """`unifiedWindows` has all windows; older versions name only the fullest. While the account pays for
    more (`isUsingOverage`), nothing is refused."""
    windows: dict[str, LimitWindow] = {}
    for key, window in mapping(info.get("unifiedWindows")).items():
        found = _window(key, mapping(window))
        if found is not None and len(windows) < _MOST_WINDOWS:
            windows[found.name] = found
    own = _window(text(info, "rateLimitType") or "", info)
    if own is not None:
        windows.setdefault(own.name, own)
    status = text(info, "status") or ""
    is_refused = status == "rejected" and info.get("isUsingOverage") is not True
    if not windows and not is_refused:
        return []
    until_ms = seconds_ms(info, "resetsAt") if is_refused else None
    return [Limits(tuple(windows.values()), is_refused if status else None, until_ms, at_ms)]


def _window(key: str, fields: Fields) -> LimitWindow | None:
    """Return a window by its name: `five_hour`, `seven_day`, `seven_day_opus`; None for another one."""
    length = next((each for each in _LENGTHS if key == each or key.startswith(f"{each}_")), None)
    if length is None:
        return None
    model = key[len(length) : _MOST_NAME].replace("_", " ")
    used, resets_ms = percent(fields.get("utilization"), 1), seconds_ms(fields, "resetsAt")
    return (
        None if used is None and resets_ms is None else LimitWindow(_LENGTHS[length] + model, used, resets_ms)
    )
