"""For any session, read in any steps, the shares of its time add up to the whole."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentwatch.analysis.time import IntervalSet, Share, TimeBreakdown
from agentwatch.session.call import Call
from agentwatch.session.events import Text, TextEnded, ToolEnded, ToolStarted
from agentwatch.session.session import Session
from agentwatch.session.transcript import Kind
from tests.builders.lines import CURSOR_SHAPED, PROPERTY, line, session
from tests.builders.timed_events import (
    INIT,
    NOTICE,
    PROMPT,
    TimedEvent,
    account,
    apply_events,
    begins,
    ends,
    falls_silent,
    over,
    says,
    session_of,
    thinks,
)

TIME = st.integers(0, 60)
EVENTS: st.SearchStrategy[TimedEvent] = st.one_of(
    st.builds(begins, st.integers(0, 6), TIME | st.none(), st.none() | TIME),
    st.builds(ends, st.integers(0, 6), TIME | st.none(), st.none() | TIME),
    st.builds(says, TIME | st.none()),
    st.builds(thinks, TIME | st.none()),
    st.builds(falls_silent, TIME | st.none()),
    st.sampled_from([NOTICE, INIT, PROMPT]),
    st.builds(over, st.none() | st.integers(0, 90), st.none() | TIME),
)


def in_order(events: list[TimedEvent]) -> list[TimedEvent]:
    """Return the events with clocks that never go back, without late starts of calls that have ended."""
    agent = iter(sorted(at for event, _ in events if (at := getattr(event, "at_ms", None)) is not None))
    ours = iter(sorted(seen_ms for _, seen_ms in events if seen_ms is not None))
    kept: list[TimedEvent] = []
    ended: set[str] = set()
    for event, seen_ms in events:
        timed = event
        if isinstance(event, Text | TextEnded | ToolStarted | ToolEnded) and event.at_ms is not None:
            timed = event._replace(at_ms=next(agent))
        if not (isinstance(event, ToolStarted) and event.call_id in ended):
            kept.append((timed, None if seen_ms is None else next(ours)))
        if isinstance(event, ToolEnded):
            ended.add(event.call_id)
    return kept


STREAMS = st.lists(EVENTS, max_size=25).map(in_order)


@PROPERTY
@given(st.lists(EVENTS, max_size=25))
def test_the_parts_add_up_to_the_whole(events: list[TimedEvent]) -> None:
    """For any events in any order, no share is negative and none is missing."""
    found = account(*events)
    assert sum(found.parts.values()) == found.whole_ms
    assert min(found.parts.values()) >= 0
    assert found.between_runs_ms >= 0


@PROPERTY
@given(STREAMS, st.lists(st.integers(1, 3), max_size=25))
def test_reading_in_steps_changes_nothing(events: list[TimedEvent], steps: list[int]) -> None:
    """Reading the breakdown in small steps gives the same result as reading it at once."""
    read = Session()
    breakdown = TimeBreakdown(read)
    left = events
    for most in steps:
        now, left = left[:most], left[most:]
        apply_events(read, now)
        breakdown.update(most)
        breakdown.account()
    apply_events(read, left)
    while breakdown.update(2):
        breakdown.account()
    assert breakdown.account() == account(*events)


def is_known(calls: Iterable[Call], ms: int) -> bool:
    """Return whether a call ran at a moment."""
    return any(
        call.duration_ms is not None and call.started_ms <= ms < (call.ended_ms or 0)
        for call in calls
        if call.started_ms is not None
    )


@PROPERTY
@given(STREAMS)
def test_each_moment_counts_for_one_share(events: list[TimedEvent]) -> None:
    """Each moment counts for a tool if any call ran, else for writing, else for thinking."""
    read = session_of(*events)
    found = account(*events)
    if not found.is_agent_time:
        return
    texts = [entry for entry in read.transcript if entry.kind in (Kind.ANSWER, Kind.REASONING)]
    counted = dict.fromkeys((Share.TOOLS, Share.WRITING, Share.THINKING), 0)
    for ms in range(61):
        kinds = {
            entry.kind
            for entry in texts
            if entry.started_ms is not None and entry.started_ms <= ms < (entry.ended_ms or 0)
        }
        if is_known(read.calls, ms):
            counted[Share.TOOLS] += 1
        elif Kind.ANSWER in kinds:
            counted[Share.WRITING] += 1
        elif Kind.REASONING in kinds:
            counted[Share.THINKING] += 1
    assert counted == {share: found.parts[share] for share in counted}


@PROPERTY
@given(st.lists(st.tuples(TIME, TIME), max_size=20), TIME, TIME)
def test_a_union_holds_each_moment_once(pairs: list[tuple[int, int]], start: int, end: int) -> None:
    """The total of a union, and the uncovered part of any range, equal those of a set of moments."""
    union, moments = IntervalSet(), set[int]()
    for pair in pairs:
        union.add(min(pair), max(pair))
        moments |= set(range(min(pair), max(pair)))
    assert union.total == len(moments)
    start, end = sorted((start, end))
    assert union.missing(start, end) == len(set(range(start, end)) - moments)
    assert union.total == sum(last - first for first, last in union.intervals())


@pytest.mark.system
@PROPERTY
@given(st.lists(CURSOR_SHAPED, max_size=8))
def test_any_lines_have_a_time_breakdown(fields: list[dict[str, Any]]) -> None:
    """The time of a session adds up, whatever its lines contain."""
    breakdown = TimeBreakdown(session(*map(line, fields)))
    breakdown.update()
    found = breakdown.account()
    assert sum(found.parts.values()) == found.whole_ms
