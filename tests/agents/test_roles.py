"""The role of a line is known without the lines before it, and a start line may change the agent."""

from __future__ import annotations

import pytest

from agentwatch.agents import Decoder, LineRole
from agentwatch.agents.cursor.agent import AGENT
from agentwatch.session.events import FormatDetected, Prompt, RunStarted, Unknown
from tests.builders.late_agent import ASKED, LATE_START, add_late_agent
from tests.builders.lines import completed, delta, event, init, line, result, started, user
from tests.conftest import case


def test_a_line_has_a_role_of_its_own() -> None:
    """A decoder that has decoded nothing, or other lines, gives the same role."""
    cases: list[tuple[str, bytes, LineRole]] = [
        ("init", init(), LineRole.START),
        ("prompt", user(), LineRole.START),
        ("start", started("read"), LineRole.CALL),
        ("end", completed("read"), LineRole.CALL),
        ("delta", delta("x"), LineRole.OTHER),
        ("result", result(), LineRole.OTHER),
        ("unknown", line({"type": "hello"}), LineRole.OTHER),
        ("noise", b"not JSON\n", LineRole.OTHER),
        ("array", b"[1]\n", LineRole.OTHER),
        ("over 1 MiB", started("edit", streamContent="x" * (1 << 20)), LineRole.OTHER),
    ]
    for name, data, role in cases:
        with case(name):
            assert Decoder().role(data) is role
            decoder = Decoder()
            decoder.decode(init())
            assert decoder.role(data) is role


def test_a_start_line_of_another_agent_changes_the_agent(monkeypatch: pytest.MonkeyPatch) -> None:
    """After the start line of a second agent, lines are decoded by its format."""
    add_late_agent(monkeypatch)
    decoder = Decoder()
    assert decoder.decode(ASKED) == [Unknown("type asked", ASKED.decode().strip())]
    decoder.decode(init())
    detected = FormatDetected("cursor", AGENT.traits)
    assert decoder.take_redecoded() == [[detected, Unknown("type asked")]]
    assert decoder.take_redecoded() == []
    assert type(decoder.decode(LATE_START)[-1]) is RunStarted
    assert decoder.decode(ASKED) == [Prompt("Do it.")]


def test_any_other_unknown_line_does_not(monkeypatch: pytest.MonkeyPatch) -> None:
    """A line that no agent writes, and one of the second agent that starts no run, stay unknown."""
    add_late_agent(monkeypatch)
    decoder = Decoder()
    decoder.decode(init())
    assert decoder.decode(event("later")) == [Unknown("type later")]
    assert decoder.decode(ASKED) == [Unknown("type asked")]


def test_a_foreign_start_line_is_not_read_with_the_format_of_a_later_line() -> None:
    """If a kept line would start a run, but not one of the agent's own, the kept lines stay unknown."""
    decoder = Decoder()
    foreign = event("system", "greeting")
    assert decoder.decode(foreign) == [Unknown("type system", foreign.decode().strip())]
    assert type(decoder.decode(started("read"))[0]) is FormatDetected
    assert decoder.take_redecoded() == []
