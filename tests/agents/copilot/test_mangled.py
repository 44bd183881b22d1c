"""No line makes the decoder of Copilot raise, and nothing is made of a line that says nothing."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import islice
from typing import Any

import pytest

from agentwatch.agents.copilot.agent import AGENT
from tests.agents.copilot.lines import (
    begin,
    delta,
    done,
    ended,
    line,
    message,
    passing,
    request,
    start,
    started,
    user,
)
from tests.builders.agents.decoded import Line, ids_in, lines_of, session_of, with_each_key_wrong
from tests.builders.captures import Captures
from tests.conftest import case

ASKED = {"requestId": "r", "permissionRequest": {"kind": "shell", "toolCallId": "c", "fullCommandText": "ls"}}
STREAM: list[dict[str, Any]] = [
    *(start(), passing("session.tools_updated", {"model": "m-2"}), user("Go"), begin()),
    passing("assistant.reasoning_delta", {"reasoningId": "t", "deltaContent": "Hm."}),
    *(
        delta("I "),
        delta("look."),
        message("I look.", request("c", "bash", {"command": "ls"}), reasoningText="Hm."),
    ),
    *(started("c", "bash", {"command": "ls"}), line("permission.requested", ASKED)),
    line("permission.completed", {"requestId": "r", "result": {"kind": "approved"}}),
    passing("tool.execution_partial_result", {"toolCallId": "c", "partialOutput": "a\n"}),
    ended("c", "a\n", shellExecution={"exitCode": 0}),
    passing("assistant.reasoning", {"reasoningId": "t", "content": "Hm."}),
    *(done(), begin("1"), message("Done."), done("1")),
    {"type": "result", "timestamp": "2026-11-21T23:00:00Z", "sessionId": "s-1", "exitCode": 0},
]
"""A stream with one call."""


def samples(captures: Captures) -> Iterator[tuple[str, list[Line]]]:
    """Yield the name and the lines of each capture, and those of the stream above."""
    for path in captures.find("disk/copilot-events/**/*.jsonl"):
        yield captures.name(path), lines_of(path)
    yield "the stream", list(STREAM)


@pytest.mark.system
@pytest.mark.parametrize("step", [16, pytest.param(1, marks=pytest.mark.system)])
def test_a_key_of_any_type_is_data(captures: Captures, step: int) -> None:
    """With each key of a sample absent or of each wrong type, all lines are counted, and no call is new."""
    for title, lines in samples(captures):
        ids = {*ids_in(session_of(AGENT, *lines)), "", "x", "y"}
        for key, mangled in islice(with_each_key_wrong(lines), 0, None, step):
            with case(f"{title}, {key}"):
                seen = session_of(AGENT, *mangled)
                assert seen.lines.events + seen.lines.unknown == len(lines)
                assert set(ids_in(seen)) <= ids
                for each in mangled:
                    list(AGENT.blocks(each, "c"))
                    AGENT.role(each), AGENT.recognises(each)


def test_a_sample_may_be_cut_at_every_line(captures: Captures) -> None:
    """Of the first lines, calls and text are the first of the whole; the last lines alone are read too."""
    for title, lines in samples(captures):
        whole = session_of(AGENT, *lines)
        for number in range(len(lines)):
            with case(f"{title}, {number} lines"):
                seen = session_of(AGENT, *lines[:number])
                assert ids_in(whole)[: len(seen.calls)] == ids_in(seen)
                assert whole.text.startswith(seen.text)
                assert set(ids_in(session_of(AGENT, *lines[number:]))) <= set(ids_in(whole))


def test_passing_lines_may_come_at_any_place() -> None:
    """The question, the late thought and the output of a call may come in any order, or more than once."""
    whole = session_of(AGENT, *STREAM)
    assert (whole.text, whole.outcome, whole.calls[0].outcome) == ("I look.Done.", "succeeded", "succeeded")
    movable = [*STREAM[9:12], STREAM[13]]
    for seed in range(30):
        rng = random.Random(seed)
        lines = [each for each in STREAM if each not in movable]
        at = lines.index(STREAM[8]) + 1
        for number in sorted(rng.randrange(at, at + 3) for _ in movable)[::-1]:
            lines.insert(number, movable[rng.randrange(len(movable))])
        seen = session_of(AGENT, *lines)
        assert (seen.text, seen.outcome, seen.calls[0].outcome) == (whole.text, whole.outcome, "succeeded")
        assert [entry.text for entry in seen.transcript if entry.kind.value == "reasoning"] == ["Hm."]
