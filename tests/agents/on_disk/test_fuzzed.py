"""A file on disk that is cut, or whose lines come in any order, has no other calls."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import orjson

from agentwatch.agents.agent import Agent
from agentwatch.agents.registry import agent_named
from agentwatch.session.call import Place
from agentwatch.session.reducers import apply_line, close_session
from agentwatch.session.session import Session
from tests.builders.captures import Captures
from tests.builders.formats.samples import of_a_format
from tests.conftest import case


def agent(name: str) -> Agent:
    """Return the agent of a format."""
    found = agent_named(name)
    assert found is not None
    return found


def files(captures: Captures) -> Iterator[tuple[str, str, list[dict[str, Any]]]]:
    """Yield the path, the format and the lines of each file of the two programs."""
    for title, data, name in of_a_format(captures):
        if name in ("claude-transcript", "qwen-chat"):
            yield title, name, [orjson.loads(line) for line in data.splitlines()]


def check(name: str, lines: list[dict[str, Any]]) -> Session:
    """Decode and apply lines, ask for their roles and blocks, and return the session."""
    format_, session = agent(name), Session()
    decoder = format_.decoder()
    for number, line in enumerate(lines):
        apply_line(session, decoder.decode(line), Place(number, 1, None))
        format_.recognises(line)
        format_.role(line)
        list(format_.blocks(line, "x"))
    apply_line(session, decoder.end(), Place(len(lines), 0, None), 0)
    close_session(session)
    assert session.run.text is not None
    return session


def test_a_file_may_be_cut_anywhere(captures: Captures) -> None:
    """A file that lacks its first or its last lines has the same calls in the lines that remain."""
    for title, name, lines in files(captures):
        ids = [call.call_id for call in check(name, lines).calls]
        for cut in range(0, len(lines), max(len(lines) // 40, 1)):
            with case(f"{title}, {cut}"):
                head, tail = check(name, lines[:cut]), check(name, lines[cut:])
                assert [call.call_id for call in head.calls] == ids[: len(head.calls)]
                assert {call.call_id for call in tail.calls} <= set(ids)
                assert head.run.turns <= len(lines)


def test_lines_may_come_in_any_order(captures: Captures) -> None:
    """Shuffled lines invent no call."""
    for title, name, lines in files(captures):
        with case(title):
            ids = {call.call_id for call in check(name, lines).calls}
            random.Random(1).shuffle(lines)
            assert {call.call_id for call in check(name, lines).calls} <= ids
