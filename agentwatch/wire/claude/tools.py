"""Claude Code's tools: the kind, phrase and target of each, and the facts in its results.

Adding a tool is one entry in `TOOLS`. The names and fields come from captures of Claude Code 1.0 to 2.1, and
from the vendor's published types of the tools' arguments and results. The arguments are the `input` of a
`tool_use` block; the result is the object under `tool_use_result` (`toolUseResult` on disk).
"""

from __future__ import annotations

from agentwatch.events import ToolKind
from agentwatch.text.amounts import plural
from agentwatch.wire.changes.arguments import replaced_lines
from agentwatch.wire.changes.file_change import line_count
from agentwatch.wire.changes.structured_patch import changed_lines
from agentwatch.wire.fields import Fields, items, mapping, number, text
from agentwatch.wire.tool import (
    NO_FACTS,
    Facts,
    Phrase,
    Tool,
    command_in,
    counted,
    named,
    other_tool,
    path_in,
)

MCP_PREFIX = "mcp__"
_MCP_SEPARATOR = "__"


def _read_facts(result: Fields) -> Facts:
    file = mapping(result.get("file"))
    count, total = number(file, "numLines"), number(file, "totalLines")
    first = number(file, "startLine") or 1
    if count is None:
        return NO_FACTS
    if total is None or (first <= 1 and count >= total - 1):
        return Facts(note=plural(count if total is None else total, "line"))
    return Facts(note=f"lines {first}-{first + count - 1} of {total}")


def _edit_facts(result: Fields) -> Facts:
    """Return the changed lines of an edit. One that replaces the empty text creates its file."""
    counts = changed_lines(result.get("structuredPatch"))
    is_new = "originalFile" in result and not result["originalFile"] and result.get("oldString") == ""
    if not is_new:
        return Facts(lines_added=counts.added, lines_removed=counts.removed)
    return created(result.get("newString"))


def _write_facts(result: Fields) -> Facts:
    """Return the facts of a written file: `type` says whether it is new, or replaces an earlier content."""
    if result.get("type") == "update" or text(result, "originalFile"):
        counts = changed_lines(result.get("structuredPatch"))
        return Facts(phrase=Phrase.EDITED, lines_added=counts.added, lines_removed=counts.removed)
    return created(result.get("content"))


def created(content: object) -> Facts:
    """Return the facts of a new file with this content."""
    if not isinstance(content, str):
        return Facts(phrase=Phrase.CREATED, is_new_file=True)
    count = line_count(content)
    return Facts(plural(count, "line"), Phrase.CREATED, is_new_file=True, lines_added=count, lines_removed=0)


def argument_facts(tool: Tool, arguments: Fields) -> Facts:
    """Return what the arguments of a call say about the file that it changes, for a result that does not."""
    if tool.kind is not ToolKind.EDIT:
        return NO_FACTS
    content = arguments.get("content")
    return created(content) if isinstance(content, str) else replaced_lines(arguments)


def _grep_facts(result: Fields) -> Facts:
    mode = result.get("mode")
    if mode == "files_with_matches":
        return counted("numFiles", "file")(result)
    if mode == "count":
        return counted("numMatches", "match")(result)
    return counted("numLines", "line")(result)


def _web_search_facts(result: Fields) -> Facts:
    found = [each for part in items(result.get("results")) for each in items(mapping(part).get("content"))]
    return Facts(note=plural(len(found), "result")) if "results" in result else NO_FACTS


def _todo_facts(result: Fields) -> Facts:
    todos = items(result.get("newTodos"))
    done = sum(mapping(todo).get("status") == "completed" for todo in todos)
    return Facts(note=f"{done} of {len(todos)} done") if todos else NO_FACTS


def _subagent_facts(result: Fields) -> Facts:
    return counted("totalToolUseCount", "call")(result)


def _question(arguments: Fields) -> str | None:
    asked = next((mapping(each) for each in items(arguments.get("questions"))), {})
    words = text(asked, "question")
    return f"AskUserQuestion {words}" if words else "AskUserQuestion"


def questions_in(arguments: Fields) -> str | None:
    """Return the questions to the user in the arguments of a call; of a plan, its first line."""
    asked = [text(mapping(each), "question") for each in items(arguments.get("questions"))]
    plan = (text(arguments, "plan") or "").strip().partition("\n")[0]
    return " ".join(filter(None, asked)) or plan or None


_SUBAGENT = Tool(
    ToolKind.DELEGATE, Phrase.RAN_SUBAGENT, named("description", "prompt"), facts=_subagent_facts
)
_SHELL = Tool(ToolKind.EXECUTE, Phrase.RAN, command_in("command"))
_PLAN = Tool(ToolKind.PLAN, Phrase.TODOS)

TOOLS = {
    "Bash": _SHELL,
    "PowerShell": _SHELL,
    "Read": Tool(ToolKind.READ, Phrase.READ, paths=path_in("file_path"), facts=_read_facts),
    "Edit": Tool(ToolKind.EDIT, Phrase.EDITED, paths=path_in("file_path"), facts=_edit_facts),
    "MultiEdit": Tool(ToolKind.EDIT, Phrase.EDITED, paths=path_in("file_path"), facts=_edit_facts),
    "Write": Tool(ToolKind.EDIT, Phrase.CREATED, paths=path_in("file_path"), facts=_write_facts),
    "NotebookEdit": Tool(ToolKind.EDIT, Phrase.EDITED, paths=path_in("notebook_path")),
    "NotebookRead": Tool(ToolKind.READ, Phrase.READ, paths=path_in("notebook_path")),
    "Glob": Tool(ToolKind.SEARCH, Phrase.FOUND, named("pattern"), facts=counted("numFiles", "file")),
    "Grep": Tool(ToolKind.SEARCH, Phrase.SEARCHED, named("pattern"), facts=_grep_facts),
    "LS": Tool(ToolKind.SEARCH, Phrase.LISTED, paths=path_in("path")),
    "Task": _SUBAGENT,
    "Agent": _SUBAGENT,
    "TodoWrite": Tool(ToolKind.PLAN, Phrase.TODOS, facts=_todo_facts),
    "TaskCreate": Tool(ToolKind.PLAN, Phrase.TODOS, named("subject", "description")),
    "TaskUpdate": Tool(ToolKind.PLAN, Phrase.TODOS, named("subject", "taskId")),
    "TaskList": _PLAN,
    "TaskGet": Tool(
        ToolKind.PLAN, Phrase.USED, lambda arguments: _with("TaskGet", text(arguments, "taskId"))
    ),
    "WebSearch": Tool(ToolKind.SEARCH, Phrase.SEARCHED_WEB, named("query"), facts=_web_search_facts),
    "WebFetch": Tool(ToolKind.FETCH, Phrase.FETCHED, named("url")),
    "AskUserQuestion": Tool(ToolKind.OTHER, Phrase.USED, _question),
    "ListMcpResourcesTool": Tool(ToolKind.MCP, Phrase.CALLED_MCP, named("server")),
    "ReadMcpResourceTool": Tool(
        ToolKind.MCP,
        Phrase.CALLED_MCP,
        lambda arguments: " ".join(filter(None, (text(arguments, "server"), text(arguments, "uri")))),
    ),
}
"""The tools by the name in a `tool_use` block. A tool that is not listed shows its name and one argument."""


def _with(name: str, argument: str | None) -> str:
    return f"{name} {argument}" if argument else name


def tool_named(name: str) -> Tool:
    """Return the description of a Claude tool: a known one, one of an MCP server, or another."""
    return TOOLS.get(name) or mcp_tool(name) or other_tool(name)


def mcp_tool(name: str) -> Tool | None:
    """Return the description of an MCP tool, `mcp__server__tool`; None if the name has another form.

    Example:
        >>> mcp_tool("mcp__github__create_issue").target({})
        'github create_issue'
    """
    if not name.startswith(MCP_PREFIX):
        return None
    server, separator, tool = name.removeprefix(MCP_PREFIX).partition(_MCP_SEPARATOR)
    target = f"{server} {tool}" if separator else server
    return Tool(ToolKind.MCP, Phrase.CALLED_MCP, lambda _arguments: target)
