"""Cursor's tools: what the text format calls each, what it is about, what its success tells.

Adding a tool is one entry in `TOOLS`. The fields are those of real captures and, where none was
found, of the documentation page of the Cursor CLI's output format.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from agentwatch.plurals import plural
from agentwatch.wire.fields import Fields, items, mapping, number, text


class Facts(NamedTuple):
    """What a successful result tells besides its content."""

    note: str | None = None
    phrase: str | None = None
    """What the action turned out to be, where the tool alone does not say."""
    lines_added: int | None = None
    lines_removed: int | None = None


NO_FACTS = Facts()


class Tool(NamedTuple):
    """How the calls of one tool are told."""

    phrase: str
    target: Callable[[Fields], str | None] = lambda _arguments: None
    """From the arguments, what the call is about; not asked where there are `paths`."""
    paths: Callable[[Fields], list[str]] = lambda _arguments: []
    """From the arguments, the files that the call is about."""
    facts: Callable[[Fields], Facts] = lambda _success: NO_FACTS
    """From a success, what it tells besides its content."""


def _named(*keys: str) -> Callable[[Fields], str | None]:
    def first_present(arguments: Fields) -> str | None:
        return next((found for key in keys if (found := text(arguments, key))), None)

    return first_present


def _counted(key: str, noun: str) -> Callable[[Fields], Facts]:
    def count(success: Fields) -> Facts:
        found = number(success, key)
        return NO_FACTS if found is None else Facts(plural(found, noun))

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
    names = [text(arguments, "providerIdentifier"), text(arguments, "toolName")]
    return " ".join(name for name in names if name) or text(arguments, "name")


def _read_facts(success: Fields) -> Facts:
    total = number(success, "totalLines")
    shown = mapping(success.get("readRange"))
    first, last = number(shown, "startLine"), number(shown, "endLine")
    if total is None:
        return NO_FACTS
    if first is None or last is None or (first <= 1 and last >= total - 1):
        return Facts(plural(total, "line"))
    return Facts(f"lines {first}-{last} of {total}")


def _edit_facts(success: Fields) -> Facts:
    added, removed = number(success, "linesAdded"), number(success, "linesRemoved")
    diff = text(success, "diffString") or ""
    is_new = "beforeFullFileContent" not in success and not removed
    if is_new and (diff.startswith("--- /dev/null") or "afterFullFileContent" in success):
        note = None if added is None else plural(added, "line")
        return Facts(note, "Created new file", added, removed)
    return Facts(None, None, added, removed)


def _grep_facts(success: Fields) -> Facts:
    found = None
    for workspace in mapping(success.get("workspaceResults")).values():
        for result in mapping(workspace).values():
            matched = number(mapping(result), "totalMatchedLines")
            found = matched if found is None else found + (matched or 0)
    return NO_FACTS if found is None else Facts(plural(found, "match"))


def _list_facts(success: Fields) -> Facts:
    return _counted("numFiles", "file")(mapping(success.get("directoryTreeRoot")))


def _search_facts(success: Fields) -> Facts:
    references = success.get("references")
    return Facts(plural(len(references), "result")) if isinstance(references, list) else NO_FACTS


def _todo_facts(success: Fields) -> Facts:
    todos = items(success.get("todos"))
    done = sum(mapping(todo).get("status") == "TODO_STATUS_COMPLETED" for todo in todos)
    return Facts(f"{done} of {len(todos)} done") if todos else NO_FACTS


TOOLS = {
    "read": Tool("Read file", paths=_path, facts=_read_facts),
    "edit": Tool("Edited file", paths=_path, facts=_edit_facts),
    "write": Tool("Created new file", paths=_path, facts=_counted("linesCreated", "line")),
    "delete": Tool("Deleted file", paths=_path),
    "shell": Tool("Ran terminal command", _command),
    "grep": Tool("Searched files", _named("pattern"), facts=_grep_facts),
    "glob": Tool("Found files", _named("globPattern", "pattern"), facts=_counted("totalFiles", "file")),
    "ls": Tool("Listed directory", paths=_path, facts=_list_facts),
    "semSearch": Tool("Searched codebase", _named("query")),
    "readLints": Tool("Read lints", paths=_paths),
    "updateTodos": Tool("Updated to-do list", facts=_todo_facts),
    "mcp": Tool("Called MCP tool", _mcp_target),
    "task": Tool("Ran subagent", _named("description")),
    "webSearch": Tool("Searched the web", _named("searchTerm"), facts=_search_facts),
    "webFetch": Tool("Fetched web page", _named("url")),
}

NAMED_IN_THE_WILD = frozenset(
    (
        *("askQuestion", "await", "createPlan", "switchMode", "generateImage", "computerUse"),
        *("writeShellStdin", "fetch", "getMcpTools", "listMcpResources", "readMcpResource"),
        *("applyPatch", "search", "list"),
    )
)
"""Tools that are known to exist and of which nothing more is told than their name and argument."""

_most_telling = _named(
    *("path", "command", "url", "query", "pattern", "searchTerm", "description", "title", "prompt"),
    *("name", "server", "taskId", "text"),
)


def other_tool(name: str) -> Tool:
    """Return how a tool without an entry is told: by its name, and by its most telling argument."""

    def target(arguments: Fields) -> str:
        strings = (value for value in arguments.values() if isinstance(value, str) and value)
        telling = _most_telling(arguments) or next(strings, None)
        return f"{name} {telling}" if telling else name

    return Tool("Used tool", target)
