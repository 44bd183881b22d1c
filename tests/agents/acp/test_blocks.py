"""The arguments and results of calls in the Agent Client Protocol, as blocks."""

from __future__ import annotations

import json
from typing import Any

from agentwatch.agents import Decoder, LineRole
from agentwatch.agents.acp.calls import changed_lines
from agentwatch.agents.registry import agent_named
from agentwatch.session.blocks import (
    BinaryBlock,
    Block,
    ChangeBlock,
    ContentBlock,
    ErrorBlock,
    FieldsBlock,
    MarkdownBlock,
    OutputBlock,
    PlanBlock,
    TextBlock,
)
from agentwatch.session.events import FormatDetected, PlanEntry, PlanStatus
from tests.builders.formats.acp import (
    called,
    changed,
    chunk,
    permission,
    prompt,
    request,
    response,
    words,
)
from tests.conftest import case

LONG = "one\ntwo"


def blocks(line: bytes) -> list[Block]:
    """Return the blocks of a line."""
    return Decoder(agent_named("acp")).blocks(line.rstrip())


def item(**content: Any) -> list[dict[str, Any]]:
    """Return the content of a call with one block."""
    return [{"type": "content", "content": content}]


def test_a_call_is_divided_into_blocks() -> None:
    """Arguments, texts, diffs, images and results are shown once each, and nothing is dumped."""
    cases: list[tuple[dict[str, Any], list[Block]]] = [
        ({"rawInput": {"command": "make"}}, [FieldsBlock("arguments", {"command": "make"})]),
        ({"rawInput": {"description": "Build", "x": ""}}, [TextBlock("description", "Build")]),
        (
            {"rawInput": {"content": LONG, "note": LONG, "n": 1}},
            [FieldsBlock("arguments", {"n": 1}), ContentBlock(LONG), TextBlock("note", LONG)],
        ),
        (
            {"rawInput": {"todos": [{"content": "a", "status": "completed"}]}},
            [PlanBlock((PlanEntry("a", PlanStatus.COMPLETED),))],
        ),
        (
            {"content": [{"type": "diff", "path": "a", "oldText": "x", "newText": "y"}]},
            [ChangeBlock(None, "x", "y")],
        ),
        ({"content": [{"type": "diff", "path": "a", "newText": ""}]}, [ChangeBlock(None, None, "")]),
        ({"content": words("out"), "kind": "execute"}, [OutputBlock("stdout", "out")]),
        ({"content": words("out"), "kind": "fetch"}, [MarkdownBlock("out")]),
        ({"content": words("out"), "kind": "read"}, [ContentBlock("out")]),
        ({"content": words("out"), "status": "failed"}, [ErrorBlock("out")]),
        (
            {"content": item(type="image", data="eHh4", mimeType="image/png")},
            [BinaryBlock("image/png", 3)],
        ),
        ({"content": item(type="resource", resource={"blob": 7})}, [BinaryBlock("binary", None)]),
        ({"content": item(type="resource", resource={"text": "x"})}, [ContentBlock("x")]),
        ({"content": item(type="resource_link", uri="u", name="n")}, [TextBlock("n", "u")]),
        ({"content": item(type="resource", resource={"uri": "u"})}, [TextBlock("resource", "u")]),
        ({"content": [{"type": "terminal", "terminalId": "t"}, 7]}, []),
        ({"content": item(type="video")}, []),
        ({"_meta": {"terminal_output": {"data": "out"}}}, [OutputBlock("stdout", "out")]),
        ({"rawOutput": "done"}, [ContentBlock("done")]),
        ({"rawOutput": "done", "content": words("done")}, [ContentBlock("done")]),
        ({"rawOutput": [{"type": "text", "text": "done"}]}, [ContentBlock("done")]),
        ({"rawOutput": [{"type": "text", "text": "done"}], "content": words("x")}, [ContentBlock("x")]),
        ({"rawOutput": {"error": "no"}}, [ErrorBlock("no")]),
        ({"rawOutput": {"error": {"message": "no"}}}, [ErrorBlock("no")]),
        ({"rawOutput": {"error": "no"}, "content": words("no"), "status": "failed"}, [ErrorBlock("no")]),
        (
            {"rawOutput": {"stdout": "a", "stderr": "b", "exitCode": 1}},
            [OutputBlock("stdout", "a"), OutputBlock("stderr", "b"), FieldsBlock("result", {"exitCode": 1})],
        ),
        (
            {"rawOutput": {"output": "a", "metadata": {"diff": "@@", "x": 1}}},
            [ChangeBlock("@@"), ContentBlock("a"), FieldsBlock("result", {"metadata": {"x": 1}})],
        ),
        ({"rawOutput": {"output": "a", "content": "b"}}, [ContentBlock("a")]),
        ({"rawOutput": 7, "rawInput": 7, "content": 7}, []),
    ]
    for fields, shown in cases:
        with case(fields):
            assert blocks(changed(**fields)) == shown
            assert blocks(permission(**fields)) == shown


def test_other_lines_have_no_blocks() -> None:
    """A line that is about no call has no blocks."""
    assert blocks(chunk("x")) == []
    assert blocks(response(1, {})) == []
    assert blocks(request("session/request_permission", 1, options=[], subject={"toolCall": {}})) == []


def test_the_role_of_a_line() -> None:
    """Requests start a run, updates of calls belong to them, and responses are neither."""
    cases: list[tuple[bytes, LineRole]] = [
        (request("initialize", 0, protocolVersion=1), LineRole.START),
        (request("session/new", 1, cwd="/"), LineRole.START),
        (prompt(), LineRole.START),
        (called(), LineRole.CALL),
        (changed(), LineRole.CALL),
        (permission(), LineRole.CALL),
        (chunk("x"), LineRole.OTHER),
        (request("session/update"), LineRole.OTHER),
        (response(1, {"sessionId": "x"}), LineRole.OTHER),
        (request("session/cancel"), LineRole.OTHER),
    ]
    for line, role in cases:
        with case(line):
            assert Decoder(agent_named("acp")).role(line.rstrip()) is role


def test_only_the_protocols_own_lines_are_recognised() -> None:
    """Lines of other protocols that use JSON-RPC are not taken for this one."""
    cases: list[tuple[bytes, str | None]] = [
        (request("initialize", 0, protocolVersion=1), "acp"),
        (response(0, {"protocolVersion": 1}), "acp"),
        (request("session/anything"), "acp"),
        (request("initialize", 0, protocolVersion="2025-06-18"), None),
        (response(0, {"protocolVersion": "2025-06-18"}), None),
        (request("tools/call", 1), None),
        (json.dumps({"method": "session/update"}).encode(), None),
        (json.dumps({"jsonrpc": "2.0", "method": 7}).encode(), None),
    ]
    for line, name in cases:
        with case(line):
            events = Decoder().decode(line.rstrip())
            assert next((event.format for event in events if isinstance(event, FormatDetected)), None) == name


def test_changed_lines_are_counted() -> None:
    """The shortest edit is counted; texts that differ too much are not compared."""
    cases: list[tuple[str, str, tuple[int, int] | None]] = [
        ("", "", (0, 0)),
        ("a", "a\n", (0, 0)),
        ("", "a\nb\n", (2, 0)),
        ("a\nb\nc", "a\nc", (0, 1)),
        ("a\nb\nc\nd\ne", "b\nx\nd\ne\nf", (2, 2)),
        ("\n".join("ab" * 500), "\n".join("ba" * 500), (1, 1)),
        ("x\n" * 300, "y\n" * 300, None),
        ("a\n" + "x\n" * 150_000 + "b\n", "b\n" + "x\n" * 150_000 + "a\n", (2, 2)),
        ("p\n" + "x\ny\n" * 60_000 + "q", "q\n" + "y\nx\n" * 60_000 + "p", None),
    ]
    for old, new, counts in cases:
        with case((old, new)):
            assert changed_lines(old, new) == counts
