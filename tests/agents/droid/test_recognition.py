"""The lines of Droid are recognised by what only it writes, and have roles."""

from __future__ import annotations

from typing import Any

from agentwatch.agents import LineRole
from agentwatch.agents.droid.agent import AGENT
from agentwatch.agents.registry import detect
from tests.builders.formats.droid import ERROR, INIT, LINES, completion
from tests.conftest import case


def test_each_line_is_recognised() -> None:
    """Each type of line is recognised by its own keys; the init without the effort has tools alone."""
    cases: list[dict[str, Any]] = [
        *LINES[:3],
        *LINES[5:8],
        completion(),
        {key: INIT[key] for key in INIT if key != "reasoning_effort"},
    ]
    for each in cases:
        with case(each):
            found = detect(each, is_first=False)
            assert found is not None
            assert found.name == "droid"


def test_a_line_of_another_agent_is_not_recognised() -> None:
    """A line with another agent's fields, or without Droid's, is not Droid's."""
    cases: list[dict[str, Any]] = [
        INIT | {"permissionMode": "default"},
        INIT | {"uuid": "u"},
        INIT | {"session_id": "T-1"},
        INIT | {"session_id": 1},
        INIT | {"subtype": "x"},
        {"type": "system", "subtype": "init", "session_id": "s"},
        {"type": "tool_call", "subtype": "started", "call_id": "c", "toolName": "x"},
        {"type": "tool_call", "id": "t", "parameters": {}},
        {"type": "message", "role": "user", "content": "x"},
        {"type": "weather"},
        ERROR,
    ]
    for other in cases:
        with case(other):
            assert not AGENT.recognises(other)


def test_each_line_has_a_role() -> None:
    """The init and the prompt start a run, calls are calls, and all other lines are neither."""
    start, call, other = LineRole.START, LineRole.CALL, LineRole.OTHER
    roles = [start, start, other, other, other, call, call, call, call, other, other, other]
    assert [AGENT.role(each) for each in LINES] == roles
