"""The detail of a call of a rollout has its arguments and its result as blocks."""

from __future__ import annotations

import json

from agentwatch.session.blocks import (
    BinaryBlock,
    Block,
    ChangeBlock,
    ContentBlock,
    ErrorBlock,
    FieldsBlock,
    OutputBlock,
    PlanBlock,
    Reference,
    ReferencesBlock,
    TextBlock,
)
from agentwatch.session.events import PlanEntry, PlanStatus
from tests.builders.codex.lines import Json, blocks, completed, event, function, item, output
from tests.conftest import case

PATCH = "*** Begin Patch\n*** Add File: a\n+x\n*** End Patch"
ADDED = ChangeBlock("--- /dev/null\n+++ a\n@@ -0,0 +1 @@\n+x")
UPDATE = {"/a": {"type": "update", "unified_diff": "@@ -1 +1 @@\n-a\n+b\n"}}
PICTURE = {"type": "input_image", "image_url": "data:image/png;base64,aGVsbG8="}
PLAN = {"plan": [{"step": "a", "status": "completed"}], "explanation": "why"}
ENTRIES = (PlanEntry("a", PlanStatus.COMPLETED),)
FOUND = [{"title": "T", "url": "u", "snippet": "s"}]


def arguments(**fields: object) -> FieldsBlock:
    """Return the block of short arguments."""
    return FieldsBlock("arguments", fields)


def test_a_line_of_a_call_has_blocks() -> None:
    """Patches are diffs, outputs come without their head, and no image or request is dumped."""
    cases: list[tuple[Json, list[Block]]] = [
        (
            function("exec_command", {"cmd": "ls", "workdir": "/x"}),
            [arguments(command="ls"), arguments(workdir="/x")],
        ),
        (function("shell", {"command": ["bash", "-lc", "a\nb"]}), [TextBlock("command", "a\nb")]),
        (function("apply_patch", {"input": PATCH}), [ADDED]),
        (function("exec_command", {"cmd": f"apply_patch <<EOF\n{PATCH}\nEOF"}), [ADDED]),
        (item("custom_tool_call", name="apply_patch", input=PATCH), [ADDED]),
        (item("custom_tool_call", name="apply_patch", input="no patch"), [TextBlock("input", "no patch")]),
        (item("custom_tool_call", name="apply_patch"), []),
        (item("custom_tool_call", name="exec", input="tools.ls()"), [TextBlock("input", "tools.ls()")]),
        (
            item("local_shell_call", action={"type": "exec", "command": ["ls"]}),
            [arguments(command="ls"), arguments(type="exec")],
        ),
        (function("update_plan", PLAN), [PlanBlock(ENTRIES), arguments(explanation="why")]),
        (
            function("spawn_agent", {"message": "a\nb", "role": "x"}),
            [TextBlock("message", "a\nb"), arguments(role="x")],
        ),
        (function("dial", "not JSON"), [TextBlock("input", "not JSON")]),
        (function("dial"), []),
        (output("Exit code: 0\nOutput:\na\n"), [OutputBlock("stdout", "a\n")]),
        (
            output("Script failed\nWall time 0.1 seconds\nOutput:\na\nScript error:\nno"),
            [OutputBlock("stdout", "a\nScript error:\nno")],
        ),
        (output(json.dumps({"output": "a", "metadata": {}})), [OutputBlock("stdout", "a")]),
        (output("a"), [ContentBlock("a")]),
        (output("unsupported call: x"), [ErrorBlock("unsupported call: x")]),
        (output("patch rejected by user"), [ErrorBlock("patch rejected by user")]),
        (output(""), []),
        (
            output([{"type": "input_text", "text": "a"}, PICTURE]),
            [ContentBlock("a"), BinaryBlock("image/png", 5)],
        ),
        (
            output([{"image_url": "https://x"}, {"image_url": "data:"}]),
            [FieldsBlock("image", {"url": "https://x"}), BinaryBlock("binary", 0)],
        ),
        (completed("CommandExecution", aggregated_output="a"), [OutputBlock("stdout", "a")]),
        (
            event("exec_command_end", stdout="a", stderr="b"),
            [OutputBlock("stdout", "a"), OutputBlock("stderr", "b")],
        ),
        (
            completed("FileChange", changes=UPDATE, stderr=""),
            [ChangeBlock("--- /a\n+++ /a\n@@ -1 +1 @@\n-a\n+b\n")],
        ),
        (
            event("patch_apply_end", changes={"/a": {"delete": {"content": "x"}}}, stderr="e"),
            [ChangeBlock(None, before="x", after=""), OutputBlock("stderr", "e")],
        ),
        (completed("McpToolCall", arguments={"a": 1}, error="x"), [arguments(a=1), ErrorBlock("x")]),
        (
            event(
                "mcp_tool_call_end",
                invocation={"arguments": {"a": 1}},
                result={"Ok": {"content": [{"text": "x"}]}},
            ),
            [arguments(a=1), ContentBlock("x")],
        ),
        (event("mcp_tool_call_end", result={"Err": "x"}), [ErrorBlock("x")]),
        (
            completed("WebSearch", query="q", results=FOUND),
            [arguments(query="q"), ReferencesBlock((Reference("T", "u", "s"),))],
        ),
        (
            completed(
                "DynamicToolCall",
                arguments={"a": 1},
                content_items=[{"type": "inputText", "text": "x"}],
                error="e",
            ),
            [arguments(a=1), ContentBlock("x"), ErrorBlock("e")],
        ),
        (completed("ImageGeneration", result="aGVsbG8="), [FieldsBlock("result", {"result": "5 bytes"})]),
        (completed("DynamicToolCall", contentItems=[{"text": "x"}]), [ContentBlock("x")]),
        (completed("ImageGeneration"), []),
        (completed("Sleep", duration_ms=5), [FieldsBlock("result", {"duration_ms": 5})]),
        ({"type": "session_meta", "payload": 7}, []),
    ]
    for line, expected in cases:
        with case(line):
            assert blocks(line) == expected
