"""A line of Copilot has a type with a dot, an object and an id."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from agentwatch.wire.agent import LineRole
from agentwatch.wire.agents import detect
from agentwatch.wire.copilot import AGENT
from tests.builders.agents.decoded import lines_of, session_of
from tests.conftest import SHARED
from tests.wire.copilot.lines import ended, message, passing, start, started, user

SAMPLES = sorted((SHARED / "disk/copilot-events").rglob("*.jsonl"))


def name_of(path: Path) -> str:
    """Return a short name of a sample."""
    return f"{path.parent.name[:12]}/{path.stem}"


@pytest.mark.parametrize("cut", [0, 1, 3, 8])
@pytest.mark.parametrize("path", SAMPLES, ids=name_of)
def test_a_sample_is_recognised_without_its_first_lines(path: Path, cut: int) -> None:
    """With its first lines cut off, a sample is still Copilot's."""
    rest = lines_of(path)[cut:]
    assert session_of(None, *rest).format == ("copilot" if rest else None)


@pytest.mark.parametrize(
    "line",
    [
        start(),
        message("x"),
        passing("mcp.tools.list_changed"),
        {"type": "result", "sessionId": "s", "exitCode": 0},
        {"type": "assistant.message", "data": {"messageId": "m", "content": "x"}},
        {"type": "tool.execution_start", "data": {"toolCallId": "c"}},
        {"type": "session.start", "data": {"copilotVersion": "1.0.7"}},
    ],
    ids=lambda line: line["type"],
)
def test_a_line_is_recognised(line: dict[str, Any]) -> None:
    """On disk, in the stream, and its result line."""
    assert detect(line) is AGENT


@pytest.mark.parametrize(
    "line",
    [
        {"type": "org.example.event", "data": {}, "id": "1", "specversion": "1.0"},
        *({"type": "session.start", "data": [], "id": "1"}, {"type": "session.start", "data": {}}),
        *({"type": "assistant.message", "data": {"text": "x"}}, {"type": "user.message", "data": {}}),
        *({"type": "session", "data": {}, "id": "1"}, {"type": 7, "data": {}, "id": "1"}),
        *({"type": "result", "exitCode": 0}, {"type": "result", "sessionId": "s"}),
    ],
    ids=str,
)
def test_another_line_is_not(line: dict[str, Any]) -> None:
    """An envelope that others use too, or one that is not whole."""
    assert detect(line) is not AGENT


def test_a_line_has_its_role() -> None:
    """A message to a subagent starts nothing."""
    assert AGENT.role(start()) is AGENT.role(user("x")) is LineRole.START
    assert AGENT.role(started("c", "ls")) is AGENT.role(ended("c")) is LineRole.CALL
    assert AGENT.role(user("x", "a")) is AGENT.role(message("x")) is LineRole.OTHER
