"""Recordings of one agent: whole, cut, and with fields that are absent or of another type."""

from __future__ import annotations

import json
from typing import Any

from agentwatch.agents import Agent, Decoder
from agentwatch.session.call import Place
from agentwatch.session.events import Outcome
from agentwatch.session.reducers import apply_line, close_session
from agentwatch.session.session import Session


def read(agent: Agent, lines: list[Any]) -> Session:
    """Return the session of lines that are all read with one agent's format."""
    decoder, found = Decoder(agent), Session()
    found.format, found.traits = agent.name, agent.traits
    for number, line in enumerate(lines):
        apply_line(found, decoder.decode(json.dumps(line).encode()), Place(number, 1, None))
    apply_line(found, decoder.end(), Place(len(lines), 0, None), 0)
    close_session(found)
    return found


def outcomes(found: Session) -> dict[str, Outcome]:
    """Return the outcome of each call."""
    return {call.call_id: call.outcome for call in found.calls}
