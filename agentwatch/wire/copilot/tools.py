"""Copilot's tools: the kind, phrase and target of each, and the arguments of a call.

The arguments come from the captures, and from lines of other versions that others have published.
"""

from __future__ import annotations

from agentwatch.events import PlanEntry, PlanStatus, ToolKind
from agentwatch.wire.changes.apply_patch import patched_files
from agentwatch.wire.changes.file_change import summed
from agentwatch.wire.fields import Fields, mapping, text
from agentwatch.wire.tool import Phrase, Tool, command_in, named, other_tool, path_in

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
    """Return the tool of a call.

    Args:
        name: The tool's name.
        arguments: The arguments of the call.
        server: The MCP server that has the tool; None for a tool of Copilot's own.
        server_tool: The tool's name on that server.
    """
    if server is not None:
        return Tool(ToolKind.MCP, Phrase.CALLED_MCP, lambda _arguments: f"{server} {server_tool or name}")
    if name == "str_replace_editor":
        return _OF_EDITOR.get(text(arguments, "command") or "", _EDIT)
    return _patching(arguments) if name == "apply_patch" else TOOLS.get(name) or other_tool(name)


def _patching(arguments: Fields) -> Tool:
    """Return the tool that applies a patch. Its kind is what the patch does."""
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
