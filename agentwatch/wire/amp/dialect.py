"""Amp's variant of Claude's grammar, and its tools.

The names are those in the init lines of published captures of Amp. Since 2026 most of its tools are those of
Codex: commands and patches.
"""

from __future__ import annotations

from agentwatch.events import ToolKind
from agentwatch.wire.amp.results import details_in, patch_facts
from agentwatch.wire.changes.apply_patch import patched_files
from agentwatch.wire.claude.decoder import Decoder
from agentwatch.wire.claude.dialect import Dialect
from agentwatch.wire.claude.tools import mcp_tool
from agentwatch.wire.fields import Fields, text
from agentwatch.wire.tool import Phrase, Tool, command_in, named, other_tool, path_in

_PATHS = path_in("path", "file_path", "filePath")


def _patched(arguments: Fields) -> list[str]:
    return [change.path for change in patched_files(text(arguments, "patchText") or "")]


TOOLS = {
    "Bash": Tool(ToolKind.EXECUTE, Phrase.RAN, command_in("cmd", "command")),
    "shell_command": Tool(ToolKind.EXECUTE, Phrase.RAN, command_in("command", "cmd")),
    "apply_patch": Tool(ToolKind.EDIT, Phrase.EDITED, paths=_patched, facts=patch_facts),
    "Read": Tool(ToolKind.READ, Phrase.READ, paths=_PATHS),
    "Write": Tool(ToolKind.EDIT, Phrase.CREATED, paths=_PATHS),
    "Edit": Tool(ToolKind.EDIT, Phrase.EDITED, paths=_PATHS),
    "create_file": Tool(ToolKind.EDIT, Phrase.CREATED, paths=_PATHS),
    "edit_file": Tool(ToolKind.EDIT, Phrase.EDITED, paths=_PATHS),
    "undo_edit": Tool(ToolKind.EDIT, Phrase.EDITED, paths=_PATHS),
    "Grep": Tool(ToolKind.SEARCH, Phrase.SEARCHED, named("pattern")),
    "glob": Tool(ToolKind.SEARCH, Phrase.FOUND, named("filePattern", "pattern")),
    "finder": Tool(ToolKind.SEARCH, "Searched codebase", named("query")),
    "codebase_search_agent": Tool(ToolKind.SEARCH, "Searched codebase", named("query")),
    "Task": Tool(ToolKind.DELEGATE, Phrase.RAN_SUBAGENT, named("description", "prompt")),
    "oracle": Tool(ToolKind.DELEGATE, Phrase.RAN_SUBAGENT, named("task")),
    "librarian": Tool(ToolKind.DELEGATE, Phrase.RAN_SUBAGENT, named("query")),
    "todo_write": Tool(ToolKind.PLAN, Phrase.TODOS),
    "web_search": Tool(ToolKind.SEARCH, Phrase.SEARCHED_WEB, named("query", "objective")),
    "read_web_page": Tool(ToolKind.FETCH, Phrase.FETCHED, named("url")),
}
"""The tools by their name. A tool that is not listed shows its name and one argument."""


def tool_named(name: str) -> Tool:
    """Return the description of an Amp tool: a known one, one of an MCP server, or another."""
    return TOOLS.get(name) or mcp_tool(name) or other_tool(name)


AMP = Dialect("amp", tool_named, echoes_prompts=True, has_whole_usage=True, details_in=details_in)


def decoder() -> Decoder:
    """Return a decoder of Amp's lines."""
    return Decoder(AMP)
