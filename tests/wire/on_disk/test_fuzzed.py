"""A file on disk that is cut, or whose lines come in any order, has no other calls."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import orjson
import pytest

from agentwatch.session import Place, Session
from agentwatch.wire.agent import Agent
from agentwatch.wire.agents import agent_named
from tests.conftest import SHARED

SAMPLES = [
    ("claude-transcript", path)
    for folder in ("agents", "disk")
    for path in sorted((SHARED / folder / "claude-transcript").rglob("*.jsonl"))
] + [("qwen-chat", path) for path in sorted((SHARED / "disk/qwen-chat").rglob("*.jsonl"))]
samples = pytest.mark.parametrize(
    ("name", "path"), SAMPLES, ids=[f"{name}-{path.stem}" for name, path in SAMPLES]
)


def agent(name: str) -> Agent:
    """Return the agent of a format."""
    found = agent_named(name)
    assert found is not None
    return found


def lines_of(path: Path) -> list[dict[str, Any]]:
    """Return the lines of a sample."""
    return [orjson.loads(line) for line in path.read_bytes().splitlines()]


def check(name: str, lines: list[dict[str, Any]]) -> Session:
    """Decode and apply lines, ask for their roles and blocks, and return the session."""
    format_, session = agent(name), Session()
    decoder = format_.decoder()
    for number, line in enumerate(lines):
        session.apply(decoder.decode(line), Place(number, 1, None))
        format_.recognises(line)
        format_.role(line)
        list(format_.blocks(line, "x"))
    session.apply(decoder.end(), Place(len(lines), 0, None), 0)
    session.close()
    assert session.run.text is not None
    return session


@samples
def test_a_file_may_be_cut_anywhere(name: str, path: Path) -> None:
    """A file that lacks its first or its last lines has the same calls in the lines that remain."""
    lines = lines_of(path)
    whole = check(name, lines)
    for cut in range(0, len(lines), max(len(lines) // 40, 1)):
        head, tail = check(name, lines[:cut]), check(name, lines[cut:])
        ids = [call.call_id for call in whole.calls]
        assert [call.call_id for call in head.calls] == ids[: len(head.calls)]
        assert {call.call_id for call in tail.calls} <= set(ids)
        assert head.run.turns <= len(lines)


@samples
def test_lines_may_come_in_any_order(name: str, path: Path) -> None:
    """Shuffled lines invent no call."""
    lines = lines_of(path)
    ids = {call.call_id for call in check(name, lines).calls}
    random.Random(1).shuffle(lines)
    assert {call.call_id for call in check(name, lines).calls} <= ids
