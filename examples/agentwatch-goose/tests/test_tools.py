"""The tools of Goose, and the blocks of their calls."""

from __future__ import annotations

from typing import Any

from agentwatch_goose.agent import AGENT
from agentwatch_goose.tools import tool_of
from lines import ended, message, use, words

from agentwatch.session.blocks import (
    BinaryBlock,
    Block,
    ChangeBlock,
    ContentBlock,
    ErrorBlock,
    FieldsBlock,
    OutputBlock,
)
from agentwatch.session.events import ToolKind
from tests.conftest import case

IMAGE = {"type": "image", "data": "QUI=", "mimeType": "image/png"}
STREAMS = {"content": [words("x")], "structuredContent": {"stdout": "out", "stderr": "err"}}


def test_a_tool_has_a_kind_a_phrase_and_a_target() -> None:
    """The tools of the built-in extension are described; those of another are named with it."""
    cases: list[tuple[str, dict[str, Any], str, str]] = [
        ("developer__shell", {"command": "ls"}, "execute", "Ran terminal command ls"),
        ("shell", {"command": "ls"}, "execute", "Ran terminal command ls"),
        ("developer__text_editor", {"command": "view", "path": "a"}, "read", "Read file a"),
        ("developer__text_editor", {"command": "write", "path": "a"}, "edit", "Created new file a"),
        ("text_editor", {"command": "str_replace", "path": "a"}, "edit", "Edited file a"),
        ("write", {"path": "a"}, "edit", "Created new file a"),
        ("tree", {"path": "."}, "search", "Listed directory ."),
        ("delegate", {"instructions": "i"}, "delegate", "Ran subagent i"),
        ("todo__todo_write", {"content": "x"}, "plan", "Updated to-do list None"),
        ("github__list", {}, "mcp", "Called MCP tool github list"),
        ("developer__analyze", {"path": "a"}, "other", "Used tool developer__analyze a"),
        ("analyze", {}, "other", "Used tool analyze"),
    ]
    for name, arguments, kind, action in cases:
        with case((name, arguments, kind)):
            tool = tool_of(name, arguments)
            target = ", ".join(tool.paths(arguments)) or tool.target(arguments)
            assert (tool.kind, f"{tool.phrase} {target}") == (ToolKind(kind), action)


def test_the_blocks_of_a_call() -> None:
    """Changes are diffs, an image has a size, and a failure has its reason."""
    cases: list[tuple[dict[str, Any], list[Block | str]]] = [
        (use("shell", command="ls"), [FieldsBlock("arguments", {"command": "ls"})]),
        (use("edit", before="a", after="b", path="p"), [ChangeBlock("@@ -1,1 +1,1 @@\n-a\n+b"), "p"]),
        (
            use("text_editor", old_str="a", new_str="b", path="p"),
            [ChangeBlock("@@ -1,1 +1,1 @@\n-a\n+b"), "p"],
        ),
        (use("text_editor", command="write", file_text="a", path="p"), [ChangeBlock(None, None, "a"), "p"]),
        (
            {"type": "toolRequest", "id": "c-1", "toolCall": {"status": "error", "error": "E"}},
            [ErrorBlock("E")],
        ),
        (ended(text="x"), [ContentBlock("x")]),
        (ended(text="x", is_error=True), [ErrorBlock("x")]),
        (ended(value={"content": [IMAGE, 1]}), [BinaryBlock("image/png", 2)]),
        (ended(value={"content": [{"data": "QUJD"}]}), [BinaryBlock("binary", 3)]),
        (ended(value=STREAMS), [OutputBlock("stdout", "out"), OutputBlock("stderr", "err")]),
        (ended("other"), []),
        ({"type": "weather", "id": "c-1"}, []),
    ]
    for part, expected in cases:
        with case(part):
            found = list(AGENT.blocks(message("assistant", part), "c-1"))
            wanted = [block for block in expected if not isinstance(block, str)]
            assert found[: len(wanted)] == wanted
            assert len(found) == len(expected)
