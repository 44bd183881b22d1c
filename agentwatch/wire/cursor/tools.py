"""Cursor's tools: the kind, phrase and target of each, and the facts in its results.

Adding a tool is one entry in `TOOLS`. The fields come from real captures or, where no capture contains the
tool, from the documentation of the Cursor CLI's output format.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from agentwatch.events import ToolKind
from agentwatch.plurals import plural
from agentwatch.wire.fields import Fields, items, mapping, number, text


class Facts(NamedTuple):
    """The facts in a successful result, apart from its content."""

    note: str | None = None
    phrase: str | None = None
    """The phrase that replaces the tool's own, because an edit may have created its file."""
    is_new_file: bool = False
    lines_added: int | None = None
    lines_removed: int | None = None


NO_FACTS = Facts()
SUBAGENT_STEPS = "conversationSteps"
"""The field of a subagent's steps. The detail shows each step as an action, in words that are not in the
line."""
_CREATED = "Created new file"


class Tool(NamedTuple):
    """A tool: how its calls are read and described."""

    kind: ToolKind
    phrase: str
    """The action in the text format: `Read file`."""
    target: Callable[[Fields], str | None] = lambda _arguments: None
    """Returns the target of a call, from its arguments. It is only called if `paths` returns none."""
    paths: Callable[[Fields], list[str]] = lambda _arguments: []
    """Returns the files that a call acts on, from its arguments."""
    facts: Callable[[Fields], Facts] = lambda _success: NO_FACTS
    """Returns the facts in a successful result."""


def _named(*keys: str) -> Callable[[Fields], str | None]:
    def first_present(arguments: Fields) -> str | None:
        return next((found for key in keys if (found := text(arguments, key))), None)

    return first_present


def _counted(key: str, noun: str) -> Callable[[Fields], Facts]:
    def count(success: Fields) -> Facts:
        found = number(success, key)
        return NO_FACTS if found is None else Facts(note=plural(found, noun))

    return count


def _command(arguments: Fields) -> str | None:
    command = text(arguments, "command")
    return command and command.strip().partition("\n")[0]


def _path(arguments: Fields) -> list[str]:
    path = text(arguments, "path")
    return [] if path is None else [path]


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
        return Facts(note=plural(total, "line"))
    return Facts(note=f"lines {first}-{last} of {total}")


def _edit_facts(success: Fields) -> Facts:
    added, removed = number(success, "linesAdded"), number(success, "linesRemoved")
    if not _is_new(success, removed):
        return Facts(lines_added=added, lines_removed=removed)
    note = None if added is None else plural(added, "line")
    return Facts(note=note, phrase=_CREATED, is_new_file=True, lines_added=added, lines_removed=removed)


def _is_new(success: Fields, removed: int | None) -> bool:
    """Return whether an edit created its file: the file had no content before.

    The result of such an edit lacks `beforeFullFileContent`, and its diff begins at `/dev/null`. It may have
    one removed line: some versions count the empty text before as a line. Both were seen in captures.
    """
    before = success.get("beforeFullFileContent")
    if (text(success, "diffString") or "").startswith("--- /dev/null"):
        return not before
    return before is None and "afterFullFileContent" in success and (removed or 0) <= 1


def _write_facts(success: Fields) -> Facts:
    return _counted("linesCreated", "line")(success)._replace(is_new_file=True)


def _grep_facts(success: Fields) -> Facts:
    found = None
    for workspace in mapping(success.get("workspaceResults")).values():
        for result in mapping(workspace).values():
            matched = number(mapping(result), "totalMatchedLines")
            found = matched if found is None else found + (matched or 0)
    return NO_FACTS if found is None else Facts(note=plural(found, "match"))


def _list_facts(success: Fields) -> Facts:
    return _counted("numFiles", "file")(mapping(success.get("directoryTreeRoot")))


def _search_facts(success: Fields) -> Facts:
    references = success.get("references")
    return Facts(note=plural(len(references), "result")) if isinstance(references, list) else NO_FACTS


def _todo_facts(success: Fields) -> Facts:
    todos = items(success.get("todos"))
    done = sum(mapping(todo).get("status") == "TODO_STATUS_COMPLETED" for todo in todos)
    return Facts(note=f"{done} of {len(todos)} done") if todos else NO_FACTS


TOOLS = {
    "read": Tool(ToolKind.READ, "Read file", paths=_path, facts=_read_facts),
    "edit": Tool(ToolKind.EDIT, "Edited file", paths=_path, facts=_edit_facts),
    "write": Tool(ToolKind.EDIT, _CREATED, paths=_path, facts=_write_facts),
    "delete": Tool(ToolKind.DELETE, "Deleted file", paths=_path),
    "shell": Tool(ToolKind.EXECUTE, "Ran terminal command", _command),
    "grep": Tool(ToolKind.SEARCH, "Searched files", _named("pattern"), facts=_grep_facts),
    "glob": Tool(
        ToolKind.SEARCH,
        "Found files",
        _named("globPattern", "pattern"),
        facts=_counted("totalFiles", "file"),
    ),
    "ls": Tool(ToolKind.SEARCH, "Listed directory", paths=_path, facts=_list_facts),
    "semSearch": Tool(ToolKind.SEARCH, "Searched codebase", _named("query")),
    "readLints": Tool(
        ToolKind.OTHER, "Read lints", paths=_paths, facts=_counted("totalDiagnostics", "diagnostic")
    ),
    "updateTodos": Tool(ToolKind.PLAN, "Updated to-do list", facts=_todo_facts),
    "mcp": Tool(ToolKind.MCP, "Called MCP tool", _mcp_target),
    "task": Tool(ToolKind.DELEGATE, "Ran subagent", _named("description")),
    "webSearch": Tool(ToolKind.SEARCH, "Searched the web", _named("searchTerm"), facts=_search_facts),
    "webFetch": Tool(ToolKind.FETCH, "Fetched web page", _named("url")),
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
"""Other tools, named in captures or in the vendor's schema. They are not reported as unknown. Their calls
show the tool's name and one argument."""
IDS = frozenset({"toolCallId", "conversationId", "requestId"})
"""Arguments that say nothing about the call."""

_main_argument = _named(
    *("path", "command", "url", "query", "pattern", "searchTerm", "description", "title", "prompt"),
    *("name", "server", "taskId", "text"),
)


def other_tool(name: str) -> Tool:
    """Return a description of a tool that has no entry in `TOOLS`.

    The target of its calls is the tool's name and the most informative argument: `createPlan Migration`.
    """

    def target(arguments: Fields) -> str:
        strings = (
            value for key, value in arguments.items() if isinstance(value, str) and value and key not in IDS
        )
        argument = _main_argument(arguments) or next(strings, None)
        return f"{name} {argument}" if argument else name

    return Tool(ToolKind.OTHER, "Used tool", target)
