"""Cursor's tools. The fields come from real captures or, where none contains the tool, from the
documentation of the CLI's output format."""

from collections.abc import Iterator
from typing import NamedTuple

from agentwatch.agents.fields import NO_FIELDS, Fields, items, mapping, number, text
from agentwatch.agents.tool import (
    NO_FACTS,
    Facts,
    Phrase,
    Tool,
    command_in,
    counted,
    named,
    other_tool,
    path_in,
)
from agentwatch.session.events import Outcome, ToolKind
from agentwatch.text.amounts import plural

SUBAGENT_STEPS = "conversationSteps"
"""A subagent's steps. The detail shows each as an action, in words that are not in the line."""


def _paths(arguments: Fields) -> list[str]:
    return [path for path in items(arguments.get("paths")) if isinstance(path, str) and path]


def _mcp_target(arguments: Fields) -> str | None:
    server = text(arguments, "providerIdentifier") or text(arguments, "serverIdentifier")
    names = [server, text(arguments, "toolName")]
    return " ".join(name for name in names if name) or text(arguments, "name")


def _read_facts(success: Fields) -> Facts:
    total = number(success, "totalLines")
    shown = mapping(success.get("readRange"))
    first, last = number(shown, "startLine"), number(shown, "endLine")
    if total is None:
        return NO_FACTS
    if first is None or last is None or (first <= 1 and last >= total - 1):
        return _new(Facts, (plural(total, "line"), None, False, None, None))
    return Facts(note=f"lines {first:,}-{last:,} of {total:,}")


def _edit_facts(success: Fields) -> Facts:
    added, removed = number(success, "linesAdded"), number(success, "linesRemoved")
    if not _is_new(success, removed):
        return Facts(lines_added=added, lines_removed=removed)
    note = None if added is None else plural(added, "line")
    return Facts(note=note, phrase=Phrase.CREATED, is_new_file=True, lines_added=added, lines_removed=removed)


def _is_new(success: Fields, removed: int | None) -> bool:
    """The result of an edit that created its file lacks `beforeFullFileContent`, and its diff begins at
    `/dev/null`. Some versions count the empty text before as a removed line. Both were seen in captures."""
    before = success.get("beforeFullFileContent")
    if (text(success, "diffString") or "").startswith("--- /dev/null"):
        return not before
    return before is None and "afterFullFileContent" in success and (removed or 0) <= 1


def _write_facts(success: Fields) -> Facts:
    return counted("linesCreated", "line")(success)._replace(is_new_file=True)


def _grep_facts(success: Fields) -> Facts:
    found = None
    for workspace in mapping(success.get("workspaceResults")).values():
        for result in mapping(workspace).values():
            matched = number(mapping(result), "totalMatchedLines")
            found = matched if found is None else found + (matched or 0)
    return NO_FACTS if found is None else Facts(note=plural(found, "match"))


def _list_facts(success: Fields) -> Facts:
    return counted("numFiles", "file")(mapping(success.get("directoryTreeRoot")))


def _search_facts(success: Fields) -> Facts:
    references = success.get("references")
    return Facts(note=plural(len(references), "result")) if isinstance(references, list) else NO_FACTS


def _todo_facts(success: Fields) -> Facts:
    todos = items(success.get("todos"))
    done = sum(mapping(todo).get("status") == "TODO_STATUS_COMPLETED" for todo in todos)
    return Facts(note=f"{done} of {len(todos)} done") if todos else NO_FACTS


TOOLS = {
    "read": Tool(ToolKind.READ, Phrase.READ, paths=path_in("path"), facts=_read_facts),
    "edit": Tool(ToolKind.EDIT, Phrase.EDITED, paths=path_in("path"), facts=_edit_facts),
    "write": Tool(ToolKind.EDIT, Phrase.CREATED, paths=path_in("path"), facts=_write_facts),
    "delete": Tool(ToolKind.DELETE, Phrase.DELETED, paths=path_in("path")),
    "shell": Tool(ToolKind.EXECUTE, Phrase.RAN, command_in("command")),
    "grep": Tool(ToolKind.SEARCH, Phrase.SEARCHED, named("pattern"), facts=_grep_facts),
    "glob": Tool(
        ToolKind.SEARCH,
        Phrase.FOUND,
        named("globPattern", "pattern"),
        facts=counted("totalFiles", "file"),
    ),
    "ls": Tool(ToolKind.SEARCH, Phrase.LISTED, paths=path_in("path"), facts=_list_facts),
    "semSearch": Tool(ToolKind.SEARCH, "Searched codebase", named("query")),
    "readLints": Tool(
        ToolKind.OTHER, "Read lints", paths=_paths, facts=counted("totalDiagnostics", "diagnostic")
    ),
    "updateTodos": Tool(ToolKind.PLAN, Phrase.TODOS, facts=_todo_facts),
    "mcp": Tool(ToolKind.MCP, Phrase.CALLED_MCP, _mcp_target),
    "task": Tool(ToolKind.DELEGATE, Phrase.RAN_SUBAGENT, named("description")),
    "webSearch": Tool(ToolKind.SEARCH, Phrase.SEARCHED_WEB, named("searchTerm"), facts=_search_facts),
    "webFetch": Tool(ToolKind.FETCH, Phrase.FETCHED, named("url")),
}
"""The tools by their key in a line without `ToolCall`. The phrases are those of Cursor's documentation."""

NAMED_IN_THE_WILD = frozenset(
    (
        *("askQuestion", "await", "createPlan", "switchMode", "generateImage", "computerUse"),
        *("writeShellStdin", "fetch", "getMcpTools", "listMcpResources", "readMcpResource"),
        *("applyPatch", "search", "list", "readTodos", "applyAgentDiff", "exaSearch", "exaFetch"),
        *("recordScreen", "reflect", "setupVmEnvironment", "truncated", "mcpAuth"),
    )
)
"""Named in captures or in the vendor's schema: not reported as unknown, and shown with one argument."""


# The outcome of a call, from its result.

_FAILURES = (
    *("failure", "error", "permissionDenied", "spawnError", "timeout", "fileNotFound", "invalidFile"),
    *("noSpace", "readPermissionDenied", "writePermissionDenied", "toolNotFound", "serverNotFound"),
)
"""`error` was seen in captures, the others are in the vendor's schema. `permissionDenied` is a limit of
the system; a call that a person or a rule refused is `rejected`."""
_UNDECIDED = ("partialResult", "approved")
"""Variants of the vendor's schema that do not say whether the call succeeded."""
_SIBLINGS = ("isBackground", "sandboxPolicy")
"""Keys beside the variant: `isBackground` in captures, `sandboxPolicy` in the vendor's schema."""
UNFAILED = frozenset(("success", *_UNDECIDED, *_SIBLINGS))
VARIANTS = UNFAILED | {"rejected", *_FAILURES}
_MAX_NAME = 100
_new = tuple.__new__
"""Makes a named tuple from all of its fields, in a third of the time that calling its class takes."""
_IN_BACKGROUND = "in the background"
REASONS = ("errorMessage", "error", "reason", "message", "stderr")


class Result(NamedTuple):
    outcome: Outcome
    body: Fields = NO_FIELDS
    error: str | None = None
    exit_code: int | None = None
    facts: Facts = NO_FACTS
    unknown_variant: str | None = None


def read_result(tool: Tool, result: object, *, is_free: bool = False) -> Result:
    """Read an object with the key of one variant, and possibly siblings. An exit code other than 0 and an
    MCP `isError` are failures, even in `success`. Without a known variant, or in the background, it
    `RETURNED`. If `is_free`, as for a documented `function`, any other value is the result itself."""
    variants: Fields = result if type(result) is dict else mapping(result)
    if len(variants) == 1 and "success" in variants:  # nearly always
        success = variants["success"]
        return _success(tool, success if type(success) is dict else mapping(success))
    if "rejected" in variants:
        body = mapping(variants["rejected"])
        return Result(Outcome.REJECTED, body, text(body, "reason"))
    for name in _FAILURES:
        if name in variants:
            return _failure(name, variants[name])
    if "success" in variants:
        is_background = variants.get("isBackground") is True
        return _success(tool, mapping(variants["success"]), is_background=is_background)
    for name in _UNDECIDED:
        if name in variants:
            return _undecided(name, mapping(variants[name]))
    if is_free and result:
        return Result(Outcome.RETURNED, variants)
    for name, value in variants.items():
        if isinstance(value, dict) and name not in _SIBLINGS:
            reason = f"unknown outcome {name[:_MAX_NAME]}"
            return Result(Outcome.RETURNED, value, reason, unknown_variant=name)
    return Result(Outcome.RETURNED, error="came back without a result")


def _success(tool: Tool, body: Fields, *, is_background: bool = False) -> Result:
    exit_code = number(body, "exitCode")
    if exit_code:
        return Result(Outcome.FAILED, body, f"exit {exit_code}", exit_code)
    if body.get("isError") is True:
        return Result(Outcome.FAILED, body, "\n".join(mcp_texts(body)) or "the tool says so")
    if is_background or body.get("isBackground") is True:
        return Result(Outcome.RETURNED, body, facts=Facts(note=_IN_BACKGROUND))
    return _new(Result, (Outcome.SUCCEEDED, body, None, exit_code, tool.facts(body), None))


def _undecided(name: str, body: Fields) -> Result:
    exit_code = number(body, "exitCode")
    if exit_code:
        return Result(Outcome.FAILED, body, f"exit {exit_code}", exit_code)
    return Result(Outcome.RETURNED, body, _in_words(name), exit_code)


def _failure(name: str, value: object) -> Result:
    body = mapping(value)
    exit_code = number(body, "exitCode")
    if exit_code:
        error = f"exit {exit_code}"
    elif text(body, "signal"):
        error = f"signal {text(body, 'signal')}"
    elif body.get("aborted") is True:
        error = "aborted"
    else:
        reasons = (found for key in REASONS if (found := text(body, key)))
        error = next(reasons, value if isinstance(value, str) and value else _in_words(name))
    return Result(Outcome.FAILED, body, error, exit_code)


def _in_words(name: str) -> str:
    return "".join(f" {char.lower()}" if char.isupper() else char for char in name)


def mcp_texts(body: Fields) -> Iterator[str]:
    for piece in items(body.get("content")):
        inner = mapping(piece)
        found = text(mapping(inner.get("text")), "text") or text(inner, "text")
        if found:
            yield found


# The tool of a call among the fields of its line, and the arguments of the call.

FUNCTION = "function"
"""The documented key of a tool without a key of its own. The object under it has the tool's name."""
_TOOL_KEY = "ToolCall"
_BY_KEY = {f"{name}{_TOOL_KEY}": (name, tool) for name, tool in TOOLS.items()}
_NO_NAME = "unknown"


class ToolUse(NamedTuple):
    name: str
    tool: Tool
    body: Fields
    key: str = ""

    @property
    def is_function(self) -> bool:
        """Whether the call has the documented form for a tool without a key of its own."""
        return self.key == FUNCTION

    @property
    def is_known(self) -> bool:
        """Whether this version knows the tool. A function is known by its name: the form is documented."""
        if self.name in TOOLS or self.name in NAMED_IN_THE_WILD:
            return True
        return self.is_function and self.name != _NO_NAME


def read_tool(value: object) -> ToolUse:
    """In `{"readToolCall": {...}, "toolCallId": "1"}` the name is `read`. Hand-written lines have been
    seen with `{"grep": {...}}`, and with `{"tool": {"case": "grepToolCall", "value": {...}}}`."""
    call: Fields = value if type(value) is dict else mapping(value)
    for key, body in call.items():
        if key in _BY_KEY:
            name, tool = _BY_KEY[key]
            return _new(ToolUse, (name, tool, body if type(body) is dict else mapping(body), key))
        if key.endswith(_TOOL_KEY) and len(key) > len(_TOOL_KEY):
            name = key.removesuffix(_TOOL_KEY)
            return ToolUse(name, other_tool(name), mapping(body), key)
    if FUNCTION in call:
        body = mapping(call[FUNCTION])
        return _named(text(body, "name") or _NO_NAME, body, FUNCTION)
    return _without_suffix(call)


def read_arguments(body: Fields) -> Fields:
    """Return the object under `args`, or else under `arguments`."""
    given = body.get("args")
    if type(given) is dict and given:
        return given
    return mapping(given) or mapping(body.get("arguments"))


def _without_suffix(call: Fields) -> ToolUse:
    keys = [key for key, value in call.items() if isinstance(value, dict)]
    key = next((key for key in keys if key in TOOLS or key in NAMED_IN_THE_WILD), keys[0] if keys else "")
    body = mapping(call.get(key))
    case = text(body, "case") if key == "tool" else None
    if case is not None:
        return _named(case.removesuffix(_TOOL_KEY) or _NO_NAME, mapping(body.get("value")), key)
    return _named(key, body, key) if key else _named(_NO_NAME, NO_FIELDS, "")


def _named(name: str, body: Fields, key: str) -> ToolUse:
    return ToolUse(name, TOOLS.get(name) or other_tool(name), body, key)
