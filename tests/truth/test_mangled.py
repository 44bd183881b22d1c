"""Recordings with lines lost, doubled, swapped or cut: every line is counted, and no fact is invented.

With `AGENTWATCH_EXAMPLES` set, every line and every byte of every recording is mangled; otherwise long
recordings are sampled.
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
    """Return the offsets to mangle: all, or about `most` of them."""
    return range(0, count, 1 if EVERYTHING else max(1, count // most))


def ended_in(data: bytes) -> set[str]:
    """Return the call_id of each complete line that ends a call."""
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
    """Return the set of outcomes of the calls with each id."""
    found: Outcomes = defaultdict(set)
    for call in read.calls:
        found[call.call_id].add(call.outcome)
    return found


def check(data: bytes, whole: Outcomes) -> Session:
    """Check that all mangled lines are counted, and that calls have only outcomes that lines contain."""
    read = session(data)
    counts = read.lines
    assert counts.total == sum(1 for line in data.split(b"\n") if line.strip())
    assert counts.repaired <= counts.events
    ended = ended_in(data)
    shown = outcomes(read)
    assert set(shown) <= set(whole)
    assert ended <= set(shown)
    for call_id, found in shown.items():
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
def test_a_misplaced_line_invents_nothing(path: Path, kind: str) -> None:
    """When a line is lost, doubled or early, the calls are those of the lines that are there."""
    data = path.read_bytes()
    whole = outcomes(session(data))
    for changed in mangled(data, kind):
        read = check(changed, whole)
        if kind == "doubled":
            assert {call_id: found - {Outcome.UNFINISHED} for call_id, found in outcomes(read).items()} == {
                call_id: found - {Outcome.UNFINISHED} for call_id, found in whole.items()
            }


@every_recording
def test_a_recording_cut_at_any_byte_has_the_outcomes_of_its_lines(path: Path) -> None:
    """No beginning of a recording raises, loses a line or shows an outcome that its lines do not contain."""
    data = path.read_bytes()
    whole = outcomes(session(data))
    text = session(data).text
    for end in places(len(data) + 1, 400 if len(data) < 3000 else 100):
        read = check(data[:end], whole)
        assert text.startswith(read.text)


@every_recording
def test_a_recording_without_its_head_has_the_outcomes_of_its_lines(path: Path) -> None:
    """A recording whose head is missing, from a line start or inside a line, is read as far as possible."""
    data = path.read_bytes()
    whole = outcomes(session(data))
    for begin in places(len(data) + 1, 50):
        rest = data[begin:]
        read = session(rest)
        assert read.lines.total == sum(1 for line in rest.split(b"\n") if line.strip())
        for call_id, found in outcomes(read).items():
            assert found <= whole[call_id] | {Outcome.UNFINISHED}
