"""The blocks of Gemini's calls."""

from __future__ import annotations

from typing import Any

from agentwatch.agents.gemini.agent import AGENT
from agentwatch.agents.gemini.blocks import content_block, part_blocks
from agentwatch.agents.gemini.stream import tool_named
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
from agentwatch.session.events import PlanEntry, PlanStatus
from tests.builders.formats.gemini import ended, failure, use
from tests.conftest import case


def blocks(line: dict[str, Any]) -> list[Block]:
    """Return the blocks of a line."""
    return list(AGENT.blocks(line, ""))


def test_a_replacement_is_drawn_as_a_diff() -> None:
    """The texts of a replacement are one change, not two arguments."""
    line = use("replace", file_path="a.py", old_string="a\nb", new_string="a\nc", instruction="i")
    change, rest = blocks(line)
    assert change == ChangeBlock("@@ -1,2 +1,2 @@\n a\n-b\n+c")
    assert rest == FieldsBlock("arguments", {"file_path": "a.py", "instruction": "i"})


def test_a_new_file_is_drawn_as_its_content() -> None:
    """The content of a written file is what the file contains after the call."""
    line = use("write_file", file_path="a", content="x\n")
    assert blocks(line) == [ChangeBlock(None, after="x\n"), FieldsBlock("arguments", {"file_path": "a"})]
    assert blocks(use("write_file", file_path="a", content=1)) == [
        FieldsBlock("arguments", {"file_path": "a", "content": 1})
    ]


def test_a_command_has_its_description_and_its_output() -> None:
    """What a command printed is output; the id of the call names the tool."""
    line = use("run_shell_command", command="ls\npwd", description="List", dir="")
    assert blocks(line) == [TextBlock("description", "List"), TextBlock("command", "ls\npwd")]
    line = ended("run_shell_command__run_shell_command_1_2", output="a")
    assert blocks(line) == [OutputBlock("stdout", "a")]


def test_a_to_do_list_is_a_plan() -> None:
    """The entries are drawn with their states; no argument is left."""
    line = use("write_todos", todos=[{"description": "a", "status": "in_progress"}])
    assert blocks(line) == [PlanBlock((PlanEntry("a", PlanStatus.IN_PROGRESS),))]


def test_a_failure_has_its_reason() -> None:
    """The reason is an error; the output beside it is shown unless it is the same."""
    assert blocks(ended(**failure("x"), output="more")) == [ErrorBlock("No."), ContentBlock("more")]
    assert blocks(ended(**failure("x"), output="No.")) == [ErrorBlock("No.")]
    assert blocks(ended(status="error", error="No.")) == [ErrorBlock("No.")]
    assert blocks(ended()) == []


def test_a_text_is_shown_by_what_the_tool_does() -> None:
    """The content of a file has line numbers, a page is Markdown, and a remark is a line."""
    cases: list[tuple[str, dict[str, Any] | None, Block]] = [
        ("read_file", {"start_line": 5}, ContentBlock("x", 5)),
        ("read_file", {"offset": 5}, ContentBlock("x", 6)),
        ("read_file", {"offset": -5}, ContentBlock("x", 1)),
        ("read_file", None, ContentBlock("x", 1)),
        ("web_fetch", None, MarkdownBlock("x")),
        ("google_web_search", None, MarkdownBlock("x")),
        ("glob", None, ContentBlock("x")),
        ("replace", None, TextBlock("message", "x")),
        ("write_todos", None, TextBlock("message", "x")),
    ]
    for name, arguments, block in cases:
        with case((name, arguments)):
            assert content_block(tool_named(name), "x", arguments) == block


def test_an_image_is_named_and_not_dumped() -> None:
    """Data in a result has a type and a size, also inside a response."""
    data = {"inlineData": {"mimeType": "image/png", "data": "QUJD" + "QQ=="}}
    response = {
        "functionResponse": {"parts": [data, 1, {"inlineData": {"data": 1}}, {"inlineData": {"x": 1}}]}
    }
    assert list(part_blocks([data, "x", response])) == [
        BinaryBlock("image/png", 4),
        BinaryBlock("image/png", 4),
        BinaryBlock("binary", None),
        BinaryBlock("binary", None),
    ]
