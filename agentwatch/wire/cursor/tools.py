"""Cursor's tools: the kind, phrase and target of each, and the facts in its results.

Adding a tool is one entry in `TOOLS`. The fields come from real captures or, where no capture contains the
tool, from the documentation of the Cursor CLI's output format.
"""

from __future__ import annotations

from agentwatch.events import ToolKind
from agentwatch.text.amounts import plural
from agentwatch.wire.fields import Fields, items, mapping, number, text
from agentwatch.wire.tool import NO_FACTS, Facts, Phrase, Tool, command_in, counted, named, path_in

SUBAGENT_STEPS = "conversationSteps"
"""The field of a subagent's steps. The detail shows each step as an action, in words that are not in the
line."""


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
    return Facts(note=note, phrase=Phrase.CREATED, is_new_file=True, lines_added=added, lines_removed=removed)


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
"""Other tools, named in captures or in the vendor's schema. They are not reported as unknown. Their calls
show the tool's name and one argument."""
