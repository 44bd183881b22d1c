"""No line makes the decoders of Pi raise, and nothing is made of a line that says nothing."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from agentwatch.wire.agents import agent_named
from tests.builders.agents.decoded import Line, events_of, ids_in, lines_of, session_of, with_each_key_wrong
from tests.wire.pi.test_recognition import SAMPLES


def _name(path: Path) -> str:
    return path.stem[:24]


@pytest.mark.parametrize("path", SAMPLES, ids=_name)
def test_a_key_of_any_type_is_data(path: Path) -> None:
    """With each key of a sample absent or of each wrong type, all lines are counted, and no call is new."""
    agent, lines = agent_named(SAMPLES[path]), lines_of(path)
    assert agent is not None
    ids = {*ids_in(session_of(agent, *lines)), "", "x", "y"}
    for key, mangled in with_each_key_wrong(lines):
        seen = session_of(agent, *mangled)
        assert seen.lines.events + seen.lines.unknown == len(lines), key
        assert set(ids_in(seen)) <= ids, key
        for line in mangled:
            for call_id in ids:
                list(agent.blocks(line, call_id))
            agent.role(line), agent.recognises(line)


@pytest.mark.parametrize("path", SAMPLES, ids=_name)
def test_a_sample_may_be_cut_at_every_line(path: Path) -> None:
    """Of the first lines, calls and text are the first of the whole; the last lines alone are read too."""
    agent, lines = agent_named(SAMPLES[path]), lines_of(path)
    assert agent is not None
    whole = session_of(agent, *lines)
    for number in range(len(lines)):
        seen = session_of(agent, *lines[:number])
        assert ids_in(whole)[: len(seen.calls)] == ids_in(seen)
        assert whole.text.startswith(seen.text)
        assert set(ids_in(session_of(agent, *lines[number:]))) <= set(ids_in(whole))


@pytest.mark.parametrize("path", [path for path in SAMPLES if SAMPLES[path] == "pi"], ids=_name)
def test_parallel_calls_may_start_and_end_in_any_order(path: Path) -> None:
    """Lines of the calls of one step, in any order of which each starts and ends, make the same calls."""
    agent, lines = agent_named("pi"), lines_of(path)
    whole = {made.call_id: (made.outcome, made.target) for made in session_of(agent, *lines).calls}
    for seed in range(20):
        seen = session_of(agent, *_shuffled(lines, random.Random(seed)))
        assert {made.call_id: (made.outcome, made.target) for made in seen.calls} == whole


def _shuffled(lines: list[Line], rng: random.Random) -> list[Line]:
    """Return lines in which neighbours about different calls have changed places."""
    found = list(lines)
    for _ in range(50):
        number = rng.randrange(len(found) - 1)
        calls = [line.get("toolCallId") for line in found[number : number + 2]]
        if None not in calls and calls[0] != calls[1]:
            found[number : number + 2] = reversed(found[number : number + 2])
    return found


def test_an_empty_line_is_unknown() -> None:
    """A line without a type is unknown to both decoders."""
    for name in ("pi", "pi-session"):
        agent = agent_named(name)
        assert agent is not None
        assert len(events_of(agent, {}, {"type": {}})) == 2
