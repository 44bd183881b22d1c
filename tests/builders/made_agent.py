"""Agents whose lines mean what a test wants, and one that is known late."""

import json
from collections.abc import Iterable, Sequence
from pathlib import Path

import pytest

from agentwatch.agents import LineRole, registry
from agentwatch.agents.agent import Agent
from agentwatch.agents.fields import Fields
from agentwatch.session.blocks import Block
from agentwatch.session.events import Event, Prompt, RunStarted, Traits
from tests.builders.lines import line

_START_MS = 1_770_000_000_000


class MadeSession:
    """The events of a recording, one per line, and the blocks of its calls."""

    def __init__(self, events: Sequence[Event], blocks: dict[str, Sequence[Block]] | None = None) -> None:
        self.events = list(events)
        self.blocks = blocks or {}
        self.traits = Traits()

    def decode(self, fields: Fields) -> list[Event]:
        """Return the event that a line names."""
        number = fields.get("event")
        return [self.events[number]] if isinstance(number, int) else []

    def end(self) -> list[Event]:
        """Return nothing: no state is kept."""
        return []

    def save(self, path: Path, *, seconds_apart: float = 1.0) -> Path:
        """Write the recording with the arrival times of its lines, and return its path."""
        lines = [json.dumps({"type": "made", "event": number}) for number in range(len(self.events))]
        path.write_text("".join(f"{each}\n" for each in lines))
        offset, times = 0, []
        for number, each in enumerate(lines):
            times.append(f"{offset} {_START_MS + round(1000 * seconds_apart * number)}\n")
            offset += len(each) + 1
        path.with_suffix(".times").write_text("".join(times))
        return path

    def use(self, monkeypatch: pytest.MonkeyPatch, traits: Traits | None = None) -> None:
        """Add the agent to the known ones, in place of one made before, for the duration of a test."""
        others = [each for each in registry.known_agents() if each.agent != "made"]
        known = (*others, self.agent(traits))
        monkeypatch.setattr(registry, "known_agents", lambda: known)

    def agent(self, traits: Traits | None = None) -> Agent:
        def blocks(_fields: Fields, call_id: str) -> Iterable[Block]:
            return self.blocks.get(call_id, ())

        return Agent(
            name="made-format",
            agent="made",
            recognises=lambda fields: fields.get("type") == "made",
            role=lambda _fields: LineRole.OTHER,
            decoder=lambda: self,
            blocks=blocks,
            traits=traits or self.traits,
        )


class LateDecoder:
    """Decodes a format whose first line, a prompt, could be any agent's."""

    def decode(self, fields: Fields) -> list[Event]:
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
