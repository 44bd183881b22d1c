"""A feed: its times and moments, single events, and lines held back until the agent is known."""

import os
from pathlib import Path

import pytest

from agentwatch.agents import registry
from agentwatch.feed import checkpoints
from agentwatch.feed.feed import Feed, RecordedTimes, preview_feed
from agentwatch.feed.history import History
from agentwatch.recording.saved import open_saved
from agentwatch.session.call import Pieces, Place
from agentwatch.session.events import Outcome
from agentwatch.session.transcript import Kind
from tests.builders.claude_lines import written
from tests.builders.lines import completed, delta, event, feed_of, final, init, line, result, started, user
from tests.builders.made_agent import ASKED, LATE, LATE_START, add_late_agent
from tests.builders.on_disk import transcript
from tests.conftest import RECORDINGS, Saver, case


def test_a_line_has_the_time_that_its_program_wrote(
    recording: Saver, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So have the first line of a transcript, a line whose time is in its head, and the start line of
    another agent.
    """
    feed = Feed(open_saved(recording(written(transcript.user("Go."), transcript.said("Done.")))))
    assert [line.place.seen_ms for line in feed.decoded()] == [transcript.AT_MS] * 2
    large = {**transcript.said(""), "large": "x" * (17 << 20)}
    feed = Feed(open_saved(recording(written(transcript.user("Go."), large))))
    assert [line.place.seen_ms for line in feed.decoded()] == [transcript.AT_MS] * 2
    known = (*registry.known_agents(), LATE._replace(time_of=lambda _fields: 7))
    monkeypatch.setattr(registry, "known_agents", lambda: known)
    feed = Feed(open_saved(recording(init(), LATE_START, ASKED)))
    assert [line.place.seen_ms for line in feed.decoded()] == [None, 7, 7]


def opened(path: Path) -> History:
    """Return the history of a recording that is wholly read."""
    reader = open_saved(path)
    history = History(Feed(reader), reader)
    history.feed.advance()
    return history


def forwards(history: History) -> list[int]:
    """Return the moments to which single events lead from the start."""
    moments = [0]
    while moments[-1] < history.feed.offset:
        moments.append(history.event_after(moments[-1]))
    return moments


@pytest.mark.parametrize("least", [1024, 1 << 19])
def test_steps_back_lead_through_the_same_moments(monkeypatch: pytest.MonkeyPatch, least: int) -> None:
    """From the end of a recording, single events back lead through the moments of those forward."""
    monkeypatch.setattr(checkpoints, "_LEAST_BYTES", least)
    monkeypatch.setattr(checkpoints, "_STATE_SHARE", 0)
    monkeypatch.setattr("agentwatch.recording.lines._READ_BYTES", 2048)
    history = opened(RECORDINGS / "parallel.ndjson")
    moments = forwards(history)
    back = [moments[-1]]
    while back[-1]:
        back.append(history.event_before(back[-1]))
    assert back[::-1] == moments
    assert len(moments) > 10


def test_lines_that_report_nothing_new_are_passed(tmp_path: Path) -> None:
    """Lines that change nothing on the screen are not events."""
    lines = (RECORDINGS / "demo.ndjson").read_bytes().splitlines(keepends=True)
    path = tmp_path / "session.ndjson"
    path.write_bytes(lines[0] + lines[1] + b"\n\n\n" + lines[2])
    moments = forwards(opened(path))
    assert moments == [0, len(lines[0]), len(lines[0] + lines[1]), path.stat().st_size]


DONE = {"success": {"message": "x" * 2000}}


@pytest.mark.parametrize("calls", [1, 3])
def test_the_end_begins_with_a_call(tmp_path: Path, calls: int) -> None:
    """A text of which the beginning was passed over is not shown; what follows the next call is."""
    spoken = [f"Sentence {number}. " for number in range(3000)]
    lines = [init(), user("Do much."), *map(delta, spoken), final("".join(spoken))]
    for number in range(calls):
        lines.append(started("edit", f"c{number}", path=f"{number}.py"))
        lines.append(completed("edit", f"c{number}", DONE, path=f"{number}.py"))
    path = tmp_path / "r.ndjson"
    path.write_bytes(b"".join([*lines, delta("Done."), final("Done."), result("all")]))
    preview = preview_feed(open_saved(path))
    entries = preview.session.transcript
    assert [entry.kind for entry in entries] == [Kind.PROMPT, *[Kind.CALL] * calls, Kind.ANSWER, Kind.RESULT]
    assert entries[-2].text == "Done."
    assert [call.target for call in preview.session.calls] == [f"{number}.py" for number in range(calls)]


@pytest.fixture
def late_agent(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a second agent be known."""
    add_late_agent(monkeypatch)


@pytest.mark.usefixtures("late_agent")
def test_lines_are_held_while_the_stream_goes_on(recording: Saver) -> None:
    """A line of no known agent is applied in its place when the agent is known; fifty lines, 1 MiB, or the
    end release them as unknown. What is not JSON is shown at once.
    """
    path = recording(ASKED)
    feed = feed_of(path, follow=True)
    assert (feed.session.lines.total, feed.held_lines, feed.backlog()) == (0, 1, 0)
    with path.open("ab") as file:
        file.write(LATE_START)
    feed.advance()
    assert (feed.session.lines.total, feed.session.lines.unknown, feed.held_lines) == (2, 0, 0)
    assert feed.session.transcript[0].kind is Kind.PROMPT
    for lines, unknown in [
        ([ASKED] * 49, 0),
        ([ASKED] * 50, 50),
        ([line({"type": "asked", "text": "x" * (1 << 20)})], 1),
    ]:
        with case((lines, unknown)):
            session = feed_of(recording(*lines, LATE_START)).session
            assert session.lines.unknown == unknown
            assert session.lines.total == len(lines) + 1
    feed = feed_of(recording(ASKED, b"noise\n", ASKED))
    assert (feed.session.lines.unknown, feed.session.lines.malformed, feed.held_lines) == (2, 1, 0)
    assert feed.is_over
    feed = feed_of(recording(b"Checking for updates\n"), follow=True)
    assert (feed.session.lines.malformed, feed.held_lines) == (1, 0)
    session = feed_of(recording(ASKED, b"a notice\n", LATE_START)).session
    assert session.lines.unknown == 0
    assert [entry.kind for entry in session.transcript] == [Kind.PROMPT, Kind.NOTICE, Kind.NOTICE]
    assert session.lines.total == 3
    assert session.traits == LATE.traits


@pytest.mark.usefixtures("late_agent")
def test_another_agent_may_start_a_run(recording: Saver) -> None:
    """The start line of a second agent changes the format; another line that the known agent does not write
    stays unknown.
    """
    session = feed_of(recording(init(), user(), final("Done."), result("Done."), LATE_START, ASKED)).session
    assert [run.format for run in session.runs] == ["cursor", "late"]
    assert [run.outcome for run in session.runs] == [Outcome.SUCCEEDED, Outcome.UNFINISHED]
    assert session.lines.unknown == 0
    assert session.transcript[-1].text == "Do it."
    session = feed_of(recording(init(), event("later"), started("read"), result())).session
    assert session.lines.unknown == 1
    assert session.run.format == "cursor"


LINE_BYTES = 10


def timeline_of(folder: Path, lines: int) -> RecordedTimes:
    """Return the timeline of a recording with lines of ten bytes, of which none was noted yet."""
    path = folder / "lines"
    path.write_bytes(b"123456789\n" * lines)
    return RecordedTimes(os.open(path, os.O_RDONLY))


def test_moments_and_times_lead_to_each_other(tmp_path: Path) -> None:
    """The moment at a time follows the last line that arrived at it, also of a burst; the times around a
    time are found, and lines after the clock was put back have the time before that.
    """
    for count in [9, 20_000]:
        with case(count):
            timeline = timeline_of(tmp_path, count)
            for number in range(count):
                timeline.note(Place(number * LINE_BYTES, LINE_BYTES - 1, 1000 + number // 3))
            for number in range(0, count, max(count // 50, 1)):
                end = min((number // 3 + 1) * 3, count) * LINE_BYTES
                assert timeline.offset_at(1000 + number // 3) == end
                assert timeline.ms_at((number + 1) * LINE_BYTES) == 1000 + number // 3
    for count in [9, 20_000]:
        with case(count):
            timeline = timeline_of(tmp_path, count)
            for number in range(count):
                timeline.note(Place(number * LINE_BYTES, LINE_BYTES - 1, 1000 + 10 * number))
            last_ms = 1000 + 10 * (count - 1)
            assert timeline.around(999) == (None, 1000)
            for at_ms in range(1000, last_ms, 10 * max(count // 500, 1)):
                assert timeline.around(at_ms) == (at_ms, at_ms + 10)
                assert timeline.around(at_ms + 9.5) == (at_ms, at_ms + 10)
            assert timeline.around(last_ms) == (last_ms, None)
    timeline = timeline_of(tmp_path, 5)
    timeline.note(Place(0, 49, 4000), Pieces(1000, 1000, (10, 20, 40), (2000, 3000, 4000)))
    assert [timeline.offset_at(ms) for ms in (999, 1000, 1999, 2000, 3000, 4000)] == [0, 10, 10, 20, 40, 50]
    assert [timeline.ms_at(offset) for offset in range(10, 60, 10)] == [1000, 2000, 3000, 3000, 4000]
    timeline = timeline_of(tmp_path, 4)
    for number, seen_ms in enumerate((5000, 1000, None, 6000)):
        timeline.note(Place(number * LINE_BYTES, LINE_BYTES - 1, seen_ms))
    assert [timeline.ms_at(offset) for offset in range(10, 50, 10)] == [5000, 5000, 5000, 6000]
    assert (timeline.offset_at(5999), timeline.offset_at(6000)) == (30, 40)
