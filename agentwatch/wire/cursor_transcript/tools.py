"""The tools in Cursor's transcripts: the names that the model uses, which differ from those in the stream."""

from __future__ import annotations

from agentwatch.events import ToolKind
from agentwatch.wire.claude.tools import mcp_tool
from agentwatch.wire.cursor.tools import TOOLS as CURSOR_TOOLS
from agentwatch.wire.fields import Fields, items, text
from agentwatch.wire.tool import Phrase, Tool, named, other_tool, path_in


def _mcp_target(arguments: Fields) -> str | None:
    names = (text(arguments, "server"), text(arguments, "toolName"))
    return " ".join(name for name in names if name) or None


def _lints(arguments: Fields) -> list[str]:
    return [path for path in items(arguments.get("paths")) if isinstance(path, str) and path]


_PATH = path_in("path", "file_path", "target_file")
_READ = Tool(ToolKind.READ, Phrase.READ, paths=_PATH)
_EDIT = Tool(ToolKind.EDIT, Phrase.EDITED, paths=_PATH)
_SHELL = CURSOR_TOOLS["shell"]
_SUBAGENT = Tool(ToolKind.DELEGATE, Phrase.RAN_SUBAGENT, named("description", "prompt"))

TOOLS = {
    "Shell": _SHELL,
    "Bash": _SHELL,
    "run_terminal_cmd": _SHELL,
    "Read": _READ,
    "ReadFile": _READ,
    "read_file": _READ,
    "Edit": _EDIT,
    "StrReplace": _EDIT,
    "Write": _EDIT,
    "edit_file": _EDIT,
    "search_replace": _EDIT,
    "EditNotebook": Tool(ToolKind.EDIT, Phrase.EDITED, paths=path_in("target_notebook")),
    "Delete": Tool(ToolKind.DELETE, Phrase.DELETED, paths=_PATH),
    "Grep": CURSOR_TOOLS["grep"],
    "Glob": Tool(ToolKind.SEARCH, Phrase.FOUND, named("glob_pattern", "globPattern", "pattern")),
    "LS": Tool(ToolKind.SEARCH, Phrase.LISTED, paths=path_in("target_directory", "path")),
    "SemanticSearch": CURSOR_TOOLS["semSearch"],
    "ReadLints": Tool(ToolKind.OTHER, "Read lints", paths=_lints),
    "TodoWrite": CURSOR_TOOLS["updateTodos"],
    "WebSearch": Tool(ToolKind.SEARCH, Phrase.SEARCHED_WEB, named("search_term", "searchTerm", "query")),
    "WebFetch": CURSOR_TOOLS["webFetch"],
    "CallMcpTool": Tool(ToolKind.MCP, Phrase.CALLED_MCP, _mcp_target),
    "Task": _SUBAGENT,
    "Agent": _SUBAGENT,
}
"""The tools by the name in a `tool_use` part. A tool that is not listed shows its name and one argument."""


def tool_named(name: str) -> Tool:
    """Return the description of a tool: a known one, one of an MCP server, or another.

    A file that is written may have existed before: no result says it, so that it counts as edited.
    """
    return TOOLS.get(name) or CURSOR_TOOLS.get(name) or mcp_tool(name) or other_tool(name)
