"""The arguments and the results of Pi's calls as blocks."""

from __future__ import annotations

from agentwatch.agents.pi.agent import AGENT, SESSION
from agentwatch.session.blocks import (
    BinaryBlock,
    ChangeBlock,
    ContentBlock,
    ErrorBlock,
    FieldsBlock,
    OutputBlock,
    TextBlock,
)
from tests.agents.pi.lines import assistant, call, ended, entry, started


def test_short_arguments_are_one_block() -> None:
    """Texts of several lines follow, each by itself; the content of a file is a change."""
    line = started("c", "write", path="a", content="1\n2", remark="x\ny", empty="")
    assert list(AGENT.blocks(line, "c")) == [
        ChangeBlock(None, after="1\n2"),
        FieldsBlock("arguments", {"path": "a"}),
        TextBlock("remark", "x\ny"),
    ]
    assert list(AGENT.blocks(started("c", "ls"), "c")) == []


def test_a_message_has_the_arguments_of_each_of_its_calls() -> None:
    """Only those of the call that is asked for are shown."""
    line = entry("e", None, assistant(call("a", "ls", path="x"), call("b", "ls", path="y"), stop="toolUse"))
    assert list(SESSION.blocks(line, "b")) == [FieldsBlock("arguments", {"path": "y"})]
    assert list(SESSION.blocks(line, "c")) == []


def test_a_result_is_what_its_tool_returns() -> None:
    """Output of a command, the content of a file, a diff, or why it failed."""
    results = {
        ("bash", "x\n", True): [OutputBlock("stdout", "x\n")],
        ("bash", "", False): [],
        ("read", "x\n", False): [ContentBlock("x\n")],
        ("read", "", False): [],
        ("write", "ok", False): [TextBlock("result", "ok")],
        ("read", "no", True): [ErrorBlock("no")],
        ("read", "", True): [ErrorBlock("the tool failed")],
    }
    for (name, words, is_error), expected in results.items():
        assert list(AGENT.blocks(ended("c", name, words, is_error=is_error), "c")) == expected
    edited = ended("c", "edit", "ok", diff="-1 a\n+1 b", firstChangedLine=1)
    assert list(AGENT.blocks(edited, "c")) == [
        ChangeBlock("@@ -1,1 +1,1 @@\n-a\n+b"),
        FieldsBlock("result", {"firstChangedLine": 1}),
    ]


def test_an_image_is_named_with_its_size() -> None:
    """Its data is never shown, in a session file as in the stream."""
    parts = [{"type": "image", "data": "AAA=", "mimeType": "image/png"}, {"type": "image"}]
    message = {"role": "toolResult", "toolName": ["?"], "content": parts, "isError": False}
    assert list(SESSION.blocks(entry("e", None, message), "c")) == [
        BinaryBlock("image/png", 2),
        BinaryBlock("image", None),
    ]
