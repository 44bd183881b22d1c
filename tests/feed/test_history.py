"""A history shows the session at earlier moments, whatever the recording is made of."""

import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from agentwatch.agents.registry import agent_named
from agentwatch.feed.feed import Feed
from agentwatch.feed.history import History
from agentwatch.recording import lines as read
from agentwatch.recording.lines import LineReader, Until
from agentwatch.recording.saved import open_saved
from agentwatch.session.session import CallChanges
from tests.builders.claude_lines import answer, call, say
from tests.builders.claude_lines import init as init_of_claude
from tests.builders.claude_lines import result as claude_result
from tests.builders.claude_lines import written as written_lines
from tests.builders.lines import completed, delta, final, init, result, started, user
from tests.builders.moment.any_recording import dense, fed_until, line_ends, with_history, written
from tests.builders.moment.session_facts import different, facts

Opened = Callable[..., tuple[Feed, History, LineReader]]
DELTAS = 400
START_MS = 1_700_000_000_000


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Opened]:
    """Return a function that reads a recording, with its times, and returns feed, history and reader."""
    readers = list[LineReader]()

    def read_whole(
        data: bytes, times: Iterator[tuple[int, int]] | None = None
    ) -> tuple[Feed, History, LineReader]:
        reader = open_saved(written(tmp_path / f"{len(readers)}.ndjson", data, times))
        readers.append(reader)
        feed, history = with_history(reader)
        feed.advance()
        return feed, history, reader

    yield read_whole
    for reader in readers:
        os.close(reader.fd)


def check(history: History, reader: LineReader, moments: list[int]) -> None:
    """Check that the session at moments is that of the bytes before them."""
    for moment in moments:
        expected = fed_until(reader, moment).session
        assert list(different(facts(history.at(moment).session), facts(expected))) == [], moment


def streamed(at_ms: Callable[[int], int] = lambda number: START_MS + 40 * number) -> bytes:
    """Return a session that streams many deltas, each with a time."""
    deltas = (delta(f"word {number} ", at_ms(number)) for number in range(DELTAS))
    text = "".join(f"word {number} " for number in range(DELTAS))
    return b"".join([init(), user(), *deltas, final(text), result(text)])


def test_a_corrected_outcome_is_that_of_its_moment(opened: Opened) -> None:
    """Before the line that corrects it, a call has failed; the line reports the call as changed."""
    refused = answer("uses .NET methods", is_error=True)
    lines = [init_of_claude(), call("Bash", command="ls"), refused, say("x" * 700_000), say("y")]
    before = written_lines(*lines)
    denied = claude_result(permission_denials=[{"tool_name": "Bash", "tool_use_id": "t-1"}])
    feed, history, reader = opened(before + written_lines(denied))
    check(history, reader, line_ends(before))
    assert feed.session.calls[0].outcome == "rejected"
    assert [history.at(end).session.calls[0].outcome for end in line_ends(before)[1:]] == [
        *("running", "failed", "failed", "failed")
    ]
    shown = history.at(line_ends(before)[2]).session
    of_moment = CallChanges(shown)
    assert (of_moment.take(10), of_moment.take(10)) == ([0], [])
    until = Until(len(before))
    earlier = Feed(LineReader(reader.fd, until, reader.times))
    earlier.advance()
    changes = CallChanges(earlier.session)
    assert changes.take(10) == [0]
    until.end += len(written_lines(denied))
    earlier.advance()
    assert (changes.take(10), changes.take(10)) == ([0], [])
    skipped = CallChanges(earlier.session)
    skipped.skip(1)
    assert (skipped.take(10), skipped.count) == ([], 1)


def test_the_first_and_the_live_moment(opened: Opened, tmp_path: Path) -> None:
    """The session at the end is that of the feed itself. That before the first line has the name of the
    agent, if it is given, as a new feed has.
    """
    feed, history, _ = opened(streamed())
    assert history.at(feed.offset) is feed
    assert history.at(1 << 60) is feed
    assert history.at(feed.offset - 1) is not feed
    assert len(history.at(0).session.transcript) == 0
    # A known agent is known from the start.
    reader = open_saved(written(tmp_path / "named.ndjson", streamed()))
    named = Feed(reader, agent_named("cursor"))
    history = History(named, reader)
    named.advance()
    assert (
        history.at(0).session.agent_name == Feed(reader, agent_named("cursor")).session.agent_name == "cursor"
    )
    os.close(reader.fd)


@pytest.mark.parametrize("has_arrivals", [False, True], ids=["agent times", "arrival times"])
def test_each_delta_of_a_burst_has_its_own_time(opened: Opened, *, has_arrivals: bool) -> None:
    """A time within a long text leads to the delta of that time, although all are applied at once."""
    data = streamed()
    ends = line_ends(data)
    arrived = ((end, START_MS + 40 * (number - 1)) for number, end in enumerate([0, *ends]))
    _, history, _ = opened(data, arrived if has_arrivals else None)
    timeline = history.timeline
    for number in range(1, DELTAS - 1, 7):
        moment = ends[2 + number]
        assert timeline.offset_at(START_MS + 40 * number + (40 if has_arrivals else 0)) == moment
        assert history.at(moment).session.text.endswith(f"word {number} ")
        shown_ms = timeline.ms_at(moment)
        assert shown_ms == START_MS + 40 * number + (40 if has_arrivals else 0)


@pytest.mark.parametrize("jump_ms", [-3_600_000, 3_600_000], ids=["back", "forward"])
def test_clocks_may_jump(opened: Opened, monkeypatch: pytest.MonkeyPatch, jump_ms: int) -> None:
    """If a clock jumps by an hour, moments are as they were, times never go back, and each has a moment."""
    dense(monkeypatch)
    data = streamed(lambda number: START_MS + 40 * number + (jump_ms if number > DELTAS // 2 else 0))
    ends = line_ends(data)
    middle = ends[len(ends) // 2]
    arrived = [(end, START_MS + end + (jump_ms if end > middle else 0)) for end in [0, *ends]]
    for times in (None, iter(arrived)):
        _, history, reader = opened(data, times)
        check(history, reader, ends[3:-1:41])
        found = [history.timeline.ms_at(end) or 0 for end in ends]
        assert found == sorted(found)
        for at_ms in range(START_MS - abs(jump_ms), START_MS + 2 * abs(jump_ms), 600_007):
            assert 0 <= history.timeline.offset_at(at_ms) <= history.timeline.size
            assert history.timeline.offset_at(at_ms) in {0, *ends}


def cross(opened: Opened, count: int) -> None:
    """Check the moments before, among and after blank lines that lie between two events."""
    before, after = b"".join([init(), user()]), final("Done.")
    data = before + b"\n" * count + after
    _, history, reader = opened(data + result("Done."))
    check(history, reader, [len(before), len(before) + count // 2, len(data) - len(after), len(data)])
    assert history.timeline.before(len(before) + count // 2) == len(before) + count // 2 - 1


def test_lines_without_an_event_are_passed(opened: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    """Moments before and after an oversize line are as they were, and it is one step in each direction;
    20,000 blank lines change nothing. Without any time, moments are found by their offset.
    """
    monkeypatch.setattr(read, "MOST_LINE_BYTES", 1 << 20)
    huge = completed("read", "c-1", result={"success": {"content": "x" * (3 << 20)}})
    lines = [init(), user(), started("read", "c-1", path="a.txt"), huge, final("Done.")]
    data = b"".join(lines)
    _, history, reader = opened(data)
    ends = line_ends(data)
    check(history, reader, [*ends[:-1], *ends[-2::-1]])
    assert history.timeline.before(ends[3]) == ends[2]
    assert history.timeline.after(ends[2]) == ends[3]
    assert history.timeline.aligned(ends[3] - 1) == ends[2]
    # Blank lines.
    cross(opened, 20_000)
    # Without times, moments step from line to line.
    dense(monkeypatch)
    calls = (started("shell", f"c-{number}", command="make") for number in range(40))
    data = b"".join([init(), user(), *calls])
    _, history, reader = opened(data)
    timeline, ends = history.timeline, line_ends(data)
    assert (timeline.has_times, timeline.ms_at(ends[5]), timeline.offset_at(0)) == (False, None, len(data))
    assert [timeline.after(end) for end in [0, *ends[:-1]]] == ends
    assert [timeline.before(end) for end in ends] == [0, *ends[:-1]]
    assert timeline.aligned(ends[7] + 3) == ends[7]
    check(history, reader, ends[:-1:3])


@pytest.mark.costs
def test_a_desert_of_blank_lines_is_crossed_at_once(opened: Opened) -> None:
    """200,000 blank lines between two events take no step longer than a second."""
    began = time.process_time()
    cross(opened, 200_000)
    assert time.process_time() - began < 5


def test_a_cut_or_replaced_file_keeps_its_moments(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """If the file is truncated while an earlier moment is shown, moments before and after raise nothing. If
    another file takes the name of a followed one, the moments are those of the old one.
    """
    dense(monkeypatch)
    path = written(tmp_path / "cut.ndjson", streamed())
    ends = line_ends(path.read_bytes())
    reader = open_saved(path, True)
    feed, history = with_history(reader)
    feed.advance()
    history.at(ends[200])
    os.truncate(path, ends[100])
    feed.advance()
    for moment in (ends[50], ends[99], ends[250], ends[300], ends[20]):
        text = history.at(moment).session.text
        assert text == feed.session.text[: len(text)]
    assert history.at(ends[20]).session.text.endswith("word 18 ")
    os.close(reader.fd)
    # Another file takes its name.
    data = streamed()
    path = written(tmp_path / "replaced.ndjson", data)
    reader = open_saved(path, True)
    feed, history = with_history(reader)
    feed.advance()
    written(tmp_path / "other", b"".join([init(), user("Another.")])).replace(path)
    feed.advance()
    assert feed.is_over
    check(history, reader, line_ends(data)[-3::-60])
    os.close(reader.fd)


def test_steps_back_are_the_steps_on_in_reverse(opened: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    """Going back event by event passes the same moments as going on, from any of them."""
    dense(monkeypatch)
    data = streamed() + b"".join([user("Again."), started("read", "c-1", path="a.txt"), final("Done.")])
    feed, history, _ = opened(data)
    forward = [0]
    while forward[-1] < feed.offset:
        forward.append(history.event_after(forward[-1]))
    backward = [feed.offset]
    while backward[-1] > 0:
        backward.append(history.event_before(backward[-1]))
    assert len(forward) > DELTAS
    assert backward == forward[::-1]
    for at in range(len(forward) - 1, 0, -37):
        assert history.event_before(forward[at]) == forward[at - 1]
        assert history.event_after(forward[at - 1]) == forward[at]
