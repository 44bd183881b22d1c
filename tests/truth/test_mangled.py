"""Recordings with lines lost, doubled, swapped or cut short: all is counted, nothing is made up.

With `AGENTWATCH_EXAMPLES` set every line and every byte of every recording has its turn; otherwise the
long ones are sampled.
"""

from __future__ import annotations

import json
import os
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

from agentwatch.analysis.integrity import integrity
from agentwatch.events import Outcome
from agentwatch.session import Session
from tests.builders.lines import session
from tests.conftest import RECORDINGS, SHARED

RECORDED = [
    *sorted(RECORDINGS.glob("*.ndjson")),
    *sorted((SHARED / "docs").glob("*.ndjson")),
    *sorted((SHARED / "cursor").glob("*.ndjson")),
]
EVERYTHING = "AGENTWATCH_EXAMPLES" in os.environ
every_recording = pytest.mark.parametrize("path", RECORDED, ids=lambda path: path.stem)

Outcomes = dict[str, set[Outcome]]


def places(count: int, most: int) -> range:
    """Return the places to mangle: all, or `most` of them."""
    return range(0, count, 1 if EVERYTHING else max(1, count // most))


def ended_in(data: bytes) -> set[str]:
    """Return the call_id of each whole line that ends a call."""
    found = set()
    for line in data.split(b"\n"):
        try:
            fields = json.loads(line.decode("utf-8", "replace"))
        except ValueError:
            continue
        if isinstance(fields, dict) and fields.get("subtype") == "completed" and "call_id" in fields:
            found.add(fields["call_id"])
    return found


def outcomes(read: Session) -> Outcomes:
    """Return the outcomes of the calls of each id."""
    found: Outcomes = defaultdict(set)
    for call in read.calls:
        found[call.call_id].add(call.outcome)
    return found


def check(data: bytes, whole: Outcomes) -> Session:
    """Check that mangled data are counted, and tell of its calls what its lines carry and no more."""
    read = session(data)
    counts = read.lines
    assert counts.total == sum(1 for line in data.split(b"\n") if line.strip())
    assert counts.repaired <= counts.events
    ended = ended_in(data)
    told = outcomes(read)
    assert set(told) <= set(whole)
    assert ended <= set(told)
    for call_id, found in told.items():
        carried = whole[call_id] if call_id in ended else set()
        assert carried <= found <= carried | {Outcome.UNFINISHED}
    assert sorted(call.number for call in read.ended_calls) == list(range(1, len(read.calls) + 1))
    found_integrity = integrity(read)
    assert 0 <= found_integrity.paired <= found_integrity.calls == len(read.calls)
    return read


def mangled(data: bytes, kind: str) -> Iterator[bytes]:
    """Yield a recording with each line in turn removed, doubled or swapped with the next."""
    lines = data.splitlines(keepends=True) if b"\r" not in data else data.split(b"\n")
    lines = [line.rstrip(b"\n") for line in lines]
    for at in places(len(lines), 24):
        if kind == "removed":
            yield b"\n".join(lines[:at] + lines[at + 1 :])
        elif kind == "doubled":
            yield b"\n".join(lines[: at + 1] + lines[at:])
        elif at + 1 < len(lines):
            yield b"\n".join([*lines[:at], lines[at + 1], lines[at], *lines[at + 2 :]])


@pytest.mark.parametrize("kind", ["removed", "doubled", "swapped"])
@every_recording
def test_a_line_out_of_place_makes_nothing_up(path: Path, kind: str) -> None:
    """Whichever line is lost, comes twice or too early: the calls are those of the lines that are there."""
    data = path.read_bytes()
    whole = outcomes(session(data))
    for changed in mangled(data, kind):
        read = check(changed, whole)
        if kind == "doubled":
            assert {call_id: found - {Outcome.UNFINISHED} for call_id, found in outcomes(read).items()} == {
                call_id: found - {Outcome.UNFINISHED} for call_id, found in whole.items()
            }


@every_recording
def test_a_recording_cut_at_any_byte_tells_what_its_lines_carry(path: Path) -> None:
    """No beginning of a recording raises, loses a line or tells an outcome that it does not carry."""
    data = path.read_bytes()
    whole = outcomes(session(data))
    text = session(data).text
    for end in places(len(data) + 1, 400 if len(data) < 3000 else 100):
        read = check(data[:end], whole)
        assert text.startswith(read.text)


@every_recording
def test_the_end_of_a_recording_tells_what_its_lines_carry(path: Path) -> None:
    """A recording whose head is missing, from any line on or from inside one, is told as far as it goes."""
    data = path.read_bytes()
    whole = outcomes(session(data))
    for begin in places(len(data) + 1, 50):
        rest = data[begin:]
        read = session(rest)
        assert read.lines.total == sum(1 for line in rest.split(b"\n") if line.strip())
        for call_id, found in outcomes(read).items():
            assert found <= whole[call_id] | {Outcome.UNFINISHED}
