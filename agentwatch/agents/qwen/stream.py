"""Qwen Code's variant of Claude's grammar."""

from __future__ import annotations

from agentwatch.agents.claude.calls import Dialect, mcp_tool
from agentwatch.agents.claude.stream import ClaudeDecoder
from agentwatch.agents.tool import Phrase, Tool, command_in, named, other_tool, path_in
from agentwatch.session.events import ToolKind

# The tools: the kind, phrase and target of each.
# The names are those of Qwen Code 0.15, in its captures and in the published source of its tools. Both
# formats of Qwen Code, the stream and the chats on disk, use them.

ASKING = ("ask_user_question", "exit_plan_mode")
_PATHS = path_in("file_path", "absolute_path", "path")

TOOLS = {
    "read_file": Tool(ToolKind.READ, Phrase.READ, paths=_PATHS),
    "read_many_files": Tool(ToolKind.READ, Phrase.READ, named("include", "paths")),
    "write_file": Tool(ToolKind.EDIT, Phrase.CREATED, paths=_PATHS),
    "edit": Tool(ToolKind.EDIT, Phrase.EDITED, paths=_PATHS),
    "replace": Tool(ToolKind.EDIT, Phrase.EDITED, paths=_PATHS),
    "notebook_edit": Tool(ToolKind.EDIT, Phrase.EDITED, paths=path_in("notebook_path")),
    "run_shell_command": Tool(ToolKind.EXECUTE, Phrase.RAN, command_in("command")),
    "grep_search": Tool(ToolKind.SEARCH, Phrase.SEARCHED, named("pattern")),
    "search_file_content": Tool(ToolKind.SEARCH, Phrase.SEARCHED, named("pattern")),
    "glob": Tool(ToolKind.SEARCH, Phrase.FOUND, named("pattern")),
    "list_directory": Tool(ToolKind.SEARCH, Phrase.LISTED, paths=_PATHS),
    "todo_write": Tool(ToolKind.PLAN, Phrase.TODOS),
    "agent": Tool(ToolKind.DELEGATE, Phrase.RAN_SUBAGENT, named("description", "prompt")),
    "task": Tool(ToolKind.DELEGATE, Phrase.RAN_SUBAGENT, named("description", "prompt")),
    "web_fetch": Tool(ToolKind.FETCH, Phrase.FETCHED, named("url", "prompt")),
    "web_search": Tool(ToolKind.SEARCH, Phrase.SEARCHED_WEB, named("query")),
}
"""The tools by their name. A tool that is not listed shows its name and one argument."""


def tool_named(name: str) -> Tool:
    return TOOLS.get(name) or mcp_tool(name) or other_tool(name)


QWEN = Dialect("qwen", tool_named, input_includes_cache=True, error_start="[API Error")


def decoder() -> ClaudeDecoder:
    return ClaudeDecoder(QWEN)
