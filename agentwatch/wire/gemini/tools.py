"""Gemini's tools: the kind, phrase and target of each.

Adding a tool is one entry in `TOOLS`. The names and arguments are those of gemini-cli 0.61
(`packages/core/src/tools/definitions`), and those of older versions.
"""

from __future__ import annotations

from agentwatch.events import ToolKind
from agentwatch.wire.fields import Fields, items, text
from agentwatch.wire.tool import Phrase, Tool, command_in, named, other_tool, path_in

SHELL = "run_shell_command"
_UNKNOWN = "unknown"
_MCP_PREFIX = "mcp_"
_MCP_SEPARATOR = "__"
_MCP_DISPLAY = " MCP Server)"
_NUMBERS = 2
"""The time and the number, or the hash, at the end of a call's id."""
_MOST_PATHS = 1000
_MOST_PROMPT = 4096
"""The characters of a prompt that are searched for an address."""
_FILE = ("file_path", "absolute_path", "path", "filePath")


def _many_paths(arguments: Fields) -> list[str]:
    found = arguments.get("include") or arguments.get("paths")
    return [path for path in items(found)[:_MOST_PATHS] if isinstance(path, str) and path]


def _address(arguments: Fields) -> str | None:
    """Return the first address in a prompt, which is where `web_fetch` is given its pages."""
    prompt = text(arguments, "prompt") or ""
    words = prompt[:_MOST_PROMPT].split()
    address = next((word for word in words if word.startswith(("http://", "https://"))), None)
    return text(arguments, "url") or address or prompt or None


def _subagent(arguments: Fields) -> str | None:
    task = named("objective", "task", "prompt", "query", "question", "request", "description")(arguments)
    return " ".join(word for word in (text(arguments, "agent_name"), task) if word) or None


_SUBAGENT = Tool(ToolKind.DELEGATE, Phrase.RAN_SUBAGENT, _subagent)
_GREP = Tool(ToolKind.SEARCH, Phrase.SEARCHED, named("pattern", "query"))

TOOLS = {
    "read_file": Tool(ToolKind.READ, Phrase.READ, paths=path_in(*_FILE)),
    "read_many_files": Tool(ToolKind.READ, Phrase.READ, paths=_many_paths),
    "write_file": Tool(ToolKind.EDIT, Phrase.CREATED, paths=path_in(*_FILE)),
    "replace": Tool(ToolKind.EDIT, Phrase.EDITED, paths=path_in(*_FILE)),
    SHELL: Tool(ToolKind.EXECUTE, Phrase.RAN, command_in("command")),
    "grep_search": _GREP,
    "search_file_content": _GREP,
    "glob": Tool(ToolKind.SEARCH, Phrase.FOUND, named("pattern")),
    "list_directory": Tool(ToolKind.SEARCH, Phrase.LISTED, paths=path_in("dir_path", "path")),
    "google_web_search": Tool(ToolKind.SEARCH, Phrase.SEARCHED_WEB, named("query")),
    "web_fetch": Tool(ToolKind.FETCH, Phrase.FETCHED, _address),
    "write_todos": Tool(ToolKind.PLAN, Phrase.TODOS),
    "delegate_to_agent": _SUBAGENT,
    "invoke_agent": _SUBAGENT,
    "codebase_investigator": _SUBAGENT,
    "cli_help": _SUBAGENT,
    "generalist": _SUBAGENT,
    "browser_agent": _SUBAGENT,
}
"""The tools by the name that the agent gives them. The phrases are those of the text format."""


def tool_named(name: str, displayed: str | None = None) -> Tool:
    """Return the tool with a name.

    A tool of an MCP server is named `mcp_SERVER_TOOL`, in older versions `SERVER__TOOL`. Before that only the
    name for display had the server: `TOOL (SERVER MCP Server)`.

    Args:
        name: The name that the agent gives the tool.
        displayed: The name for display, if the line has it.
    """
    if name in TOOLS:
        return TOOLS[name]
    server, tool = _mcp_names(name, displayed or "")
    if server and tool:
        return Tool(ToolKind.MCP, Phrase.CALLED_MCP, lambda _arguments: f"{server} {tool}")
    return other_tool(name)


def _mcp_names(name: str, displayed: str) -> tuple[str, str]:
    """Return the server and the tool of an MCP tool; empty if the tool is not of a server."""
    if displayed.endswith(_MCP_DISPLAY):
        tool, _, server = displayed.removesuffix(_MCP_DISPLAY).rpartition(" (")
        return server, tool
    if name.startswith(_MCP_PREFIX):
        server, _, tool = name.removeprefix(_MCP_PREFIX).partition("_")
        return server, tool.lstrip("_")
    server, _, tool = name.partition(_MCP_SEPARATOR)
    return server, tool


def name_in_id(call_id: str) -> str:
    """Return the name of the tool in a call's id; `unknown` if the id has no name.

    The agent makes an id of the name, a time and a number, `read_file_1795208170605_1`, with the name twice
    in newer versions, `read_file__read_file_1795208170605_1`, and with a hash in older ones,
    `replace-1770507872133-32d31f85c46908`. Only the line that starts a call has the name in a field.
    """
    for separator in ("_", "-"):
        rest, *numbers = call_id.rsplit(separator, 2)
        if len(numbers) == _NUMBERS and rest and numbers[0].isdecimal():
            half = (len(rest) - len(_MCP_SEPARATOR)) // 2
            is_twice = half > 0 and rest == f"{rest[:half]}{_MCP_SEPARATOR}{rest[:half]}"
            return rest[:half] if is_twice else rest
    return _UNKNOWN


def target_of(tool: Tool, arguments: Fields) -> tuple[str | None, list[str]]:
    """Return the target of a call, and the paths it acts on."""
    paths = tool.paths(arguments)
    return (None if paths else tool.target(arguments)), paths
