"""The arguments and the result of a call are divided into blocks."""

from __future__ import annotations

from typing import Any

from agentwatch.agents import Decoder
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
    TextBlock,
)
from agentwatch.session.events import PlanEntry, PlanStatus
from tests.agents.opencode.lines import begun, stored_call, used

DIFF = "--- a\n+++ a\n@@ -1 +1 @@\n-x\n+y\n"


def blocks(data: bytes) -> list[Block]:
    """Return the blocks of a line."""
    decoder = Decoder()
    decoder.decode(begun())
    return decoder.blocks(data.rstrip())


def of(tool: str, status: str = "completed", **state: Any) -> list[Block]:
    """Return the blocks of a call in the stream."""
    return blocks(used(tool, status, **state))


def test_a_command_has_its_description_and_its_output() -> None:
    """The only line of a call has its arguments and its result."""
    state: dict[str, Any] = {
        "input": {"command": "make", "description": "Build"},
        "output": "done\n",
        "metadata": {"exit": 0},
    }
    assert of("bash", **state) == [
        TextBlock("description", "Build"),
        FieldsBlock("arguments", {"command": "make"}),
        OutputBlock("stdout", "done\n"),
    ]


def test_a_stored_call_has_its_arguments_in_one_line_and_its_result_in_another() -> None:
    """The line of an open call has no result, and that of its end no arguments."""
    assert blocks(stored_call("running")) == [FieldsBlock("arguments", {"command": "make"})]
    assert blocks(stored_call("completed", output="done")) == [OutputBlock("stdout", "done")]
    assert blocks(stored_call("pending", input={})) == []


def test_an_edit_is_shown_as_its_diff() -> None:
    """The texts of the arguments are in the diff; without one they are shown."""
    arguments = {"filePath": "a", "oldString": "x\n1", "newString": "y"}
    found = of(
        "edit", input=arguments, output="Edit applied.", metadata={"diff": DIFF, "filediff": {"file": "a"}}
    )
    assert found == [FieldsBlock("arguments", {"filePath": "a"}), ChangeBlock(DIFF)]
    found = of("edit", input=arguments, metadata={"filediff": {"patch": DIFF, "before": "x", "after": "y"}})
    assert found[1:] == [ChangeBlock(DIFF, "x", "y")]
    assert of("edit", metadata={"diff": f"Index: a\n====\n{DIFF}"}) == [ChangeBlock(DIFF)]
    assert of("edit", metadata={"diff": "Index: a"}) == [ChangeBlock("Index: a")]
    assert of("edit", "error", input=arguments, error="no match") == [
        FieldsBlock("arguments", {"filePath": "a", "newString": "y"}),
        TextBlock("oldString", "x\n1"),
        ErrorBlock("no match"),
    ]


def test_each_file_of_a_patch_has_its_diff() -> None:
    """The metadata has the diff of each file, as `patch` or as `diff`; one without both is left out."""
    files = [{"patch": "1"}, {"diff": "2"}, {"before": "", "after": "x"}, {"additions": 1}, 7]
    found = of(
        "apply_patch", input={"patchText": "*** Begin Patch\n"}, metadata={"files": files, "diff": "all"}
    )
    assert found == [ChangeBlock("1"), ChangeBlock("2"), ChangeBlock(None, "", "x")]
    found = of("multiedit", input={"edits": [1]}, metadata={"results": [{"filediff": {"patch": DIFF}}]})
    assert found == [ChangeBlock(DIFF)]


def test_diagnostics_after_an_edit_are_shown() -> None:
    """An output of one line only confirms the edit."""
    assert of("write", output="Wrote file.") == []
    assert of("write", output="Wrote file.\n\nLSP errors") == [
        TextBlock("output", "Wrote file.\n\nLSP errors")
    ]


def test_a_written_file_is_shown_as_content() -> None:
    """The content of a new file is code; other texts of several lines have a title."""
    found = of("write", input={"filePath": "a", "content": "x\ny", "note": "1\n2"})
    assert found == [
        FieldsBlock("arguments", {"filePath": "a"}),
        ContentBlock("x\ny"),
        TextBlock("note", "1\n2"),
    ]


def test_a_file_is_shown_without_its_frame() -> None:
    """The metadata has the text that the model got with line numbers and tags around it."""
    display = {"text": "banana", "lineStart": 7}
    assert of("read", output="<path>", metadata={"display": display}) == [ContentBlock("banana", 7)]
    assert of("read", output="<path>", metadata={"display": {"text": "x"}}) == [ContentBlock("x", 1)]
    assert of("read", output="<path>") == [ContentBlock("<path>")]


def test_other_results_have_their_own_blocks() -> None:
    """Pages are Markdown, found files a list, the to-do list a plan."""
    assert of("webfetch", output="# A") == [MarkdownBlock("# A")]
    assert of("websearch", output="# A") == [MarkdownBlock("# A")]
    assert of("glob", output="a\nb") == [FilesBlock(("a", "b"))]
    assert of("grep", output="a:1") == [ContentBlock("a:1")]
    todos = [{"content": "A", "status": "pending"}]
    plan = PlanBlock((PlanEntry("A", PlanStatus.PENDING),))
    assert of("todowrite", input={"todos": todos}, output="[]", metadata={"todos": todos}) == [plan]
    assert of("todowrite", input={}) == []


def test_a_subagent_has_its_kind_and_its_answer() -> None:
    """The kind is named apart; the answer is Markdown; the remaining metadata are fields."""
    arguments = {"description": "Count", "subagent_type": "general"}
    found = of("task", input=arguments, output="3", metadata={"sessionId": "ses_2", "truncated": False})
    assert found == [
        TextBlock("subagent", "general"),
        FieldsBlock("arguments", {"description": "Count"}),
        MarkdownBlock("3"),
        FieldsBlock("result", {"sessionId": "ses_2"}),
    ]


def test_an_attachment_is_only_named() -> None:
    """An image is shown by its type and its size, which the length of a data URL gives."""
    urls = ["data:image/png;base64,AAAA", "data:image/png;base64,AAA=", "https://x.org/a.png", None]
    found = of("read", attachments=[{"mime": "image/png", "url": url} for url in urls] + [{}])
    assert [(block.media_type, block.size) for block in found if isinstance(block, BinaryBlock)] == [
        ("image/png", 3),
        ("image/png", 2),
        ("image/png", None),
        ("image/png", None),
        ("binary", None),
    ]


def test_what_a_stopped_command_had_printed_is_shown() -> None:
    """A failed call has no output of its own, but its metadata may have what came before."""
    found = of("bash", "error", error="Tool execution aborted", metadata={"output": "half"})
    assert found == [ErrorBlock("Tool execution aborted"), OutputBlock("stdout", "half")]
