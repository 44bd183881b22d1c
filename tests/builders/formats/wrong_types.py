"""Recordings of one agent, whole and cut, and copies of a line in which one field has another type."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from agentwatch.analysis.block_text import block_text
from agentwatch.events import Outcome
from agentwatch.session import Place, Session
from agentwatch.wire import Agent, Decoder
from agentwatch.wire.json_line import parse

WRONG: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 1.5, 1e300, 1 << 63, "", "x" * 5000, "2026-13-45T99:99:99Z", "0001-01-01"),
    *([], [1], [[]], [{}], {}, {"": 1}, {"text": 1}, "{}", '{"a":1}', "\ud83d"),
)
_MOST_DEPTH = 8


def read(agent: Agent, lines: list[Any]) -> Session:
    """Return the session of lines that are all read with one agent's format."""
    decoder, found = Decoder(agent), Session()
    found.format, found.traits = agent.name, agent.traits
    for number, line in enumerate(lines):
        found.apply(decoder.decode(json.dumps(line).encode()), Place(number, 1, None))
    found.apply(decoder.end(), Place(len(lines), 0, None), 0)
    found.close()
    return found


def variants(value: Any, depth: int = 0) -> Iterator[Any]:
    """Yield copies of a JSON value; in each, one member or one item is absent or has another value."""
    if isinstance(value, dict) and depth < _MOST_DEPTH:
        for key, inner in value.items():
            yield {other: each for other, each in value.items() if other != key}
            for wrong in (*WRONG, *variants(inner, depth + 1)):
                yield value | {key: wrong}
    elif isinstance(value, list) and depth < _MOST_DEPTH:
        for number, inner in enumerate(value):
            for wrong in (*WRONG, *variants(inner, depth + 1)):
                yield [*value[:number], wrong, *value[number + 1 :]]


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
