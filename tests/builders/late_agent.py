"""An agent that is only known from its second line on, beside those that the project knows."""

from __future__ import annotations

import pytest

from agentwatch.agents import LineRole, registry
from agentwatch.agents.agent import Agent
from agentwatch.agents.fields import Fields
from agentwatch.session.events import Event, Prompt, RunStarted, Traits
from tests.builders.lines import line


class LateDecoder:
    """Decodes a format whose first line, a prompt, could be any agent's."""

    def decode(self, fields: Fields) -> list[Event]:
        """Return the events of one line."""
        if fields.get("type") == "late/start":
            return [RunStarted("late")]
        return [Prompt(str(fields.get("text")))]

    def end(self) -> list[Event]:
        """Return nothing: no state is kept."""
        return []


LATE = Agent(
    name="late",
    recognises=lambda fields: fields.get("type") == "late/start",
    role=lambda fields: LineRole.START if fields.get("type") == "late/start" else LineRole.OTHER,
    decoder=LateDecoder,
    blocks=lambda _fields, _call_id: (),
    traits=Traits(has_result=False),
)
ASKED = line({"type": "asked", "text": "Do it."})
LATE_START = line({"type": "late/start"})


def add_late_agent(monkeypatch: pytest.MonkeyPatch) -> None:
    """Add the agent to the known ones for the duration of a test."""
    known = (*registry.known_agents(), LATE)
    monkeypatch.setattr(registry, "known_agents", lambda: known)
