"""Pi's tools: the kind, phrase and target of each, by the captures and Pi's own schemas."""

from __future__ import annotations

from agentwatch.events import ToolKind
from agentwatch.wire.fields import Fields, items, mapping, text
from agentwatch.wire.tool import Phrase, Tool, command_in, named, other_tool, path_in

SHELLS = frozenset({"bash", "powershell", "cmd"})
_PATH = ("path", "file_path", "filePath")


def _edited_paths(arguments: Fields) -> list[str]:
    """Return the files of an edit. One call may edit several files."""
    of_edits = (text(mapping(edit), "path") for edit in items(arguments.get("edits")))
    return path_in(*_PATH)(arguments) or list(dict.fromkeys(filter(None, of_edits)))


_SHELL = Tool(ToolKind.EXECUTE, Phrase.RAN, command_in("command"))
_EDIT = Tool(ToolKind.EDIT, Phrase.EDITED, paths=_edited_paths)
_FIND = Tool(ToolKind.SEARCH, Phrase.FOUND, named("pattern"))

TOOLS = {
    **dict.fromkeys(SHELLS, _SHELL),
    "read": Tool(ToolKind.READ, Phrase.READ, paths=path_in(*_PATH)),
    "edit": _EDIT,
    "write": Tool(ToolKind.EDIT, Phrase.CREATED, paths=path_in(*_PATH)),
    "grep": Tool(ToolKind.SEARCH, Phrase.SEARCHED, named("pattern")),
    "find": _FIND,
    "ls": Tool(ToolKind.SEARCH, Phrase.LISTED, paths=lambda arguments: path_in(*_PATH)(arguments) or ["."]),
    # Tools of the forks, of OpenClaw, and of the examples of extensions that come with Pi.
    "exec": _SHELL,
    "glob": _FIND,
    "multi_edit": _EDIT,
    "subagent": Tool(ToolKind.DELEGATE, Phrase.RAN_SUBAGENT, named("description", "task", "agent")),
    "task": Tool(ToolKind.DELEGATE, Phrase.RAN_SUBAGENT, named("description", "agent")),
    "todo_write": Tool(ToolKind.PLAN, Phrase.TODOS),
    "web_search": Tool(ToolKind.SEARCH, Phrase.SEARCHED_WEB, named("query")),
    "fetch": Tool(ToolKind.FETCH, Phrase.FETCHED, named("url")),
}


def tool_named(name: str) -> Tool:
    """Return the tool with a name. An extension may add any tool."""
    return TOOLS.get(name) or other_tool(name)
