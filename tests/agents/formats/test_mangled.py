"""Recordings of every format that are cut, or have lines lost, doubled or out of order.

With `AGENTWATCH_EXAMPLES` set, every line and every byte is tried; otherwise they are sampled.
"""

from __future__ import annotations

import json
import os
import random
from collections.abc import Iterator

import pytest

from agentwatch.analysis.integrity import integrity
from agentwatch.output.summary import summary
from agentwatch.session.session import Session
from agentwatch.session.transcript import Kind
from tests.builders.captures import Captures
from tests.builders.formats.samples import of_a_format, read, written
from tests.builders.lines import non_blank
from tests.conftest import case

pytestmark = pytest.mark.slow
EVERYTHING = "AGENTWATCH_EXAMPLES" in os.environ
by_work = pytest.mark.parametrize("work", [50_000, pytest.param(2_000_000, marks=pytest.mark.system)])
"""How much is read of each sample, in bytes, unless everything is tried."""
_TEXTS = (Kind.ANSWER, Kind.REASONING, Kind.PROMPT)


def places(count: int, size: int, most: int, work: int) -> range:
    """Return the positions that are tried: all, or so many that the work stays bounded."""
    most = max(min(most, work // max(size, 1)), 4)
    return range(0, count, 1 if EVERYTHING else max(1, count // most))


def check(data: bytes, name: str, known: set[str]) -> Session:
    """Check that all lines are counted, and that ids and texts come from the lines."""
    found = read(data, name)
    assert found.lines.total == non_blank(data)
    assert {call.call_id.partition("#")[0] for call in found.calls} <= known | {""}
    assert sorted(call.number for call in found.ended_calls) == list(range(1, len(found.calls) + 1))
    checks = integrity(found)
    assert 0 <= checks.paired <= checks.calls == len(found.calls)
    texts = [
        each.text for each in found.transcript if each.kind in (Kind.ANSWER, Kind.REASONING, Kind.PROMPT)
    ]
    assert sum(map(len, texts)) <= len(data)
    assert json.loads(b"".join(summary(found)))["format"] == name
    return found


@by_work
def test_a_recording_may_end_anywhere(captures: Captures, work: int) -> None:
    """A recording that is cut at a line or inside one is read without inventing a call."""
    for title, data, name in of_a_format(captures):
        known = written(data)
        ends = [0]
        for line in data.splitlines(keepends=True):
            ends.append(ends[-1] + len(line))
        at_lines = [ends[at] for at in places(len(ends), len(data), 40, work)]
        for end in (*at_lines, *places(len(data), len(data), 40, work)):
            with case(f"{title}, {end} bytes"):
                check(data[:end], name, known)


@pytest.mark.system
@by_work
def test_a_recording_may_begin_anywhere(captures: Captures, work: int) -> None:
    """A recording without its beginning, from a line on or inside one, is read as far as possible."""
    for title, data, name in of_a_format(captures):
        known = written(data)
        for begin in places(len(data), len(data), 30, work):
            with case(f"{title}, from {begin}"):
                check(data[begin:], name, known)


def mangled(lines: list[bytes], at: int) -> Iterator[list[bytes]]:
    """Yield the lines with one of them lost, doubled, and exchanged with the next."""
    yield lines[:at] + lines[at + 1 :]
    yield lines[: at + 1] + lines[at:]
    yield [*lines[:at], *lines[at : at + 2][::-1], *lines[at + 2 :]]


@pytest.mark.system
@by_work
def test_lines_may_be_lost_doubled_or_out_of_order(captures: Captures, work: int) -> None:
    """A recording with misplaced lines has only the calls of its lines, and all lines are counted."""
    for title, data, name in of_a_format(captures):
        known, lines = written(data), data.split(b"\n")
        for at in places(len(lines), 3 * len(data), 20, work):
            with case(f"{title}, line {at}"):
                for changed in mangled(lines, at):
                    check(b"\n".join(changed), name, known)
        chance = random.Random(7)
        for _ in range(3):
            with case(f"{title}, shuffled"):
                check(b"\n".join(chance.sample(lines, len(lines))), name, known)


def test_a_doubled_line_doubles_no_call(captures: Captures) -> None:
    """Each line given twice in a row adds no call to those of the recording."""
    for title, data, name in of_a_format(captures):
        with case(title):
            lines = [line for line in data.split(b"\n") if line.strip()]
            twice = read(b"\n".join(each for line in lines for each in (line, line)), name)
            ids = {call.call_id for call in read(data, name).calls}
            assert {call.call_id for call in twice.calls if "#" not in call.call_id} <= ids
