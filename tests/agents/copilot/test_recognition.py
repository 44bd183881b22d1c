"""A line of Copilot has a type with a dot, an object and an id."""

from __future__ import annotations

from typing import Any

from agentwatch.agents.agent import LineRole
from agentwatch.agents.copilot.agent import AGENT
from agentwatch.agents.registry import detect
from tests.agents.copilot.lines import ended, message, passing, start, started, user
from tests.builders.agents.decoded import lines_of, session_of
from tests.builders.captures import Captures
from tests.conftest import case


def test_a_sample_is_recognised_without_its_first_lines(captures: Captures) -> None:
    """With its first lines cut off, a sample is still Copilot's."""
    for path in captures.find("disk/copilot-events/**/*.jsonl"):
        lines = lines_of(path)
        for cut in (0, 1, 3, 8):
            with case(f"{captures.name(path)}, {cut}"):
                assert session_of(None, *lines[cut:]).format == ("copilot" if lines[cut:] else None)


def test_a_line_is_recognised() -> None:
    """On disk, in the stream, and its result line."""
    cases: list[dict[str, Any]] = [
        start(),
        message("x"),
        passing("mcp.tools.list_changed"),
        {"type": "result", "sessionId": "s", "exitCode": 0},
        {"type": "assistant.message", "data": {"messageId": "m", "content": "x"}},
        {"type": "tool.execution_start", "data": {"toolCallId": "c"}},
        {"type": "session.start", "data": {"copilotVersion": "1.0.7"}},
    ]
    for line in cases:
        with case(line):
            assert detect(line) is AGENT


def test_another_line_is_not() -> None:
    """An envelope that others use too, or one that is not whole."""
    cases: list[dict[str, Any]] = [
        {"type": "org.example.event", "data": {}, "id": "1", "specversion": "1.0"},
        *({"type": "session.start", "data": [], "id": "1"}, {"type": "session.start", "data": {}}),
        *({"type": "assistant.message", "data": {"text": "x"}}, {"type": "user.message", "data": {}}),
        *({"type": "session", "data": {}, "id": "1"}, {"type": 7, "data": {}, "id": "1"}),
        *({"type": "result", "exitCode": 0}, {"type": "result", "sessionId": "s"}),
    ]
    for line in cases:
        with case(line):
            assert detect(line) is not AGENT


def test_a_line_has_its_role() -> None:
    """A message to a subagent starts nothing."""
    assert AGENT.role(start()) is AGENT.role(user("x")) is LineRole.START
    assert AGENT.role(started("c", "ls")) is AGENT.role(ended("c")) is LineRole.CALL
    assert AGENT.role(user("x", "a")) is AGENT.role(message("x")) is LineRole.OTHER
