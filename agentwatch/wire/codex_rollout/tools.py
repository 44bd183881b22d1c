"""Codex's tools: what the arguments of each say."""

from __future__ import annotations

from collections.abc import Callable

from agentwatch.events import ToolKind
from agentwatch.wire.changes.apply_patch import patch_in_command, patched_files
from agentwatch.wire.changes.file_change import summed
from agentwatch.wire.codex.calls import (
    Use,
    agent_use,
    change_use,
    command_use,
    mcp_use,
    search_query,
    search_use,
)
from agentwatch.wire.codex.commands import script_in
from agentwatch.wire.fields import Fields, items, mapping, number, text
from agentwatch.wire.tool import Phrase, first_line, other_tool

_MCP = "mcp__"
_PATCH_TOOL = "apply_patch"
WRITE_STDIN = "write_stdin"
_WAIT = "wait"
_MOST_ID = 100
"""The length of the id of a cell. Those in captures are numbers."""
PLAN_TOOL = "update_plan"
QUESTION_TOOL = "request_user_input"


def command_of(arguments: Fields) -> str:
    """Return the script that a tool runs: a list of words, or a text under one of its names."""
    words = arguments.get("command")
    if isinstance(words, list):
        return script_in(words)
    return text(arguments, "cmd") or text(arguments, "command") or text(arguments, "script") or ""


def patch_of(name: str, arguments: Fields, whole: str) -> str | None:
    """Return the patch that a call applies; None if it applies none.

    Args:
        name: The name of the tool.
        arguments: Its arguments.
        whole: The arguments as the text that the model wrote.
    """
    if name == _PATCH_TOOL:
        return text(arguments, "input") or text(arguments, "patch") or whole
    words = arguments.get("command")
    if isinstance(words, list) and len(words) == 2 and words[0] == _PATCH_TOOL and isinstance(words[1], str):
        return words[1]
    return patch_in_command(command_of(arguments))


def use_of(name: str, namespace: str | None, given: object) -> Use:
    """Return the use of a tool.

    Args:
        name: The name of the tool.
        namespace: The name of the group of tools that it belongs to; None if it is in none.
        given: Its arguments: JSON as a text, or the text that a custom tool receives.
    """
    arguments = mapping(given)
    whole = given if isinstance(given, str) else ""
    patch = patch_of(name, arguments, whole) if name in _COMMANDS or name == _PATCH_TOOL else None
    if patch is not None and (changes := patched_files(patch)):
        return change_use(name, summed(changes))
    if name in _COMMANDS:
        limit_ms = number(arguments, "timeout_ms")
        limit_ms = number(arguments, "timeout") if limit_ms is None else limit_ms
        return command_use(name, command_of(arguments), limit_ms)
    if name.startswith(_MCP) or (namespace or "").startswith(_MCP):
        full = name if name.startswith(_MCP) else f"{namespace}__{name}"
        server, _, tool = full.removeprefix(_MCP).partition("__")
        return mcp_use(name, server, tool.lstrip("_"))
    if name in _TOOLS:
        return _TOOLS[name](name, arguments, whole)
    other = other_tool(name)
    return Use(name, other.kind, other.phrase, other.target(arguments))


def asked_process(name: str, arguments: Fields) -> str | None:
    """Return the running process or script that a call asks for its output; None if it asks none."""
    if name == WRITE_STDIN:
        return f"{number(arguments, 'session_id')}"
    cell = _cell(arguments) if name == _WAIT else None
    return None if cell is None else cell_process(cell)


def cell_process(cell: str) -> str:
    """Return the name under which a running script is kept, by the id of its cell."""
    return f"cell {cell[:_MOST_ID]}"


def _cell(arguments: Fields) -> str | None:
    """Return the id of the script that a call of `wait` waits for; None if it waits for subagents."""
    found = number(arguments, "cell_id")
    return text(arguments, "cell_id") if found is None else str(found)


def _wait(name: str, arguments: Fields, whole: str) -> Use:
    cell = _cell(arguments)
    if cell is None:
        return _agent(name, arguments, whole)
    return Use(name, ToolKind.EXECUTE, Phrase.USED, f"{name} {first_line(cell)}")


def _patch(name: str, _arguments: Fields, _whole: str) -> Use:
    return change_use(name, summed([]))


def _plan(name: str, _arguments: Fields, _whole: str) -> Use:
    return Use(name, ToolKind.PLAN, Phrase.TODOS)


def _stdin(name: str, arguments: Fields, _whole: str) -> Use:
    process = number(arguments, "session_id")
    words = (name, None if process is None else str(process), first_line(text(arguments, "chars")))
    return Use(name, ToolKind.EXECUTE, Phrase.USED, " ".join(word for word in words if word))


def _script(name: str, arguments: Fields, whole: str) -> Use:
    """Return the use of a tool that runs a script in a language of its own."""
    script = text(arguments, "code") or text(arguments, "input") or whole
    return Use(name, ToolKind.EXECUTE, Phrase.USED, f"{name} {first_line(script)}".rstrip())


def _agent(name: str, arguments: Fields, _whole: str) -> Use:
    prompt = next((found for key in ("message", "prompt", "task") if (found := text(arguments, key))), None)
    threads = [text(arguments, key) for key in ("id", "target", "agent_id")]
    more = [each for key in ("ids", "targets", "receiver_thread_ids") for each in items(arguments.get(key))]
    return agent_use(name, prompt, [each for each in (*threads, *more) if isinstance(each, str)])


def _search(name: str, arguments: Fields, _whole: str) -> Use:
    return search_use(name, search_query(arguments, text(arguments, "query")))


def _tool_search(name: str, arguments: Fields, _whole: str) -> Use:
    return Use(name, ToolKind.SEARCH, Phrase.USED, f"{name} {text(arguments, 'query') or ''}".rstrip())


def _question(name: str, arguments: Fields, _whole: str) -> Use:
    return Use(name, ToolKind.OTHER, Phrase.USED, f"{name} {first_question(arguments) or ''}".rstrip())


def _paths(kind: ToolKind, phrase: str, *keys: str) -> Callable[[str, Fields, str], Use]:
    def use(name: str, arguments: Fields, _whole: str) -> Use:
        path = next((found for key in keys if (found := text(arguments, key))), None)
        return Use(name, kind, phrase, paths=() if path is None else (path,))

    return use


def _pattern(phrase: str) -> Callable[[str, Fields, str], Use]:
    return lambda name, arguments, _whole: Use(name, ToolKind.SEARCH, phrase, text(arguments, "pattern"))


def first_question(arguments: Fields) -> str | None:
    """Return the first question that a call asks the user."""
    asked = (text(mapping(each), "question") for each in items(arguments.get("questions")))
    return next((each for each in asked if each is not None), None)


_COMMANDS = frozenset(
    {
        "shell",
        "shell_command",
        "exec_command",
        "container.exec",
        "local_shell",
        "local_shell_call",
        "unified_exec",
    }
)
_TOOLS: dict[str, Callable[[str, Fields, str], Use]] = {
    _PATCH_TOOL: _patch,
    PLAN_TOOL: _plan,
    WRITE_STDIN: _stdin,
    QUESTION_TOOL: _question,
    "exec": _script,
    "js_repl": _script,
    "view_image": _paths(ToolKind.READ, Phrase.READ, "path"),
    "read_file": _paths(ToolKind.READ, Phrase.READ, "file_path", "path"),
    "list_dir": _paths(ToolKind.SEARCH, Phrase.LISTED, "dir_path", "path"),
    "grep_files": _pattern(Phrase.SEARCHED),
    "glob_file_search": _pattern(Phrase.FOUND),
    "web_search": _search,
    "tool_search": _tool_search,
    **dict.fromkeys(
        (
            *("spawn_agent", "send_input", "send_message", "followup_task", "assign_task", "resume_agent"),
            *("wait_agent", "close_agent", "interrupt_agent"),
        ),
        _agent,
    ),
    _WAIT: _wait,
}
"""The tools by their names, apart from those that run commands. Other tools show one of their arguments."""
