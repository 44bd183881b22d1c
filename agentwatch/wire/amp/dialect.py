"""Amp's variant of Claude's grammar, and its tools.

The names are those in the init lines of published captures of Amp.
"""

from __future__ import annotations

from agentwatch.events import ToolKind
from agentwatch.wire.claude.dialect import Dialect
from agentwatch.wire.claude.tools import mcp_tool
from agentwatch.wire.tool import (
    CREATED,
    EDITED,
    FETCHED,
    FOUND,
    RAN,
    RAN_SUBAGENT,
    READ,
    SEARCHED,
    SEARCHED_WEB,
    TODOS,
    Tool,
    command_in,
    named,
    other_tool,
    path_in,
)

_PATHS = path_in("path", "file_path")

TOOLS = {
    "Bash": Tool(ToolKind.EXECUTE, RAN, command_in("cmd", "command")),
    "Read": Tool(ToolKind.READ, READ, paths=_PATHS),
    "Write": Tool(ToolKind.EDIT, CREATED, paths=_PATHS),
    "Edit": Tool(ToolKind.EDIT, EDITED, paths=_PATHS),
    "create_file": Tool(ToolKind.EDIT, CREATED, paths=_PATHS),
    "edit_file": Tool(ToolKind.EDIT, EDITED, paths=_PATHS),
    "undo_edit": Tool(ToolKind.EDIT, EDITED, paths=_PATHS),
    "Grep": Tool(ToolKind.SEARCH, SEARCHED, named("pattern")),
    "glob": Tool(ToolKind.SEARCH, FOUND, named("filePattern", "pattern")),
    "finder": Tool(ToolKind.SEARCH, "Searched codebase", named("query")),
    "codebase_search_agent": Tool(ToolKind.SEARCH, "Searched codebase", named("query")),
    "Task": Tool(ToolKind.DELEGATE, RAN_SUBAGENT, named("description", "prompt")),
    "oracle": Tool(ToolKind.DELEGATE, RAN_SUBAGENT, named("task")),
    "librarian": Tool(ToolKind.DELEGATE, RAN_SUBAGENT, named("query")),
    "todo_write": Tool(ToolKind.PLAN, TODOS),
    "web_search": Tool(ToolKind.SEARCH, SEARCHED_WEB, named("query", "objective")),
    "read_web_page": Tool(ToolKind.FETCH, FETCHED, named("url")),
}
"""The tools by their name. A tool that is not listed shows its name and one argument."""


def tool_named(name: str) -> Tool:
    """Return the description of an Amp tool: a known one, one of an MCP server, or another."""
    return TOOLS.get(name) or mcp_tool(name) or other_tool(name)


AMP = Dialect("amp", tool_named, echoes_prompts=True, commands_return_json=True)
