"""A digest has the times of its lines, and stays small."""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path

import pytest

from agentwatch.catalog.digest import Digest, Tail, Turn
from agentwatch.session.events import (
    Channel,
    Event,
    FormatDetected,
    LineTime,
    Notice,
    Outcome,
    Permission,
    Plan,
    PlanEntry,
    PlanStatus,
    Prompt,
    Retry,
    RunInfo,
    RunStarted,
    Text,
    Traits,
    TurnEnded,
    Unknown,
)
from agentwatch.session.rules import span_ms
from tests.builders.captures import Captures
from tests.builders.on_disk.digested import digest_of, facts_of_digest, facts_of_session, found, session_of
from tests.catalog.digest.made_events import after, ended, said, started
from tests.conftest import case

HUGE = "x" * 1_000_000


def test_times_are_those_of_lines_or_of_their_arrival() -> None:
    """In a file whose lines have times, a line without one is not activity."""
    digest = Digest()
    digest.apply([Prompt("Go")], 5)
    assert (digest.began_ms, digest.seen_ms) == (5, 5)
    digest.apply([LineTime(9), Unknown("x")], 7)
    digest.apply([], 100)
    assert (digest.began_ms, digest.seen_ms) == (5, 9)
    # Without arrivals the times of the events count.
    digest = Digest()
    digest.apply([Notice("x", at_ms=5)])
    digest.apply([Unknown("x")])
    assert digest.seen_ms == 5


def turns(silences_ms: list[int]) -> Iterator[list[Event]]:
    """Yield the lines of turns with a silence after each prompt, and a long one after each turn and call."""
    at_ms = 0
    for silence_ms in silences_ms:
        yield [LineTime(at_ms), Prompt("Go")]
        yield [LineTime(at_ms + silence_ms), started(f"{at_ms}")]
        at_ms += silence_ms + 3_600_000
        yield [LineTime(at_ms), ended(f"{at_ms - 3_600_000 - silence_ms}")]
        yield [LineTime(at_ms), TurnEnded(Outcome.SUCCEEDED)]
        at_ms += 86_400_000


def test_the_usual_pause_is_that_of_the_model() -> None:
    """The time of calls and of the user does not count, and fewer than ten pauses say nothing."""
    digest = Digest()
    for events in turns([*range(1000, 10_000, 1000)]):
        digest.apply(events)
    assert digest.usual_pause_ms is None
    for events in turns([10_000]):
        digest.apply(events)
    assert digest.usual_pause_ms == 9000
    # Only the newest turns count.
    digest = Digest()
    for events in turns([90_000] * 30 + [1000] * 32):
        digest.apply(events)
    assert digest.usual_pause_ms == 1000
    # A prompt in an open turn: nobody knows when the agent stopped.
    digest = Digest()
    for number in range(30):
        digest.apply([LineTime(number * 10**6), Prompt("Go")])
        digest.apply([LineTime(number * 10**6 + 1000), started(f"{number}")])
        digest.apply([LineTime(number * 10**6 + 1000), ended(f"{number}")])
    assert digest.usual_pause_ms == 1000


def test_a_gap_leaves_what_does_not_change() -> None:
    """The title and the first prompt stay; calls, questions and counts begin again."""
    digest = after(
        RunInfo(title="T", cwd="/w"),
        Prompt("Go"),
        started(),
        ended("x"),
        Permission("Bash", None),
        *said("Hi"),
    )
    digest.is_whole = True
    digest.skip()
    assert (digest.title, digest.cwd, digest.first_prompt) == ("T", "/w", "Go")
    assert (digest.open_calls, digest.asked, digest.calls, digest.turn) == ({}, "", 0, Turn.NONE)
    assert (digest.last_prompt, digest.last_text, digest.is_whole) == ("", "", False)


def size(value: object) -> int:
    """Return the bytes of a value and its parts."""
    found = sys.getsizeof(value)
    if isinstance(value, dict):
        return found + sum(size(key) + size(each) for key, each in value.items())
    if isinstance(value, (tuple, list)):
        return found + sum(map(size, value))
    if isinstance(value, Digest):
        return found + sum(size(getattr(value, field.name)) for field in fields(value))
    return found


def test_no_event_makes_a_digest_large() -> None:
    """All of its texts are bounded, however long those of the lines are."""
    hostile: list[Event] = [
        RunStarted(HUGE, HUGE, HUGE, HUGE, HUGE),
        FormatDetected(HUGE, Traits(), HUGE),
        RunInfo(HUGE, HUGE, HUGE, HUGE, agent_name=HUGE, branch=HUGE, title=HUGE, last_prompt=HUGE),
        Prompt(HUGE),
        Plan(tuple(PlanEntry(f"{n}{HUGE}", PlanStatus.IN_PROGRESS) for n in range(5))),
        Text(Channel.ANSWER, HUGE),
        Notice(HUGE, is_error=True),
        *(started(f"{n}{HUGE}", tool=HUGE, target=HUGE, agent=HUGE) for n in range(40)),
        *(Permission(HUGE, None, key=f"{n}{HUGE}", call_id=HUGE, target=HUGE) for n in range(20)),
        Retry(HUGE),
    ]
    digest = after(*hostile)
    assert size(digest) < 70_000
    digest.apply([TurnEnded(Outcome.FAILED, HUGE, HUGE)])
    assert size(digest) < 8_000


_CUTS = 8


@pytest.mark.slow
@pytest.mark.system
def test_a_file_that_grows_ends_in_the_digest_of_the_whole(captures: Captures, tmp_path: Path) -> None:
    """The file is cut at any byte, and continued by one or more pieces."""
    for path, agent in sessions(captures):
        with case(captures.name(path)):
            data, chance = path.read_bytes(), random.Random(path.stem)
            copy = tmp_path / path.name
            copy.write_bytes(data)
            expected = digest_of(copy, agent)
            for _ in range(_CUTS):
                copy.unlink()
                copy.write_bytes(b"")
                tail = Tail(found(copy, agent))
                cuts = sorted(chance.choices(range(len(data) + 1), k=chance.choice((1, 2, 20))))
                for start, end in zip([0, *cuts], [*cuts, len(data)], strict=True):
                    with copy.open("ab") as file:
                        file.write(data[start:end])
                    tail.update()
                tail.settle()
                assert tail.digest is not None
                if agent == WITHOUT_TIMES:  # each piece has the time of its arrival
                    now, whole = facts_of_digest(tail.digest), facts_of_digest(expected)
                    began_ms, seen_ms = tail.digest.began_ms, tail.digest.seen_ms
                    assert began_ms is None or b"\n" not in data[: cuts[0]], cuts  # else nobody saw it begin
                    took = span_ms(began_ms, seen_ms) if whole["took"] is None else whole["took"]
                    assert {**now, "seen": 0} == {**whole, "seen": 0, "took": took}, cuts
                else:
                    assert tail.digest == expected, cuts


@pytest.mark.slow
def test_no_damage_to_a_file_raises(captures: Captures, tmp_path: Path) -> None:
    """Bytes are lost, doubled or changed anywhere; the digest is of what is left."""
    for path, agent in sessions(captures):
        with case(captures.name(path)):
            data, chance = path.read_bytes(), random.Random(path.stem)
            copy = tmp_path / path.name
            for _ in range(5):
                damaged = bytearray(data)
                for _ in range(chance.choice((1, 5, 50))):
                    at = chance.randrange(len(damaged) or 1)
                    damaged[at : at + chance.choice((0, 1, 40))] = chance.randbytes(chance.choice((0, 1, 9)))
                copy.write_bytes(damaged)
                assert len(repr(digest_of(copy, agent))) < 30_000


FOLDERS = {
    "claude-transcript": "claude",
    "codex-rollout": "codex",
    "gemini-chat": "gemini",
    "qwen-chat": "qwen",
    "pi-session": "pi",
    "copilot-events": "copilot",
    "cursor-transcript": "cursor",
}
"""The agent of the files in each folder of `disk` and `agents`."""
PROGRAMS = ("claude", "codex", "gemini", "qwen", "pi", "copilot", "droid")
"""The programs in `real` whose own files are read, by the beginning of the folder's name."""
WITHOUT_TIMES = "cursor"
"""The agent whose lines have no times: its digest has those of the file."""


def sessions(captures: Captures) -> list[tuple[Path, str]]:
    """Return the captures of files that agents write, each with its agent."""
    agents = {f"{root}/{folder}/": agent for root in ("disk", "agents") for folder, agent in FOLDERS.items()}
    agents |= {f"real/{program}-": program for program in PROGRAMS}
    found = captures.find("disk/*/**/*.jsonl", "agents/*/**/*.jsonl", "real/*/sessions/**/*.jsonl")
    return [
        (path, agent)
        for path in found
        for start, agent in agents.items()
        if captures.name(path).startswith(start)
    ]


def test_the_digest_of_a_capture_agrees_with_its_session(captures: Captures, tmp_path: Path) -> None:
    """Counts, outcome, prompts, model, folder, branch and title are those of the full session."""
    for path, agent in sessions(captures):
        with case(captures.name(path)):
            copy = tmp_path / path.name
            copy.write_bytes(path.read_bytes())
            session = session_of(path.read_bytes().splitlines(keepends=True), agent)
            digest = digest_of(copy, agent)
            assert digest.is_whole
            expected = facts_of_session(session)
            if agent == WITHOUT_TIMES:
                expected["seen"] = copy.stat().st_mtime_ns // 10**6
            assert facts_of_digest(digest) == expected
