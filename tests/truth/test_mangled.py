"""Recordings that are cut, or have lines lost, doubled or out of order."""

import json
import os
from collections import defaultdict
from collections.abc import Iterator

import pytest

from agentwatch.analysis.integrity import integrity
from agentwatch.session.events import Outcome
from agentwatch.session.session import Session
from tests.builders.captures import Captures
from tests.builders.codex.rollout import rollout
from tests.builders.codex.story import STORY, Command, Story, Turn
from tests.builders.codex.stream import stream
from tests.builders.lines import session
from tests.conftest import RECORDINGS, case

EVERYTHING = "AGENTWATCH_EXAMPLES" in os.environ
by_share = pytest.mark.parametrize("share", [0.2, pytest.param(1.0, marks=pytest.mark.system)])
"""How many of the offsets of a long recording are tried."""
Outcomes = dict[str, set[Outcome]]


def recorded(captures: Captures) -> Iterator[tuple[str, bytes, Session]]:
    """Yield the name, the bytes and the session of each recording of Cursor."""
    paths = (
        RECORDINGS.glob("*.ndjson") if captures.is_own else captures.find("docs/*.ndjson", "cursor/*.ndjson")
    )
    found = sorted(paths)
    assert found
    for path in found:
        data = path.read_bytes()
        yield path.stem, data, session(data)


def places(count: int, most: float) -> range:
    """Return the offsets to mangle: all, or about `most` of them."""
    return range(0, count, 1 if EVERYTHING else max(1, int(count // most)))


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


def mangled(data: bytes, kind: str, share: float) -> Iterator[bytes]:
    """Yield a recording with each line in turn removed, doubled or swapped with the next."""
    lines = data.splitlines(keepends=True) if b"\r" not in data else data.split(b"\n")
    lines = [line.rstrip(b"\n") for line in lines]
    for at in places(len(lines), 24 * share):
        if kind == "removed":
            yield b"\n".join(lines[:at] + lines[at + 1 :])
        elif kind == "doubled":
            yield b"\n".join(lines[: at + 1] + lines[at:])
        elif at + 1 < len(lines):
            yield b"\n".join([*lines[:at], lines[at + 1], lines[at], *lines[at + 2 :]])


@pytest.mark.system
@by_share
def test_a_misplaced_line_invents_nothing(captures: Captures, share: float) -> None:
    """When a line is lost, doubled or early, the calls are those of the lines that are there."""
    for name, data, read in recorded(captures):
        whole = outcomes(read)
        for kind in ("removed", "doubled", "swapped"):
            with case(f"{name}, {kind}"):
                for changed in mangled(data, kind, share):
                    found = outcomes(check(changed, whole))
                    if kind == "doubled":
                        assert ended(found) == ended(whole)


def ended(found: Outcomes) -> Outcomes:
    return {call_id: each - {Outcome.UNFINISHED} for call_id, each in found.items()}


@by_share
def test_a_recording_cut_at_any_byte_has_the_outcomes_of_its_lines(captures: Captures, share: float) -> None:
    """No beginning of a recording raises, loses a line or shows an outcome that its lines do not contain."""
    for name, data, read in recorded(captures):
        whole, text = outcomes(read), read.text
        for end in places(len(data) + 1, share * (400 if len(data) < 3000 else 100)):
            with case(f"{name}, {end} bytes"):
                assert text.startswith(check(data[:end], whole).text)


@by_share
def test_a_recording_without_its_head_has_the_outcomes_of_its_lines(captures: Captures, share: float) -> None:
    """A recording whose head is missing, from a line start or inside a line, is read as far as possible."""
    for name, data, read in recorded(captures):
        whole = outcomes(read)
        for begin in places(len(data) + 1, 50 * share):
            with case(f"{name}, from {begin}"):
                rest = data[begin:]
                remaining = session(rest)
                assert remaining.lines.total == sum(1 for line in rest.split(b"\n") if line.strip())
                for call_id, found in outcomes(remaining).items():
                    assert found <= whole[call_id] | {Outcome.UNFINISHED}


STORIES = {
    "stream": stream(STORY),
    "old rollout": rollout(STORY, is_paginated=False),
    "rollout": rollout(STORY, is_paginated=True),
}
every_story = pytest.mark.parametrize("data", STORIES.values(), ids=STORIES)
CodexOutcomes = dict[str, Outcome]


def codex_outcomes(read: Session) -> CodexOutcomes:
    return {call.call_id: call.outcome for call in read.calls}


@every_story
@pytest.mark.parametrize("kind", ["doubled", "swapped"])
def test_a_misplaced_line_keeps_the_calls(data: bytes, kind: str) -> None:
    """A line that comes twice, or one place too early, changes no outcome."""
    lines = data.splitlines(keepends=True)
    whole = codex_outcomes(session(data))
    for at in range(1, len(lines) - 1):
        changed = [*lines[: at + 1], *lines[at:]]
        if kind == "swapped":
            changed = [*lines[:at], lines[at + 1], lines[at], *lines[at + 2 :]]
        found = codex_outcomes(session(b"".join(changed)))
        differing = {key for key in whole if found.get(key) != whole[key]}
        assert len(differing) <= (kind == "swapped")


def test_parallel_calls_may_end_in_any_order() -> None:
    """The ends of calls that run at once are joined by id, in whatever order they come."""
    lines = stream(Story((Turn("x", (Command("a", "a", "", 0), Command("b", "b", "", 1)), "completed"),)))
    thread, turn, first, first_end, second, second_end, end = lines.splitlines(keepends=True)
    straight = codex_outcomes(session(thread + turn + first + second + first_end + second_end + end))
    assert codex_outcomes(session(thread + turn + first + second + second_end + first_end + end)) == straight
    assert list(straight.values()) == [Outcome.SUCCEEDED, Outcome.FAILED]
