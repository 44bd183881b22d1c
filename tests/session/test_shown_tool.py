"""The screen has one short name for each tool."""

from __future__ import annotations

from agentwatch.session.actions import TOOL_COLUMNS, shown_tool
from agentwatch.text.safe import columns
from tests.conftest import case

NAMES: list[tuple[str, str]] = [
    *(("updateTodos", "todos"), ("webFetch", "fetch"), ("readLints", "lints"), ("read", "read")),
    *(("run_terminal_command", "command"), ("exec", "exec"), ("computerUse", "computerUse")),
    *(("Bash", "Bash"), ("teleport", "teleport"), ("x" * 90, "x" * 11 + "…"), ("a\x1bb", "a␛b")),
    *(("delete; run_shell", "delete; run…"), ("rm\x1b]0;read", "rm␛]0;read"), ("日本語" * 9, "日本語日本…")),
    ("mcp.github-createIssue", "issue"),
    *(("read_file", "read"), ("todo_write", "todo"), ("command_execution", "command")),
    *(("webSearch", "webSearch"), ("semSearch", "semSearch"), ("NotebookEdit", "NotebookEdit")),
]


def test_a_long_name_is_its_last_word() -> None:
    """A name of several words is shown as its last word, unless tools share it; others are only cut."""
    for tool, name in NAMES:
        with case(name):
            assert shown_tool(tool) == name
            assert columns(shown_tool(tool)) <= TOOL_COLUMNS
