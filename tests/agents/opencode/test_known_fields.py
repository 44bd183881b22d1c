"""What this version does not know of opencode's lines is reported by name."""

from __future__ import annotations

import json
from typing import Any

from agentwatch.agents.opencode.agent import AGENT
from tests.agents.opencode.lines import (
    begun,
    finished,
    message,
    said,
    session_line,
    stored_call,
    streamed,
    used,
)
from tests.conftest import case

KNOWN = [
    *(begun(), said("x"), finished(tokens={"input": 1}), used("bash")),
    *(session_line(), message(), stored_call("running")),
]


def unknown(data: bytes, **more: Any) -> list[str]:
    """Return the names of what is unknown in a line."""
    assert AGENT.unknown_fields is not None
    return [what for what, _ in AGENT.unknown_fields(json.loads(data) | more)]


def test_known_lines_are_known() -> None:
    """The lines of captures have nothing unknown."""
    for data in KNOWN:
        with case(data):
            assert unknown(data) == []


def test_what_is_new_is_named() -> None:
    """A type, a part, a state, and fields of a line, a part, a state and the tokens."""
    assert unknown(streamed("weather")) == ["type weather"]
    assert unknown(begun(), mood=1) == ["field mood of an opencode line step_start"]
    assert unknown(streamed("text", part={"type": "poem"})) == ["part poem"]
    assert unknown(said("x", mood=1)) == ["field mood of a part text"]
    assert unknown(used("bash", "paused")) == ["state paused of a call"]
    assert unknown(used("bash", mood=1)) == ["field mood of a completed call"]
    assert unknown(finished(tokens={"mood": 1})) == ["field mood of the tokens of a step"]
