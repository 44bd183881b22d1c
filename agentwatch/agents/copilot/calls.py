"""The tools of Copilot, the calls of them, and their results."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from agentwatch.agents.blocks import EMPTY, binary_block, short_and_long
from agentwatch.agents.changes import argument_blocks, changed_lines, line_count, patched_files, summed
from agentwatch.agents.fields import Fields, integer, items, mapping, number, text
from agentwatch.agents.tool import (
    NO_FACTS,
    Facts,
    OpenCalls,
    Phrase,
    Result,
    Tool,
    command_in,
    named,
    other_tool,
    path_in,
)
from agentwatch.session.blocks import (
    BinaryBlock,
    Block,
    ChangeBlock,
    ContentBlock,
    ErrorBlock,
    FieldsBlock,
    MarkdownBlock,
    OutputBlock,
)
from agentwatch.session.events import (
    Event,
    Outcome,
    Permission,
    Plan,
    PlanEntry,
    PlanStatus,
    ToolEnded,
    ToolKind,
    ToolProgress,
    ToolStarted,
)
from agentwatch.text.amounts import plural

# The outcome of a call, from the line that ends it.

_REFUSED_CODES = frozenset({"denied", "rejected"})
_INTERRUPTED_CODES = frozenset({"cancelled", "canceled", "aborted", "interrupted"})
_IN_BACKGROUND = (
    *("<command started in background with ", "<command started in detached background with "),
    *("<command with ", "Agent started in background with "),
)
_STILL_RUNS = " is still running after "
_EXIT = " with exit code "
"""Copilot's own last line of a result: `<shellId: 0 completed with exit code 3>`; before 1.0.60,
`<exited with exit code 3>`."""
_EXIT_BLOCKS = ("shell_exit", "terminal")


def read_result(tool: Tool, data: Fields, answer: str | None, *, is_whole: bool = True) -> Result:
    """Read the result of a call. `success` is true for a command that exited with another code than 0, or
    continues in the background. Unless `is_whole`, the exit code may be missing."""
    result = mapping(data.get("result"))
    content = text(result, "content") or text(data, "result") or ""
    error = mapping(data.get("error"))
    message, reason = text(error, "message") or text(data, "error"), text(error, "code")
    code = _exit_code(tool, data, result, content)
    if (answer or "").startswith("denied") or reason in _REFUSED_CODES:
        return Result(Outcome.REJECTED, message or answer, code)
    if answer == "cancelled" or reason in _INTERRUPTED_CODES:
        return Result(Outcome.CANCELLED, message or answer, code)
    if code:
        return Result(Outcome.FAILED, f"exit {code}", code)
    success = data.get("success")
    if success is False:
        return Result(Outcome.FAILED, message or content or "the tool failed", code)
    if _is_in_background(tool, content):
        return Result(Outcome.RETURNED, facts=Facts(note="in the background"))
    if success is True and code is None and tool.kind is ToolKind.EXECUTE and not is_whole:
        return Result(Outcome.RETURNED, "its line is too large to be read")
    if success is not True:
        return Result(Outcome.RETURNED, "came back without an outcome", code)
    return Result(Outcome.SUCCEEDED, None, code, _facts(tool, data, result, content))


def _exit_code(tool: Tool, data: Fields, result: Fields, content: str) -> int | None:
    code = number(mapping(data.get("shellExecution")), "exitCode")
    blocks = (mapping(block) for block in items(result.get("contents")))
    codes = (number(block, "exitCode") for block in blocks if block.get("type") in _EXIT_BLOCKS)
    code = next((each for each in codes if each is not None), None) if code is None else code
    if code is not None or tool.kind is not ToolKind.EXECUTE:
        return code
    last = content.rstrip().rpartition("\n")[2]
    if not (last.startswith("<") and last.endswith(">")):
        return None
    return integer(last[:-1].rpartition(_EXIT)[2])


def _is_in_background(tool: Tool, content: str) -> bool:
    if tool.kind not in (ToolKind.EXECUTE, ToolKind.DELEGATE):
        return False
    last = content.rstrip().rpartition("\n")[2]
    is_shell = last.startswith("<command with ")
    return last.startswith(_IN_BACKGROUND) and (not is_shell or _STILL_RUNS in last)


def is_diff(text: str) -> bool:
    """Return whether the detailed content of a result is a unified diff. That of a file's view is one too."""
    return "\n@@ -" in text


def _facts(tool: Tool, data: Fields, result: Fields, content: str) -> Facts:
    detailed = text(result, "detailedContent") or ""
    if tool.kind is ToolKind.READ and is_diff(detailed):
        return Facts(note=plural(line_count(content), "line"))
    if tool.kind is not ToolKind.EDIT:
        return NO_FACTS
    added, removed = changed_lines(detailed) if is_diff(detailed) else (None, None)
    edits = [mapping(edit) for edit in items(data.get("fileEdits"))]
    is_new = bool(edits) and all(edit.get("kind") == "create" for edit in edits)
    return Facts(
        phrase=Phrase.CREATED if is_new else None,
        is_new_file=is_new,
        lines_added=added,
        lines_removed=removed,
    )


# The tools: the kind, phrase and target of each, and the arguments of a call.
# The arguments come from the captures, and from lines of other versions that others have published.

SHELLS = frozenset({"bash", "shell", "powershell", "local_shell"})
ASK_USER = "ask_user"
PATCH = "patch"
"""The name under which arguments that are one text are kept: `apply_patch` has a patch."""
_MOST_ENTRIES = 1000


_SHELL = Tool(ToolKind.EXECUTE, Phrase.RAN, command_in("command"))
_VIEW = Tool(ToolKind.READ, Phrase.READ, paths=path_in("path", "file_path", "filePath"))
_EDIT = Tool(ToolKind.EDIT, Phrase.EDITED, paths=path_in("path", "file_path", "filePath"))
_CREATE = Tool(ToolKind.EDIT, Phrase.CREATED, paths=path_in("path", "file_path", "filePath"))
_GREP = Tool(ToolKind.SEARCH, Phrase.SEARCHED, named("pattern", "query"))

TOOLS = {
    **dict.fromkeys(SHELLS, _SHELL),
    "view": _VIEW,
    "edit": _EDIT,
    "create": _CREATE,
    "str_replace_editor": _EDIT,
    "grep": _GREP,
    "rg": _GREP,
    "glob": Tool(ToolKind.SEARCH, Phrase.FOUND, named("pattern")),
    "web_fetch": Tool(ToolKind.FETCH, Phrase.FETCHED, named("url")),
    "web_search": Tool(ToolKind.SEARCH, Phrase.SEARCHED_WEB, named("query")),
    "task": Tool(ToolKind.DELEGATE, Phrase.RAN_SUBAGENT, named("description", "name", "agent_type")),
    # Tools of Copilot in VS Code, whose transcripts have the same lines.
    "run_in_terminal": _SHELL,
    "read_file": _VIEW,
    "create_file": _CREATE,
    "replace_string_in_file": _EDIT,
    "insert_edit_into_file": _EDIT,
    "grep_search": _GREP,
    "file_search": Tool(ToolKind.SEARCH, Phrase.FOUND, named("query")),
    "list_dir": Tool(ToolKind.SEARCH, Phrase.LISTED, paths=path_in("path")),
    "update_todo": Tool(ToolKind.PLAN, Phrase.TODOS),
}
_OF_EDITOR = {"view": _VIEW, "create": _CREATE}
"""What `str_replace_editor` does, by its argument `command`."""
_BOXES = {
    "- [ ] ": PlanStatus.PENDING,
    "- [x] ": PlanStatus.COMPLETED,
    "- [X] ": PlanStatus.COMPLETED,
    "- [~] ": PlanStatus.IN_PROGRESS,
    "- [>] ": PlanStatus.IN_PROGRESS,
}


def read_arguments(value: object) -> Fields:
    """Return the arguments of a call. They may be an object, an object as a string, or any other text."""
    found = mapping(value)
    return {PATCH: value} if not found and isinstance(value, str) and value else found


def tool_of(name: str, arguments: Fields, server: str | None, server_tool: str | None) -> Tool:
    if server is not None:
        return Tool(ToolKind.MCP, Phrase.CALLED_MCP, lambda _arguments: f"{server} {server_tool or name}")
    if name == "str_replace_editor":
        return _OF_EDITOR.get(text(arguments, "command") or "", _EDIT)
    return _patching(arguments) if name == "apply_patch" else TOOLS.get(name) or other_tool(name)


def _patching(arguments: Fields) -> Tool:
    changes = summed(patched_files(text(arguments, PATCH) or text(arguments, "input") or ""))
    return Tool(changes.kind, changes.phrase, paths=lambda _arguments: list(changes.paths))


def plan_entries(arguments: Fields) -> tuple[PlanEntry, ...]:
    """Return the entries of a to-do list in Markdown: `- [x] Read the notes`."""
    entries = []
    for line in (text(arguments, "todos") or "").split("\n", _MOST_ENTRIES)[:_MOST_ENTRIES]:
        stripped = line.strip()
        status = _BOXES.get(stripped[:6])
        if status is not None:
            entries.append(PlanEntry(stripped[6:], status))
    return tuple(entries)


_COMPARED = 256
"""The number of characters that are compared. Two outputs that begin alike are one output that grows."""
_MOST_KEPT = 10_000
"""The most characters of the arguments of an announced call that has not started, except a command's."""


class _Known(NamedTuple):
    tool: Tool
    started: ToolStarted


class Calls:
    def __init__(self) -> None:
        self.cwd = ""
        self._known = OpenCalls[_Known]()
        self._answers = OpenCalls[str]()
        """The answers to the questions whether a call may run."""
        self._outputs = OpenCalls[tuple[int, str]]()
        """The length and the beginning of the last output of a call."""
        self._shells = OpenCalls[None]()
        """The commands whose output has lines of its own, `tool.shell_output`."""

    def name_of(self, call_id: str | None) -> str | None:
        known = self._known.get(call_id or "")
        return None if known is None else known.started.tool

    def requested(self, request: Fields) -> None:
        """Keep a call that a message announces. Older versions write no line when it starts."""
        call_id, arguments = text(request, "toolCallId"), read_arguments(request.get("arguments"))
        size = sum(len(value) for value in arguments.values() if isinstance(value, str))
        name = text(request, "name") or "tool"
        tool = _tool_in(request, name, arguments)
        is_kept = size <= _MOST_KEPT or tool.kind is ToolKind.EXECUTE
        if call_id is not None and call_id not in self._known and is_kept:
            started = tool.started(call_id, name, arguments, cwd=self.cwd)
            self._known.keep(call_id, _Known(tool, started), name)

    def started(
        self, data: Fields, *, parent_call: str | None, group: str | None, at_ms: int | None
    ) -> list[Event]:
        call_id, arguments = text(data, "toolCallId") or "", read_arguments(data.get("arguments"))
        name = text(data, "toolName") or "tool"
        tool = _tool_in(data, name, arguments)
        started = tool.started(
            call_id, name, arguments, cwd=self.cwd, group=group, at_ms=at_ms, parent_call=parent_call
        )
        self._known.keep(call_id, _Known(tool, started), name)
        if name != ASK_USER:
            return [started]
        question = text(arguments, "question") or text(arguments, "message")
        return [
            started,
            Permission(ASK_USER, None, at_ms=at_ms, key=call_id, call_id=call_id, target=question),
        ]

    def progress(self, data: Fields) -> ToolProgress:
        """All of the output, or what is new. In captures, the same output came twice in a row."""
        call_id, output = text(data, "toolCallId") or "", text(data, "partialOutput") or ""
        if call_id in self._shells:
            return ToolProgress(call_id, None)
        length, start = self._outputs.get(call_id, (0, ""))
        is_whole = length > 0 and len(output) >= length and output.startswith(start)
        self._outputs.keep(call_id, (len(output), output[:_COMPARED]))
        return ToolProgress(call_id, None, output or None, is_whole=is_whole)

    def shell_output(self, data: Fields) -> ToolProgress:
        """Read what a command has printed since the last such line. Partial results then repeat it."""
        call_id = text(data, "toolCallId") or ""
        self._shells.keep(call_id, None)
        return ToolProgress(call_id, None, text(data, "text"))

    def answered(self, call_id: str | None, kind: str | None) -> None:
        if call_id is not None and kind is not None:
            self._answers.keep(call_id, kind, kind)

    def ended(self, data: Fields, *, parent_call: str | None, at_ms: int | None, is_whole: bool) -> ToolEnded:
        call_id = text(data, "toolCallId") or ""
        known = self._known.pop(call_id, None)
        self._outputs.pop(call_id, None)
        self._shells.pop(call_id, None)
        name = known.started.tool if known is not None else text(data, "toolName") or ""
        tool = known.tool if known is not None else _tool_in(data, name, {})
        result = read_result(tool, data, self._answers.pop(call_id, None), is_whole=is_whole)
        ended = tool.ended(call_id, name, result, at_ms=at_ms, parent_call=parent_call)
        if known is None:
            return ended
        return ended._replace(target=known.started.target, path=known.started.path)

    def plan(self, data: Fields) -> list[Event]:
        arguments = read_arguments(data.get("arguments"))
        entries = plan_entries(arguments) if text(data, "toolName") == "update_todo" else ()
        return [Plan(entries)] if entries else []


def _tool_in(data: Fields, name: str, arguments: Fields) -> Tool:
    return tool_of(name, arguments, text(data, "mcpServerName"), text(data, "mcpToolName"))


# The arguments and the result of a call, divided into blocks.

_CONTENTS = ("file_text", "content")
_SHOWN = frozenset({"content", "detailedContent", "contents", "binaryResultsForLlm"})
_DATA = ("data", "blob")


def blocks(fields: Fields, _call_id: str = "") -> Iterator[Block]:
    data = mapping(fields.get("data"))
    if fields.get("type") == "tool.execution_complete":
        yield from _result_blocks(data)
    else:
        yield from _argument_blocks(data)


def _argument_blocks(data: Fields) -> Iterator[Block]:
    arguments = read_arguments(data.get("arguments"))
    kind = tool_of(text(data, "toolName") or "", arguments, text(data, "mcpServerName"), None).kind
    if kind is not ToolKind.EDIT:
        yield from argument_blocks(kind, arguments, plan_entries(arguments))
        return
    yield from short_and_long(arguments, _CONTENTS)


def _result_blocks(data: Fields) -> Iterator[Block]:
    """The line does not repeat the tool's name. Only a command has an exit code."""
    result = mapping(data.get("result"))
    content = text(result, "content") or text(data, "result") or ""
    detailed = text(result, "detailedContent") or ""
    error = mapping(data.get("error"))
    if message := text(error, "message") or text(data, "error"):
        yield ErrorBlock(message)
    if is_diff(detailed) and any(changed_lines(detailed)):
        yield ChangeBlock(detailed.lstrip("\n"))
    elif "shellExecution" in data or content.rstrip().endswith(">"):
        yield from [OutputBlock("stdout", content)] if content else []
    elif content and not is_diff(detailed) and "\n#" in f"\n{detailed}":
        yield MarkdownBlock(detailed)
    elif content:
        yield ContentBlock(content)
    for part in (*items(result.get("contents")), *items(result.get("binaryResultsForLlm"))):
        yield from _binary_blocks(mapping(part))
    rest = {key: value for key, value in result.items() if key not in _SHOWN and value not in EMPTY}
    if edits := data.get("fileEdits"):
        rest["fileEdits"] = edits
    if rest:
        yield FieldsBlock("result", rest)


def _binary_blocks(part: Fields) -> Iterator[Block]:
    inner = mapping(part.get("resource")) or part
    encoded = next((found for key in _DATA if (found := text(inner, key))), None)
    media_type = text(inner, "mimeType")
    if encoded is not None:
        yield binary_block(media_type, encoded)
    elif media_type is not None and "byteLength" in part:
        yield BinaryBlock(media_type, number(part, "byteLength"))
