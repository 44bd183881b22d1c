"""Recordings of one agent: whole, cut, and with fields that are absent or of another type."""

from __future__ import annotations

import json
from typing import Any

from agentwatch.agents import Agent, Decoder
from agentwatch.agents.json_line import parse
from agentwatch.analysis.block_text import block_text
from agentwatch.api.check_agent import variants
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


def texts(agent: Agent, line: Any, call_id: str) -> list[str]:
    """Return the texts of the blocks of a line."""
    fields = parse(json.dumps(line).encode())
    assert isinstance(fields, dict)
    return [block_text(block) for block in agent.blocks(fields, call_id)]


def check_cuts(agent: Agent, lines: list[Any]) -> None:
    """Check that a recording that ends after any line invents nothing, and that every line is counted."""
    whole = read(agent, lines)
    for number in range(1, len(lines)):
        found = read(agent, lines[:number])
        assert found.lines.total == number
        assert whole.text.startswith(found.text)
        for call_id, outcome in outcomes(found).items():
            assert outcome in (outcomes(whole)[call_id], Outcome.UNFINISHED)


def check_wrong_types(agent: Agent, lines: list[Any], call_id: str) -> None:
    """Check that a field of any type is data: no error occurs, and every line is counted."""
    for number, line in enumerate(lines):
        for variant in variants(line):
            found = read(agent, [*lines[:number], variant, *lines[number + 1 :]])
            assert found.lines.total == found.lines.events + found.lines.unknown == len(lines)
            assert isinstance(texts(agent, variant, call_id), list)
            fields = parse(json.dumps(variant).encode())
            assert isinstance(fields, dict)
            agent.recognises(fields)
            agent.role(fields)
            assert agent.time_of is None or isinstance(agent.time_of(fields), int | None)
