"""Gemini's lines are recognised, and no field, cut or order of them is an error."""

from __future__ import annotations

from typing import Any

import pytest

from agentwatch.agents import LineRole
from agentwatch.agents.gemini.agent import AGENT
from agentwatch.agents.registry import detect
from tests.builders.formats.gemini import (
    AT,
    DONE,
    INIT,
    USER,
    delta,
    ended,
    failure,
    notice,
    use,
)
from tests.builders.formats.wrong_types import check_cuts, check_wrong_types, outcomes, read
from tests.conftest import case

LINES = [
    *(INIT, USER, delta("A"), use("replace", "a", file_path="a.py", old_string="x", new_string="y")),
    *(use("write_todos", "b", todos=[{"description": "d", "status": "pending"}]), ended("a", output="ok")),
    *(ended("b", **failure("file_not_found")), notice("careful", "warning"), delta("B"), DONE),
]


def test_each_line_is_recognised() -> None:
    """Each type of line is recognised by its own keys, so that a stream without its head is read too."""
    cases: list[dict[str, Any]] = [
        INIT,
        USER,
        delta("x"),
        use("glob"),
        ended(),
        notice("x"),
        DONE,
        DONE | {"status": "error"},
    ]
    for line in cases:
        with case(line):
            assert detect(line, is_first=False) is AGENT


def test_a_line_of_another_agent_is_not_recognised() -> None:
    """A line with another agent's fields, or without Gemini's, is not Gemini's."""
    cases: list[dict[str, Any]] = [
        {"type": "init"},
        USER | {"session_id": "s"},
        USER | {"message": {}},
        {"type": "tool_use", "sessionID": "s", "timestamp": AT, "part": {}},
        {"type": "tool_use", "timestamp": 1, "tool_id": "x", "tool_name": "x"},
        {"type": "result", "timestamp": AT, "sessionId": "s", "exitCode": 0},
        {"type": "result", "timestamp": AT, "status": []},
        {"type": "result", "timestamp": AT, "status": "odd"},
        {"type": "error", "timestamp": AT},
        {"type": "weather", "timestamp": AT},
    ]
    for line in cases:
        with case(line):
            assert not AGENT.recognises(line)


def test_each_line_has_a_role() -> None:
    """The init and the prompt start a run, calls are calls, and all other lines are neither."""
    lines = [INIT, USER, delta("x"), use("glob"), ended(), notice("x"), DONE]
    start, call, other = LineRole.START, LineRole.CALL, LineRole.OTHER
    assert [AGENT.role(line) for line in lines] == [start, start, other, call, call, other, other]


@pytest.mark.system
def test_any_field_may_have_any_type() -> None:
    """No value of any field is an error, and every line is counted."""
    check_wrong_types(AGENT, LINES, "a")


def test_a_stream_that_is_cut_invents_nothing() -> None:
    """A stream that ends after any line has a beginning of the text, and no call that had not ended."""
    check_cuts(AGENT, LINES)


def test_the_ends_of_a_batch_may_come_in_any_order() -> None:
    """The order of the ends of a batch changes no outcome."""
    other = [*LINES[:5], LINES[6], LINES[5], *LINES[7:]]
    assert outcomes(read(AGENT, other)) == outcomes(read(AGENT, LINES))
