"""Recordings of one agent, whole and cut, and copies of a line with a field absent or of another type."""

from __future__ import annotations

import copy
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
"""Values that no field expects."""
ABSENT = object()
_MOST_DEPTH = 8
Path = tuple[Any, ...]


def read(agent: Agent, lines: list[Any]) -> Session:
    """Return the session of lines that are all read with one agent's format."""
    decoder, found = Decoder(agent), Session()
    found.format, found.traits = agent.name, agent.traits
    for number, line in enumerate(lines):
        found.apply(decoder.decode(json.dumps(line).encode()), Place(number, 1, None))
    found.apply(decoder.end(), Place(len(lines), 0, None), 0)
    found.close()
    return found


def paths(value: Any, most_items: int | None = None, depth: int = 0) -> Iterator[Path]:
    """Yield the path of each member and each item in a JSON value, at most 8 levels deep.

    Args:
        value: The value.
        most_items: The number of items of each array that count; None for all.
        depth: The number of levels above the value.
    """
    if depth == _MOST_DEPTH or not isinstance(value, dict | list):
        return
    for key in value if isinstance(value, dict) else range(len(value))[:most_items]:
        yield (key,)
        for inner in paths(value[key], most_items, depth + 1):
            yield (key, *inner)


def replaced(value: Any, path: Path, other: Any) -> Any:
    """Return a copy of a JSON value with another value at a path; `ABSENT` removes a member or an item."""
    if not path:
        return other
    key, *rest = path
    copied = copy.copy(value)
    if other is ABSENT and not rest:
        del copied[key]
    else:
        copied[key] = replaced(value[key], tuple(rest), other)
    return copied


def variants(value: Any, most_items: int | None = None) -> Iterator[Any]:
    """Yield copies of a JSON value; in each, one member or one item is absent or has another value."""
    for path in paths(value, most_items):
        for other in (ABSENT, *WRONG):
            yield replaced(value, path, other)


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
