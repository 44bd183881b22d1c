"""The blocks of a call in a chat file: its arguments and its result are in one line."""

from __future__ import annotations

from typing import Any

from agentwatch.agents.gemini.agent import CHAT as AGENT
from agentwatch.session.blocks import (
    BinaryBlock,
    Block,
    ChangeBlock,
    ContentBlock,
    ErrorBlock,
    FieldsBlock,
    OutputBlock,
    PlanBlock,
    TextBlock,
)
from tests.builders.formats.gemini_chat import answer, call, replaced, response
from tests.conftest import case

ARGUMENTS = FieldsBlock("arguments", {"pattern": "*"})


def blocks(line: dict[str, Any]) -> list[Block]:
    """Return the blocks of the call `c-1`."""
    return list(AGENT.blocks(line, "c-1"))


def of_call(**fields: Any) -> list[Block]:
    """Return the blocks of a call in an answer with another call."""
    return blocks(answer("", "a1", call("c-0"), call(**fields)))


def test_a_change_of_a_file_is_drawn_once() -> None:
    """The diff of the result replaces the texts in the arguments."""
    shown = {"fileDiff": "@@ -1 +1 @@\n-x\n+y", "originalContent": "x", "newContent": "y"}
    arguments = {"file_path": "a", "old_string": "x", "new_string": "y"}
    done = response(output="Edited.")
    assert of_call(name="replace", args=arguments, resultDisplay=shown, result=done) == [
        FieldsBlock("arguments", {"file_path": "a"}),
        ChangeBlock(shown["fileDiff"], "x", "y"),
        TextBlock("message", "Edited."),
    ]
    odd = {"fileDiff": "@@", "originalContent": None, "newContent": 1}
    assert ChangeBlock("@@", None, None) in of_call(name="replace", args={}, resultDisplay=odd)


def test_a_command_has_its_output() -> None:
    """What the agent showed is the output; without it, what the model was given."""
    given = response(output="Output: x\nExit Code: 1")
    assert of_call(name="run_shell_command", resultDisplay="x", result=given)[1:] == [
        OutputBlock("stdout", "x")
    ]
    terminal = [[{"text": "a"}, {"text": "b"}], [{"text": "c"}], [], 1]
    assert of_call(name="run_shell_command", resultDisplay=terminal)[1:] == [OutputBlock("stdout", "ab\nc")]
    assert of_call(name="run_shell_command", resultDisplay="", result=given)[1:] == [
        OutputBlock("stdout", "Output: x\nExit Code: 1")
    ]


def test_a_result_has_its_text() -> None:
    """What the model was given is shown before the agent's summary of it."""
    cases: list[tuple[dict[str, Any], Block]] = [
        ({"result": response(output="x"), "resultDisplay": "Found 1."}, ContentBlock("x")),
        ({"result": response(content=[{"text": "x"}])}, ContentBlock("x")),
        ({"result": [*response(output="x"), {"text": "y"}]}, ContentBlock("x\ny")),
        ({"resultDisplay": "Found 1."}, ContentBlock("Found 1.")),
        ({"status": "error", "result": response(error="No.")}, ErrorBlock("No.")),
    ]
    for fields, expected in cases:
        with case(fields):
            assert of_call(**fields) == [ARGUMENTS, expected]


def test_a_result_may_be_empty() -> None:
    """A call without a result has its arguments."""
    assert of_call() == of_call(resultDisplay={}) == [ARGUMENTS]


def test_an_image_is_named_and_not_dumped() -> None:
    """Data in a result has a type and a size."""
    data = [{"inlineData": {"mimeType": "image/png", "data": "QUJD"}}]
    assert of_call(result=data) == [ARGUMENTS, BinaryBlock("image/png", 3)]


def test_a_to_do_list_is_a_plan() -> None:
    """The entries are drawn with their states."""
    [plan] = of_call(name="write_todos", args={"todos": [{"description": "a"}]})
    assert isinstance(plan, PlanBlock)


def test_a_call_is_found_among_all_messages() -> None:
    """The line that replaces all messages may be the one that ends a call."""
    assert blocks(replaced(answer("", "a0"), answer("", "a1", call()))) == [ARGUMENTS]
    assert blocks(answer("", "a1", call("other"))) == []
