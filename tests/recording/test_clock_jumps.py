"""With a wall clock that jumps, or arrival times in any order, no duration is ever negative."""

import json
import re
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentwatch.agents import Decoder
from agentwatch.analysis.silence import call_clock
from agentwatch.analysis.status import status
from agentwatch.base.clock import now_ms
from agentwatch.cli.printing import print_session
from agentwatch.feed.feed import Feed, LineJoiner
from agentwatch.output.log import ActionLog
from agentwatch.output.summary import summary
from agentwatch.recording.lines import Line
from agentwatch.screen.panes.header import _run_clock
from agentwatch.screen.panes.transcript.block_list import thought_for
from agentwatch.session.events import Outcome
from agentwatch.session.reducers import apply_line
from agentwatch.session.session import Session
from agentwatch.session.transcript import Kind
from agentwatch.sources.open import KeepOptions, agent_source
from tests.builders.lines import (
    PROPERTY,
    completed,
    delta,
    init,
    result,
    started,
    thought,
    thought_through,
    user,
)
from tests.conftest import RECORDINGS
from tests.harness.fake_agent import command

PLAIN = RECORDINGS / "plain.ndjson"
HOUR_NS = 3_600 * 10**9
NEGATIVE = re.compile(r"(?<![\w.])[-−]\s*\d")
DURATIONS = ("duration_ms", "duration_api_ms")
MOMENTS = st.integers(0, 2**41) | st.sampled_from([0, 1, 999, 1000])


@pytest.fixture
def jumps(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Set the wall clock back an hour at each reading, and return the readings."""
    readings, begun = list[int](), time.time_ns()

    def jumping() -> int:
        readings.append(begun - len(readings) * HOUR_NS)
        return readings[-1]

    monkeypatch.setattr(time, "time_ns", jumping)
    monkeypatch.setattr(time, "time", lambda: jumping() / 1e9)
    return readings


def test_our_clock_does_not_jump_with_the_wall_clock(jumps: list[int]) -> None:
    """After the wall clock is set back, our clock keeps going forward by the time that has passed."""
    begun, first = time.monotonic_ns(), now_ms()
    readings = []
    for _ in range(1000):
        time.time_ns()
        readings.append(now_ms())
    passed_ms = (time.monotonic_ns() - begun) // 10**6 + 1
    assert len(jumps) >= 1000
    assert readings == sorted(readings)
    assert 0 <= readings[-1] - first <= passed_ms


@pytest.mark.slow
def test_an_agent_is_timed_forward(jumps: list[int], tmp_path: Path) -> None:
    """The arrival times of an agent ascend, and end not before start, while the wall clock is set back."""
    keep = KeepOptions(recording=tmp_path / "r.ndjson")
    source = agent_source(command(PLAIN, "--pace", "200"), keep)
    assert print_session(source, Feed(source.reader), "text") == 0
    process = json.loads((tmp_path / "r.json").read_text())
    assert process["started_ms"] <= process["ended_ms"]
    times = [int(row.split()[1]) for row in (tmp_path / "r.times").read_text().splitlines()]
    assert len(times) > 1
    moments = [process["started_ms"], *times, process["ended_ms"]]
    assert moments == sorted(moments)


@pytest.mark.slow
@pytest.mark.usefixtures("jumps")
def test_a_clock_jump_does_not_end_the_grace_period(tmp_path: Path) -> None:
    """An agent that hangs after its result gets its full 30 s, whatever the wall clock does."""
    source = agent_source(command(PLAIN, "--hang"), KeepOptions(record=False, write_log=False))
    feed = Feed(source.reader)
    while (ended := feed.session.run.ended) is None:
        feed.advance(0.1)
        assert not source.outlives(None)
    for _ in range(100):
        time.time_ns()
        assert not source.outlives(ended.seen_ms)
    source.stop()


def session_of(lines: list[bytes], seen: list[int]) -> Session:
    """Return the session of these lines, each received at the time beside it."""
    decoder, session, offset = Decoder(), Session(), 0
    joiner = LineJoiner(decoder)
    for data, seen_ms in zip(lines, seen, strict=False):
        for found in joiner.take(Line(offset, data.removesuffix(b"\n"), seen_ms)):
            apply_line(session, *found)
        offset += len(data)
    return session


def times_shown(session: Session, now: int) -> Iterator[str]:
    """Yield every text with a duration or a time, from the screen and the log."""
    yield status(session, now)
    yield str(_run_clock(session, now))
    yield from (call_clock(call, now) for call in session.calls)
    yield from (thought_for(entry) for entry in session.transcript if entry.kind is Kind.REASONING)
    yield from (line for line in ActionLog(session).new_lines(is_over=True) if line.startswith("#"))


@pytest.mark.slow
@PROPERTY
@given(
    st.lists(MOMENTS, min_size=9, max_size=9),
    st.lists(MOMENTS, min_size=6, max_size=6),
    MOMENTS,
    st.booleans(),
)
def test_no_duration_is_negative(seen: list[int], agent: list[int], now: int, is_over: bool) -> None:
    """With arrival times and agent times in any order, a duration is shown as a length or not at all."""
    lines = [
        *(init(), user(), thought("Hm.", agent[0]), thought_through(agent[1])),
        *(started("read", "a", agent[2], path="x"), delta("So.", agent[3])),
        *(completed("read", "a", {"success": {}}, agent[4], path="x"), started("shell", "b", agent[5])),
        result("So."),
    ]
    session = session_of(lines if is_over else lines[:-1], seen)
    for call in session.calls:
        assert call.duration_ms is None or call.duration_ms >= 0
        assert call.seen_duration_ms is None or call.seen_duration_ms > 0
        assert call.outcome is not Outcome.FAILED
    for words in times_shown(session, now):
        assert not NEGATIVE.search(words), words
    summed = json.loads(b"".join(summary(session)))
    numbers = [summed[key] for key in DURATIONS] + [call["duration_ms"] for call in summed["calls"]]
    assert all(number is None or number >= 0 for number in numbers)
