"""The detail of an item of the stream has its arguments and its result as blocks."""

from __future__ import annotations

from agentwatch.session.blocks import (
    BinaryBlock,
    Block,
    ChangeBlock,
    ContentBlock,
    ErrorBlock,
    FieldsBlock,
    OutputBlock,
    Reference,
    ReferencesBlock,
    TextBlock,
)
from tests.builders.codex.lines import Json, begun, blocks, done
from tests.conftest import case

DIFF = "@@ -1 +1 @@\n-a\n+b"
PICTURE = {"type": "image", "data": "aGVsbG8=", "mimeType": "image/png"}


def change(**fields: object) -> Json:
    """Return the line of a change of one file."""
    return done("file_change", changes=[{"path": "/a"} | fields], status="completed")


def test_an_item_has_blocks() -> None:
    """Commands are whole, changes are diffs, and an image is only named with its size."""
    cases: list[tuple[Json, list[Block]]] = [
        (
            begun("command_execution", command="bash -lc ls"),
            [FieldsBlock("arguments", {"command": "bash -lc ls"})],
        ),
        (begun("command_execution", command="bash -lc 'a\nb'"), [TextBlock("command", "bash -lc 'a\nb'")]),
        (begun("command_execution"), []),
        (done("command_execution", command="ls", aggregated_output="a\n"), [OutputBlock("stdout", "a\n")]),
        (done("command_execution", aggregated_output=""), []),
        (change(kind="update", diff=DIFF), [ChangeBlock(f"--- /a\n+++ /a\n{DIFF}")]),
        (change(kind="add", diff="x\n"), [ChangeBlock(None, after="x\n")]),
        (change(kind="delete", diff="x\n"), [ChangeBlock(None, before="x\n", after="")]),
        (change(kind="add"), [TextBlock("add", "/a")]),
        (change(kind={"type": "update", "move_path": "/b"}), [TextBlock("update", "/a to /b")]),
        (begun("mcp_tool_call", arguments={"city": "Paris"}), [FieldsBlock("arguments", {"city": "Paris"})]),
        (
            done(
                "mcp_tool_call",
                result={"content": [{"text": "Sunny"}, PICTURE], "structured_content": {"t": 21}},
            ),
            [ContentBlock("Sunny"), BinaryBlock("image/png", 5), FieldsBlock("result", {"t": 21})],
        ),
        (done("mcp_tool_call", error={"message": "lost"}), [ErrorBlock("lost")]),
        (
            done("mcp_tool_call", result={"content": [{"type": "link", "uri": "x"}, {"data": "AA=="}]}),
            [FieldsBlock("result", {"type": "link", "uri": "x"}), BinaryBlock("binary", 1)],
        ),
        (
            begun("collab_tool_call", tool="spawn_agent", prompt="Look"),
            [TextBlock("prompt", "Look"), FieldsBlock("arguments", {"tool": "spawn_agent"})],
        ),
        (done("collab_tool_call", tool="wait", agents_states={}), [FieldsBlock("result", {"tool": "wait"})]),
        (
            done(
                "web_search",
                query="q",
                results=[{"title": "T", "url": "u", "snippet": "s"}, {"error": {"message": "m"}}],
            ),
            [
                FieldsBlock("arguments", {"query": "q"}),
                ReferencesBlock((Reference("T", "u", "s"), Reference(None, None, "m"))),
            ],
        ),
        (done("web_search", query="q"), [FieldsBlock("arguments", {"query": "q"})]),
        (
            done("web_search", query="", action={"type": "open_page", "url": "u", "pattern": None}),
            [FieldsBlock("arguments", {"type": "open_page", "url": "u"})],
        ),
        (
            done("web_search", query="q", action={"type": "search", "query": "q"}),
            [FieldsBlock("arguments", {"query": "q"})],
        ),
        (begun("file_change", changes=[{"path": "/a", "kind": "add"}]), []),
        (done("teleport", to="Mars"), [FieldsBlock("result", {"to": "Mars"})]),
        ({"type": "turn.started"}, []),
    ]
    for line, expected in cases:
        with case(line):
            assert blocks(line) == expected
