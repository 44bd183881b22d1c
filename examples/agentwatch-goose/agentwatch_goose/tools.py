"""Goose's tools, which extensions provide: the kind, phrase and target of each."""

from __future__ import annotations

from agentwatch.agents.fields import Fields, text
from agentwatch.agents.tool import Phrase, Tool, command_in, named, other_tool, path_in
from agentwatch.session.events import ToolKind

_SEPARATOR = "__"
_BUILT_IN = "developer"
_EDITOR = "text_editor"

_READ = Tool(ToolKind.READ, Phrase.READ, paths=path_in("path"))
_EDIT = Tool(ToolKind.EDIT, Phrase.EDITED, paths=path_in("path"))
_WRITE = Tool(ToolKind.EDIT, Phrase.CREATED, paths=path_in("path"))
_SUBAGENT = Tool(
    ToolKind.DELEGATE, Phrase.RAN_SUBAGENT, named("instructions", "description", "prompt", "task")
)

TOOLS = {
    "shell": Tool(ToolKind.EXECUTE, Phrase.RAN, command_in("command")),
    "read": _READ,
    "write": _WRITE,
    "edit": _EDIT,
    "tree": Tool(ToolKind.SEARCH, Phrase.LISTED, paths=path_in("path")),
    "delegate": _SUBAGENT,
    "subagent": _SUBAGENT,
    "todo__todo_write": Tool(ToolKind.PLAN, Phrase.TODOS),
    "todo_write": Tool(ToolKind.PLAN, Phrase.TODOS),
    "computercontroller__web_scrape": Tool(ToolKind.FETCH, Phrase.FETCHED, named("url")),
}
"""The tools by their name, those of the extension `developer` without its name."""
_EDITOR_TOOLS = {"view": _READ, "write": _WRITE}
"""The tools by the command of the editor; all its other commands change the file."""


def tool_of(name: str, arguments: Fields) -> Tool:
    """Return the tool of a call. A tool of another extension is named `EXTENSION__TOOL`."""
    own = name.removeprefix(f"{_BUILT_IN}{_SEPARATOR}")
    if own == _EDITOR:
        return _EDITOR_TOOLS.get(text(arguments, "command") or "", _EDIT)
    if own in TOOLS:
        return TOOLS[own]
    extension, _, tool = name.partition(_SEPARATOR)
    if extension and tool and extension != _BUILT_IN:
        return Tool(ToolKind.MCP, Phrase.CALLED_MCP, lambda _arguments: f"{extension} {tool}")
    return other_tool(name)
