"""The arguments and results of calls are divided into blocks."""

from __future__ import annotations

from typing import Any

from agentwatch.agents.claude.blocks import argument_blocks, blocks, result_blocks
from agentwatch.session.blocks import (
    BinaryBlock,
    Block,
    ChangeBlock,
    ContentBlock,
    ErrorBlock,
    FieldsBlock,
    FilesBlock,
    MarkdownBlock,
    OutputBlock,
    PlanBlock,
    Reference,
    ReferencesBlock,
    TextBlock,
)
from agentwatch.session.events import PlanEntry, PlanStatus
from tests.builders.claude_lines import Json, answer, assistant, call
from tests.conftest import case

PATCH = [{"oldStart": 1, "newStart": 1, "lines": ["-a", "+b"]}]
DIFF = "@@ -1,1 +1,1 @@\n-a\n+b"
PLAN = PlanBlock((PlanEntry("x", PlanStatus.COMPLETED),))
TODOS = [{"content": "x", "status": "completed"}]
ARGUMENTS: list[tuple[Json, list[Block]]] = [
    ({}, []),
    (
        {"command": "make\nls", "description": "Build", "timeout": 5},
        [
            TextBlock("description", "Build"),
            FieldsBlock("arguments", {"timeout": 5}),
            TextBlock("command", "make\nls"),
        ],
    ),
    ({"description": "Look"}, [FieldsBlock("arguments", {"description": "Look"})]),
    ({"todos": TODOS}, [PLAN]),
    ({"todos": "x"}, [FieldsBlock("arguments", {"todos": "x"})]),
    (
        {"file_path": "/a", "old_string": "a", "new_string": "b", "replace_all": False},
        [FieldsBlock("arguments", {"file_path": "/a"}), ChangeBlock(DIFF)],
    ),
    ({"edits": [{"old_string": "a", "new_string": "b"}]}, [ChangeBlock(DIFF)]),
    ({"content": "a\nb"}, [ContentBlock("a\nb")]),
]
RESULTS: list[tuple[Any, Any, list[Block]]] = [
    (
        "x",
        {"stdout": "a", "stderr": "b", "interrupted": False},
        [OutputBlock("stdout", "a"), OutputBlock("stderr", "b")],
    ),
    (
        "x",
        {"stdout": "", "returnCodeInterpretation": "No matches"},
        [FieldsBlock("result", {"returnCodeInterpretation": "No matches"})],
    ),
    ("x", {"stdout": "data:image/png;base64,AAAA", "isImage": True}, [BinaryBlock("image/png", 3)]),
    ("x", {"stdout": "AAA=", "isImage": True}, [BinaryBlock("image", 2)]),
    ("x", {"filePath": "/a", "structuredPatch": PATCH, "originalFile": "a"}, [ChangeBlock(DIFF, "a")]),
    (
        "x",
        {"type": "create", "content": "b", "structuredPatch": [], "originalFile": None},
        [ChangeBlock(None, None, "b")],
    ),
    ("x", {"structuredPatch": [], "numFiles": 1}, [FieldsBlock("result", {"numFiles": 1})]),
    ("x", {"type": "text", "file": {"content": "a", "startLine": 4}}, [ContentBlock("a", 4)]),
    (
        "x",
        {"type": "image", "file": {"base64": "AAAA", "type": "image/png", "originalSize": 9}},
        [BinaryBlock("image/png", 9)],
    ),
    ("x", {"type": "pdf", "file": {"base64": "AAAA"}}, [BinaryBlock("pdf", 3)]),
    ("x", {"file": {"cells": 5}}, [FieldsBlock("result", {"file": {"cells": 5}})]),
    (
        "x",
        {"mode": "content", "content": "a", "filenames": ["b", 5]},
        [ContentBlock("a"), FilesBlock(("b",)), FieldsBlock("result", {"mode": "content"})],
    ),
    (
        "x",
        {"results": ["Words", "", {"content": [{"title": "t", "url": "u"}, 5]}]},
        [ReferencesBlock((Reference("t", "u"),)), MarkdownBlock("Words")],
    ),
    ("x", {"results": []}, []),
    ("x", {"oldTodos": TODOS, "newTodos": TODOS}, [PLAN]),
    ("x", {"content": [{"type": "text", "text": "21"}, {}], "prompt": "y"}, [MarkdownBlock("21")]),
    ("x", {"result": "A page", "code": 200}, [MarkdownBlock("A page"), FieldsBlock("result", {"code": 200})]),
    ("words", None, [ContentBlock("words")]),
    ("words", "Error: words", [ContentBlock("words")]),
    ("", None, []),
    ("   12→a\n   13→b", None, [ContentBlock("a\nb", 12)]),
    ("1\ta\n2\tb\n\n<system-reminder>x", None, [ContentBlock("a\nb")]),
    ("x\ta", None, [ContentBlock("x\ta")]),
    (
        [
            {"type": "text", "text": "a"},
            {"type": "image", "source": {"data": "AAAA", "media_type": "image/png"}},
        ],
        None,
        [ContentBlock("a"), BinaryBlock("image/png", 3)],
    ),
    ([{"type": "image", "source": {"data": "AA=="}}, {"type": "text"}], None, [BinaryBlock("binary", 1)]),
    (
        [{"type": "tool_reference", "tool_name": "x"}],
        None,
        [FieldsBlock("result", {"type": "tool_reference", "tool_name": "x"})],
    ),
]
ERRORS: list[tuple[Any, list[Block]]] = [
    ("<tool_use_error>No.</tool_use_error>", [ErrorBlock("No.")]),
    ("Exit code 1\nboom", [ErrorBlock("Exit code 1"), OutputBlock("stdout", "boom")]),
    ("Exit code 1", [ErrorBlock("Exit code 1")]),
    ("", []),
]


def test_results_are_blocks() -> None:
    """Each line has the blocks of the call that is meant."""
    # Changes are diffs, a to-do list is a plan, images are only named, and a failure has its reason.
    for arguments, expected in ARGUMENTS:
        with case(arguments):
            assert list(argument_blocks(arguments)) == expected
    for content, structured, expected in RESULTS:
        with case((content, structured)):
            assert list(result_blocks({"content": content}, structured)) == expected
    for content, expected in ERRORS:
        with case((content, expected)):
            assert list(result_blocks({"content": content, "is_error": True}, {"stdout": "x"})) == expected
    # A line with several calls shows one of them, or all; its structured result belongs to a single one.
    uses = [{"type": "tool_use", "id": f"t-{n}", "name": "Read", "input": {"path": f"/{n}"}} for n in (1, 2)]
    line = assistant(*uses)
    assert list(blocks(line, "t-2")) == [FieldsBlock("arguments", {"path": "/2"})]
    assert len(list(blocks(line, ""))) == 2
    ended = answer("a", "t-1", result={"stdout": "b"})
    assert list(blocks(ended, "t-1")) == [OutputBlock("stdout", "b")]
    assert list(blocks(ended, "t-2")) == []
    ended["message"]["content"].append({"type": "tool_result", "tool_use_id": "t-2", "content": "c"})
    assert list(blocks(ended, "t-2")) == [ContentBlock("c")]
    on_disk = {**answer("a", "t-1"), "toolUseResult": {"stdout": "b"}}
    assert list(blocks(on_disk, "t-1")) == [OutputBlock("stdout", "b")]
    assert list(blocks(call("Bash"), "t-1")) == []
