"""Droid's tools: the kind, phrase and target of each, and its to-do list."""

from __future__ import annotations

from itertools import islice

from agentwatch.events import PlanEntry, ToolKind
from agentwatch.wire.fields import Fields, items
from agentwatch.wire.plan import MOST_ENTRIES, listed_entries, plan_entry
from agentwatch.wire.tool import Phrase, Tool, command_in, named, other_tool, path_in

_MCP_SEPARATOR = "___"
_PATCHED = ("*** Update File: ", "*** Add File: ", "*** Delete File: ")


def _patched(arguments: Fields) -> list[str]:
    """Return the files that a patch names."""
    patch = named("input", "patch")(arguments) or ""
    lines = (line.strip() for line in patch.split("\n"))
    return [line.partition(": ")[2] for line in lines if line.startswith(_PATCHED)]


def _patterns(arguments: Fields) -> str | None:
    patterns = arguments.get("patterns")
    found = [each for each in items(patterns) if isinstance(each, str)]
    return " ".join(found) or named("patterns", "pattern")(arguments)


_SHELL = Tool(ToolKind.EXECUTE, Phrase.RAN, command_in("command"))
_EDIT = Tool(ToolKind.EDIT, Phrase.EDITED, paths=path_in("file_path", "path"))
_CREATE = Tool(ToolKind.EDIT, Phrase.CREATED, paths=path_in("file_path", "path"))

TOOLS = {
    "Read": Tool(ToolKind.READ, Phrase.READ, paths=path_in("file_path", "path")),
    "Edit": _EDIT,
    "MultiEdit": _EDIT,
    "Create": _CREATE,
    "Write": _CREATE,
    "ApplyPatch": Tool(ToolKind.EDIT, Phrase.EDITED, paths=_patched),
    "Execute": _SHELL,
    "Bash": _SHELL,
    "Shell": _SHELL,
    "Grep": Tool(ToolKind.SEARCH, Phrase.SEARCHED, named("pattern", "query")),
    "Glob": Tool(ToolKind.SEARCH, Phrase.FOUND, _patterns),
    "LS": Tool(ToolKind.SEARCH, Phrase.LISTED, paths=path_in("directory_path", "path")),
    "WebSearch": Tool(ToolKind.SEARCH, Phrase.SEARCHED_WEB, named("query")),
    "FetchUrl": Tool(ToolKind.FETCH, Phrase.FETCHED, named("url")),
    "TodoWrite": Tool(ToolKind.PLAN, Phrase.TODOS),
    "Task": Tool(ToolKind.DELEGATE, Phrase.RAN_SUBAGENT, named("description", "prompt")),
}
"""The tools by the name that the agent gives them. The phrases are those of the text format."""


def tool_named(name: str) -> Tool:
    """Return the tool with a name. A tool of an MCP server is named `SERVER___TOOL`."""
    if name in TOOLS:
        return TOOLS[name]
    server, _, tool = name.partition(_MCP_SEPARATOR)
    if server and tool:
        return Tool(ToolKind.MCP, Phrase.CALLED_MCP, lambda _arguments: f"{server} {tool}")
    return other_tool(name)


def plan_entries(tool: Tool, arguments: Fields) -> tuple[PlanEntry, ...]:
    """Return the to-do list in the arguments of a call, at most 10,000 entries; empty for another tool.

    It is a list of objects, or one text with a line for each entry: `1. [in_progress] Write the tests`.
    """
    if tool.kind is not ToolKind.PLAN:
        return ()
    todos = arguments.get("todos")
    if isinstance(todos, str):
        return tuple(islice(filter(None, map(_entry_in, todos.split("\n"))), MOST_ENTRIES))
    return listed_entries(todos, "content")


def _entry_in(line: str) -> PlanEntry | None:
    head, has_status, rest = line.partition("[")
    status, is_closed, content = rest.partition("]")
    is_entry = has_status and is_closed and head.strip().rstrip(".").isdecimal()
    return plan_entry(content.strip(), status.strip()) if is_entry else None
