"""Recordings of every format that are cut, or have lines lost, doubled or out of order.

With `AGENTWATCH_EXAMPLES` set, every line and every byte is tried; otherwise they are sampled.
"""

from __future__ import annotations

import json
import os
import random
from collections.abc import Iterator

from agentwatch.analysis.integrity import integrity
from agentwatch.outputs.summary import summary
from agentwatch.session import Kind, Session
from tests.builders.formats.samples import every_sample, read, written
from tests.builders.lines import non_blank

EVERYTHING = "AGENTWATCH_EXAMPLES" in os.environ
_MOST_BYTES = 2_000_000
"""The work per sample, in bytes read, unless everything is tried."""
_TEXTS = (Kind.ANSWER, Kind.REASONING, Kind.PROMPT)


def places(count: int, size: int, most: int) -> range:
    """Return the positions that are tried: all, or so many that the work stays bounded."""
    most = max(min(most, _MOST_BYTES // max(size, 1)), 4)
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


@every_sample
def test_a_recording_may_end_anywhere(data: bytes, name: str) -> None:
    """A recording that is cut at a line or inside one is read without inventing a call."""
    known = written(data)
    ends = [0]
    for line in data.splitlines(keepends=True):
        ends.append(ends[-1] + len(line))
    for at in places(len(ends), len(data), 40):
        check(data[: ends[at]], name, known)
    for end in places(len(data), len(data), 40):
        check(data[:end], name, known)


@every_sample
def test_a_recording_may_begin_anywhere(data: bytes, name: str) -> None:
    """A recording without its beginning, from a line on or inside one, is read as far as possible."""
    known = written(data)
    for begin in places(len(data), len(data), 30):
        check(data[begin:], name, known)


def mangled(lines: list[bytes], at: int) -> Iterator[list[bytes]]:
    """Yield the lines with one of them lost, doubled, and exchanged with the next."""
    yield lines[:at] + lines[at + 1 :]
    yield lines[: at + 1] + lines[at:]
    yield [*lines[:at], *lines[at : at + 2][::-1], *lines[at + 2 :]]


@every_sample
def test_lines_may_be_lost_doubled_or_out_of_order(data: bytes, name: str) -> None:
    """A recording with misplaced lines has only the calls of its lines, and all lines are counted."""
    known, lines = written(data), data.split(b"\n")
    for at in places(len(lines), 3 * len(data), 20):
        for changed in mangled(lines, at):
            check(b"\n".join(changed), name, known)
    chance = random.Random(7)
    for _ in range(3):
        check(b"\n".join(chance.sample(lines, len(lines))), name, known)


@every_sample
def test_a_doubled_line_doubles_no_call(data: bytes, name: str) -> None:
    """Each line given twice in a row adds no call to those of the recording."""
    lines = [line for line in data.split(b"\n") if line.strip()]
    twice = read(b"\n".join(each for line in lines for each in (line, line)), name)
    ids = {call.call_id for call in read(data, name).calls}
    assert {call.call_id for call in twice.calls if "#" not in call.call_id} <= ids
