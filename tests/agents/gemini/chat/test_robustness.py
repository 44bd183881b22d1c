"""The lines of chat files are recognised, and no field, cut or order of them is an error."""

from __future__ import annotations

from typing import Any

import pytest

from agentwatch.agents import LineRole
from agentwatch.agents.gemini.agent import CHAT as AGENT
from agentwatch.agents.registry import detect
from tests.builders.formats.gemini_chat import (
    AT,
    CONTEXT,
    ONE,
    START,
    TOKENS,
    TWO,
    answer,
    call,
    message,
    prompt,
    replaced,
    response,
    whole,
)
from tests.builders.formats.wrong_types import check_cuts, check_wrong_types, outcomes
from tests.conftest import case

SHOWN = {"fileDiff": "@@ -1 +1 @@\n-x\n+y", "originalContent": "x", "newContent": "y"}
OUTPUT = response(output="x")
LINES = [
    *(START | {"directories": ["/home/dev"]}, replaced(CONTEXT), ONE[0], answer("A", "a1", tokens=TOKENS)),
    answer("A", "a1", call("a", "replace", resultDisplay=SHOWN), call("b", status="error"), tokens=TOKENS),
    message("user", response(output="x"), "r"),
    answer(
        "B",
        "a2",
        call("c", "run_shell_command", resultDisplay=[[{"text": "x"}]], result=response(output="x")),
    ),
    *(replaced(CONTEXT, ONE[0], answer("A", "a1"), answer("B", "a2")), {"$rewindTo": "a2"}),
    *(message("info", "hi", "i"), prompt("More.", "p2"), message("error", "x", "e")),
]


def test_each_line_is_recognised() -> None:
    """Each type of line is recognised by its own keys, so that a file without its head is read too."""
    cases: list[dict[str, Any]] = [START, *ONE, replaced(), {"$rewindTo": "x"}, message("error", "x")]
    for line in cases:
        with case(line):
            assert detect(line, is_first=False) is AGENT


def test_a_line_of_another_agent_is_not_recognised() -> None:
    """A line with another agent's fields, or without Gemini's, is not Gemini's."""
    cases: list[dict[str, Any]] = [
        {"sessionId": "s", "type": "user"},
        {"$set": 1},
        {"$rewindTo": 1},
        message("user", "x") | {"uuid": "u"},
        message("user", "x") | {"role": "user"},
        message("message", "x"),
        {"type": "user", "id": "x", "timestamp": AT},
        {"type": "user", "id": 1, "timestamp": AT, "content": ""},
        {"type": "user", "id": "x", "timestamp": 1, "content": ""},
        {"type": []},
    ]
    for line in cases:
        with case(line):
            assert not AGENT.recognises(line)


def test_each_line_has_a_role() -> None:
    """The first line and a prompt start a run, an answer with calls is a call."""
    lines = [START, ONE[0], answer("", "a1", call()), ONE[1], replaced()]
    start, other = LineRole.START, LineRole.OTHER
    assert [AGENT.role(line) for line in lines] == [start, start, LineRole.CALL, other, other]


@pytest.mark.system
def test_any_field_may_have_any_type() -> None:
    """No value of any field is an error, and every line is counted."""
    check_wrong_types(AGENT, LINES, "a")


def test_a_file_that_is_cut_invents_nothing() -> None:
    """A file that ends after any line has a beginning of the text, and no call that had not ended."""
    check_cuts(AGENT, [*LINES[:7], *TWO])


def test_messages_of_one_turn_may_be_written_again_in_any_order() -> None:
    """Copies of messages change neither the text nor the calls."""
    lines = [ONE[0], answer("A", "a1", call("a")), answer("B", "a2", call("b")), answer("C", "a3")]
    for again in (lines[1], lines[2], lines[3]):
        found = whole(*lines, again)
        assert (found.text, outcomes(found)) == ("ABC", {"a": "succeeded", "b": "succeeded"})
