"""Sessions of Codex with lines lost, doubled, cut or in another order, and with fields of a wrong type."""

from __future__ import annotations

import json
import os
from typing import Any

import pytest

from agentwatch.agents.registry import agent_named
from agentwatch.api.check_agent import WRONG, paths, replaced
from agentwatch.session.events import Outcome
from agentwatch.session.session import Session
from tests.builders.captures import Captures
from tests.builders.codex.rollout import rollout
from tests.builders.codex.story import (
    Command,
    Cut,
    Mcp,
    Patch,
    Plan,
    Say,
    Search,
    Story,
    Think,
    Turn,
)
from tests.builders.codex.stream import stream
from tests.builders.formats.samples import of_a_format
from tests.builders.lines import session
from tests.conftest import case

EVERYTHING = "AGENTWATCH_EXAMPLES" in os.environ
STORY = Story(
    (
        Turn(
            "Do it.",
            (
                *(Think("Hm."), Say("I do it."), Cut(), Command("ls", "ls", "a\n", 0)),
                *(Patch((("a.py", "add"), ("b.py", "update"), ("c.py", "delete")), succeeds=True),),
                *(Mcp("weather", "get", None), Mcp("weather", "get", "no"), Search("tides")),
                *(Plan((("one", True),)), Command("false", "false", "", 1), Command("rm", "rm", "", None)),
                Say("Done."),
            ),
            "completed",
        ),
        Turn("Again.", (Say("No."),), "failed"),
    )
)
STORIES = {
    "stream": stream(STORY),
    "old rollout": rollout(STORY, is_paginated=False),
    "rollout": rollout(STORY, is_paginated=True),
}
every_story = pytest.mark.parametrize("data", STORIES.values(), ids=STORIES)

Outcomes = dict[str, Outcome]


def outcomes(read: Session) -> Outcomes:
    """Return the outcome of each call."""
    return {call.call_id: call.outcome for call in read.calls}


def places(count: int, most: int) -> range:
    """Return the offsets to mangle: all, or about `most` of them."""
    return range(0, count, 1 if EVERYTHING else max(1, count // most))


def blocks_of(fields: Any) -> None:
    """Make the blocks of a line, by both formats."""
    for name in ("codex", "codex-rollout"):
        agent = agent_named(name)
        assert agent is not None
        list(agent.blocks(fields, ""))
        agent.role(fields)
        if agent.time_of is not None:
            agent.time_of(fields)


@pytest.mark.parametrize("step", [12, pytest.param(1, marks=pytest.mark.system)])
@every_story
def test_a_field_of_a_wrong_type_is_data(data: bytes, step: int) -> None:
    """With any field replaced by a value of another type, all lines are read and counted."""
    lines = [json.loads(line) for line in data.splitlines()]
    changes = [
        (at, path, wrong) for at in places(len(lines), 30) for path in paths(lines[at]) for wrong in WRONG
    ]
    assert changes
    for at, path, wrong in changes[::step]:
        with case(f"{path} of line {at} is {wrong!r}"):
            changed = replaced(lines[at], path, wrong)
            blocks_of(changed)
            given = [*lines[:at], changed, *lines[at + 1 :]]
            whole = b"".join(json.dumps(line).encode() + b"\n" for line in given[max(at - 3, 0) : at + 4])
            assert session(whole).lines.total == whole.count(b"\n")


@every_story
def test_a_lost_field_is_data(data: bytes) -> None:
    """Without any one of its fields, each line is read, and the other calls keep their outcomes."""
    whole = outcomes(session(data))
    lines = [json.loads(line) for line in data.splitlines()]
    assert lines
    for at, fields in enumerate(lines):
        for key in fields:
            part = {other: value for other, value in fields.items() if other != key}
            blocks_of(part)
            given = [*lines[:at], part, *lines[at + 1 :]]
            read = session(b"".join(json.dumps(line).encode() + b"\n" for line in given))
            found = {key: value for key, value in outcomes(read).items() if whole.get(key) != value}
            assert len(found) <= 1


def captured(captures: Captures) -> list[tuple[str, list[bytes], str]]:
    """Return the name, the lines and the format of each capture of Codex."""
    found = [
        (title, data.splitlines(keepends=True), name)
        for title, data, name in of_a_format(captures)
        if name in ("codex", "codex-rollout")
    ]
    assert found
    return found


def test_a_rollout_or_stream_cut_at_any_line_invents_nothing(captures: Captures) -> None:
    """Each beginning has a beginning of the text, and no outcome that the whole does not have."""
    for title, lines, _ in captured(captures):
        whole = session(b"".join(lines))
        expected = outcomes(whole)
        for end in places(len(lines) + 1, 40):
            with case(f"{title}, {end} lines"):
                read = session(b"".join(lines[:end]))
                assert whole.text.startswith(read.text)
                for call_id, outcome in outcomes(read).items():
                    assert outcome in {
                        expected[call_id],
                        *(Outcome.UNFINISHED, Outcome.RUNNING, Outcome.CANCELLED),
                    }


def test_a_head_that_is_missing_adds_no_calls(captures: Captures) -> None:
    """Without its first lines, a recording has only calls that it has as a whole."""
    for title, lines, name in captured(captures):
        expected = outcomes(session(b"".join(lines)))
        for begin in (1, 3, 8):
            with case(f"{title}, from line {begin}"):
                read = session(b"".join(lines[begin:]))
                assert set(outcomes(read)) <= set(expected)
                if any(line.strip() for line in lines[begin:]) and "schema_drift" not in title:
                    assert read.format == name


@every_story
@pytest.mark.parametrize("kind", ["doubled", "swapped"])
def test_a_misplaced_line_keeps_the_calls(data: bytes, kind: str) -> None:
    """A line that comes twice, or one place too early, changes no outcome."""
    lines = data.splitlines(keepends=True)
    whole = outcomes(session(data))
    for at in range(1, len(lines) - 1):
        changed = [*lines[: at + 1], *lines[at:]]
        if kind == "swapped":
            changed = [*lines[:at], lines[at + 1], lines[at], *lines[at + 2 :]]
        found = outcomes(session(b"".join(changed)))
        differing = {key for key in whole if found.get(key) != whole[key]}
        assert len(differing) <= (kind == "swapped")


def test_parallel_calls_may_end_in_any_order() -> None:
    """The ends of calls that run at once are joined by id, in whatever order they come."""
    lines = stream(Story((Turn("x", (Command("a", "a", "", 0), Command("b", "b", "", 1)), "completed"),)))
    thread, turn, first, first_end, second, second_end, end = lines.splitlines(keepends=True)
    straight = outcomes(session(thread + turn + first + second + first_end + second_end + end))
    assert outcomes(session(thread + turn + first + second + second_end + first_end + end)) == straight
    assert list(straight.values()) == [Outcome.SUCCEEDED, Outcome.FAILED]
