"""A clip is a recording of its agent, with the calls of its part as they were."""

import os
from collections.abc import Sequence
from pathlib import Path

import pytest

from agentwatch.analysis.integrity import integrity
from agentwatch.analysis.moments import CallEnd, Problem, Shift
from agentwatch.feed.feed import Feed
from agentwatch.output.export.clip import Range, clip, range_of
from agentwatch.recording.saved import open_saved
from agentwatch.recording.store import SessionFiles
from agentwatch.session.actions import action
from agentwatch.session.call import Call
from agentwatch.session.events import Outcome
from agentwatch.session.session import Session
from agentwatch.session.transcript import Kind
from tests.builders.captures import Captures
from tests.builders.exports.opened import RAW, every_recording, opened
from tests.builders.lines import DONE, completed, final, init, result, segment, started, user
from tests.conftest import RECORDINGS, Saver, case

DEMO = RECORDINGS / "demo.ndjson"


def clipped(path: Path, folder: Path, wanted: Range) -> Session:
    """Write a clip as a file with its times, and return its session."""
    with opened(path, RAW._replace(asked=wanted.asked())) as session:
        part = range_of(wanted, session)
        assert not isinstance(part, Problem), part.words
        made = clip(session, part)
        assert not made.is_whole
        data = os.pread(made.fd, made.size, 0)
        os.close(made.fd)
    saved = folder / "clip.ndjson"
    saved.write_bytes(data)
    if made.times:
        SessionFiles(saved).times.write_text("".join(f"{offset} {ms}\n" for offset, ms in made.times))
    reader = open_saved(saved)
    feed = Feed(reader)
    feed.advance()
    os.close(reader.fd)
    return feed.session


def facts(call: Call) -> tuple[object, ...]:
    """Return what a reader sees of a call: what it did, its outcome and its times."""
    seen = call.started and call.started.seen_ms, call.ended and call.ended.seen_ms
    return action(call), call.outcome, call.started_ms, call.ended_ms, call.error, *seen


def ranges(count: int) -> list[tuple[int, int]]:
    """Return some ranges of the calls of a session: the first, the last, all, and two in the middle."""
    middle = (count + 1) // 2
    found = {(1, 1), (count, count), (1, count), (middle, min(middle + 1, count))}
    return sorted(found) if count else []


@pytest.mark.system
def test_a_clip_of_every_agent_opens(captures: Captures, tmp_path: Path) -> None:
    """The clip is recognised, and has the wanted calls with their outcomes and times, and no orphan."""
    clips = 0
    for path in every_recording(captures):
        with case(path), opened(path, RAW) as whole:
            recorded = whole.session
            if recorded.calls.corrected:
                continue  # the line that corrects an outcome may come after the clip
            has_times = SessionFiles(path).times.exists()
            for first, last in ranges(len(recorded.calls)):
                found = clipped(path, tmp_path, Range(CallEnd(first), CallEnd(last)))
                clips += 1
                assert found.format == recorded.format
                assert found.lines.malformed <= recorded.lines.malformed
                assert found.lines.unknown <= recorded.lines.unknown
                assert_in_order(recorded.calls[first - 1 : last], found.calls, with_seen=has_times)
                if found.traits.announces_calls:
                    assert found.completed_without_started <= recorded.completed_without_started
    assert clips > 100


def assert_in_order(wanted: Sequence[Call], found: Sequence[Call], *, with_seen: bool) -> None:
    """Check that calls are among others, in their order and with the same facts."""
    members = slice(None if with_seen else -2)
    ours = iter([facts(call)[members] for call in found])
    for call in wanted:
        assert facts(call)[members] in ours, call


def test_a_clip_is_short(tmp_path: Path, recording: Saver) -> None:
    """The clip of three calls has what belongs to them, and the facts of the run."""
    found = clipped(DEMO, tmp_path, Range(CallEnd(6), CallEnd(8)))
    assert (tmp_path / "clip.ndjson").stat().st_size < 50_000
    assert [action(call) for call in found.calls] == [
        "Ran terminal command pytest -q (failed: exit 1)",
        "Updated to-do list (2 of 5 done)",
        "Edited file tidepool/nearest.py (+8 -3)",
    ]
    assert found.run.model == "Sonnet 5 200K High"
    assert found.run.cwd == "/home/ada/src/tidepool"
    assert found.run.prompt
    assert found.run.prompt.startswith("test_nearest_low_just_past in tests/test_nearest.py fails")
    assert [entry.kind for entry in found.transcript][:2] == [Kind.PROMPT, Kind.CALL]
    assert found.outcome is Outcome.UNFINISHED
    # With the result come the texts that it repeats, so that the checks of the clip pass.
    found = clipped(DEMO, tmp_path, Range(CallEnd(14), Shift(3_600_000)))
    assert found.outcome is Outcome.SUCCEEDED
    assert [action(call) for call in found.calls] == ["Updated to-do list (5 of 5 done)"]
    assert integrity(found).passes, integrity(found).problems()
    # A call that began before the part is not in the clip; one that ends after it is there to its end.
    # A call that began before the part is not in the clip, nor is its end.
    found = clipped(recording(*LINES), tmp_path, Range(CallEnd(2), CallEnd(2)))
    assert [call.target for call in found.calls] == ["two"]
    assert found.completed_without_started == 0
    assert found.run.model == "One"
    # A call of the range that ends after its last call is in the clip up to its end.
    lines = (*LINES[:5], LINES[6], LINES[5], *LINES[7:])
    found = clipped(recording(*lines), tmp_path, Range(CallEnd(1), CallEnd(2)))
    assert [(call.target, call.outcome) for call in found.calls] == [
        ("one", Outcome.SUCCEEDED),
        ("two", Outcome.SUCCEEDED),
    ]
    # The clip begins with the start lines of the run that goes on, and with its last prompt.
    found = clipped(recording(*LINES), tmp_path, Range(CallEnd(4), CallEnd(4)))
    assert (len(found.runs), found.run.model, found.run.prompt) == (1, "Two", "Third.")
    assert [(call.target, call.outcome) for call in found.calls] == [
        ("four", Outcome.SUCCEEDED),
        ("five", Outcome.UNFINISHED),
    ]
    # A part with the end of a run and the start of the next has both runs.
    found = clipped(recording(*LINES), tmp_path, Range(CallEnd(2), CallEnd(3)))
    assert [run.model for run in found.runs] == ["One", "Two"]
    assert found.runs[0].outcome is Outcome.SUCCEEDED
    assert [call.exit_code for call in found.calls] == [None, 3]
    # A call that the session does not have, and a part that ends before it starts, are reported.
    for wanted, reason in (
        (Range(CallEnd(99), CallEnd(100)), "no call #99: the session has 5 calls"),
        (Range(CallEnd(3), CallEnd(2)), "would end at its start"),
    ):
        with case(reason):
            with opened(recording(*LINES), RAW) as session:
                none = range_of(wanted, session)
            assert isinstance(none, Problem)
            assert reason in none.words


LINES = (
    init(model="One"),
    user("First."),
    started("shell", "a", command="one"),
    segment("Between."),
    started("shell", "b", command="two"),
    completed("shell", "a", DONE),
    completed("shell", "b", DONE),
    result("Between."),
    init(model="Two"),
    user("Second."),
    started("shell", "c", command="three"),
    completed("shell", "c", {"failure": {"exitCode": 3}}),
    user("Third."),
    started("shell", "d", command="four"),
    started("shell", "e", command="five"),
    completed("shell", "d", DONE),
    completed("shell", "e", DONE),
    final("Done."),
    result("Done."),
)
