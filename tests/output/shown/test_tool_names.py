"""Tools have short names that differ."""

from __future__ import annotations

from agentwatch.output.tool_names import ToolNames
from tests.conftest import case


def shown(*tools: str) -> list[str]:
    """Return the names that the table shows for these tools."""
    names = ToolNames()
    for tool in tools:
        names.add(tool, 1)
    return [names[tool] for tool in tools]


NAMES: list[tuple[str, str]] = [
    *(("updateTodos", "todos"), ("webFetch", "fetch"), ("readLints", "lints"), ("read", "read")),
    *(("run_terminal_command", "command"), ("exec", "exec"), ("computerUse", "computerUse")),
    *(("Bash", "Bash"), ("teleport", "teleport"), ("x" * 90, "x" * 11 + "…"), ("a\x1bb", "a␛b")),
    *(("delete; run_shell", "delete; run…"), ("rm\x1b]0;read", "rm␛]0;read")),
    ("mcp.github-createIssue", "issue"),
    *(("read_file", "read"), ("todo_write", "todo"), ("command_execution", "command")),
]


def test_a_long_name_is_its_last_word() -> None:
    """A name of several words is shown as its last word; others are only cut."""
    for tool, name in NAMES:
        with case(name):
            assert shown(tool) == [name]


def test_names_stay_distinct() -> None:
    """Names that would be equal are shown in full."""
    assert shown("webSearch", "semSearch") == ["webSearch", "semSearch"]
    assert shown("fetch", "webFetch") == ["fetch", "webFetch"]
    assert shown("webSearch", "readLints") == ["search", "lints"]
    assert shown("Edit", "NotebookEdit") == ["Edit", "NotebookEdit"]
    assert shown("read_file", "write_file") == ["read", "write"]


def test_the_width_is_that_of_the_longest_name() -> None:
    """The width follows the names that are shown, and stays at 12 with any number of tools."""
    names = ToolNames()
    widths = []
    for tool in ("ls", "shell", "webFetch", "日本語", "x" * 50):
        names.add(tool, 1)
        widths.append(names.width)
    assert widths == [2, 5, 5, 6, 12]
    for number in range(2000):
        names.add(f"tool{number}", number)
    assert names["tool1999"] == "tool1999"
    assert names.width == 12
