"""No line makes the decoders of Pi raise, and nothing is made of a line that says nothing."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import islice

import pytest

from tests.builders.agents.decoded import Line, events_of, ids_in, lines_of, session_of, with_each_key_wrong
from tests.builders.captures import Captures
from tests.builders.formats.samples import named
from tests.conftest import case


def samples(captures: Captures) -> Iterator[tuple[str, str, list[Line]]]:
    """Yield the name, the format and the lines of each capture."""
    for folder, name in (("agents/pi", "pi"), ("disk/pi-session", "pi-session")):
        for path in captures.find(f"{folder}/**/*.jsonl"):
            yield captures.name(path), name, lines_of(path)


@pytest.mark.system
@pytest.mark.parametrize("step", [8, pytest.param(1, marks=pytest.mark.system)])
def test_a_key_of_any_type_is_data(captures: Captures, step: int) -> None:
    """With each key of a sample absent or of each wrong type, all lines are counted, and no call is new."""
    for title, name, lines in samples(captures):
        agent = named(name)
        ids = {*ids_in(session_of(agent, *lines)), "", "x", "y"}
        for key, mangled in islice(with_each_key_wrong(lines), 0, None, step):
            with case(f"{title}, {key}"):
                seen = session_of(agent, *mangled)
                assert seen.lines.events + seen.lines.unknown == len(lines)
                assert set(ids_in(seen)) <= ids
                for line in mangled:
                    for call_id in ids:
                        list(agent.blocks(line, call_id))
                    agent.role(line), agent.recognises(line)


def test_a_sample_may_be_cut_at_every_line(captures: Captures) -> None:
    """Of the first lines, calls and text are the first of the whole; the last lines alone are read too."""
    for title, name, lines in samples(captures):
        agent = named(name)
        whole = session_of(agent, *lines)
        for number in range(len(lines)):
            with case(f"{title}, {number} lines"):
                seen = session_of(agent, *lines[:number])
                assert ids_in(whole)[: len(seen.calls)] == ids_in(seen)
                assert whole.text.startswith(seen.text)
                assert set(ids_in(session_of(agent, *lines[number:]))) <= set(ids_in(whole))


def test_parallel_calls_may_start_and_end_in_any_order(captures: Captures) -> None:
    """Lines of the calls of one step, in any order of which each starts and ends, make the same calls."""
    agent = named("pi")
    for title, name, lines in samples(captures):
        if name != "pi":
            continue
        whole = {made.call_id: (made.outcome, made.target) for made in session_of(agent, *lines).calls}
        for seed in range(20):
            with case(f"{title}, {seed}"):
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
        assert len(events_of(named(name), {}, {"type": {}})) == 2
