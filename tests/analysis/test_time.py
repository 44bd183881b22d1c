"""What a session's time was spent on, and that its parts add up."""

from collections.abc import Iterable

from hypothesis import given
from hypothesis import strategies as st

from agentwatch.analysis.time import Account, IntervalSet, Share, TimeBreakdown
from agentwatch.session.call import Call, Place
from agentwatch.session.events import (
    Channel,
    Event,
    Notice,
    Outcome,
    Prompt,
    RunStarted,
    Text,
    TextEnded,
    ToolEnded,
    ToolKind,
    ToolStarted,
    TurnEnded,
)
from agentwatch.session.reducers import apply_line
from agentwatch.session.session import Session
from agentwatch.session.transcript import Kind
from tests.builders.lines import PROPERTY
from tests.conftest import case

TimedEvent = tuple[Event, int | None]
"""An event, and the arrival time of its line."""


def begins(number: int, at_ms: int | None, seen_ms: int | None = None, tool: str = "shell") -> TimedEvent:
    return ToolStarted(f"c-{number}", "s", tool, ToolKind.EXECUTE, "Ran", None, at_ms=at_ms), seen_ms


def ends(number: int, at_ms: int | None, seen_ms: int | None = None, tool: str = "shell") -> TimedEvent:
    kind, outcome = ToolKind.EXECUTE, Outcome.SUCCEEDED
    return ToolEnded(f"c-{number}", "s", tool, kind, outcome, "Ran", at_ms=at_ms), seen_ms


def says(at_ms: int | None, channel: Channel = Channel.ANSWER) -> TimedEvent:
    """Return a piece of text."""
    return Text(channel, "x", at_ms), None


def thinks(at_ms: int | None) -> TimedEvent:
    """Return a piece of reasoning."""
    return says(at_ms, Channel.REASONING)


def falls_silent(at_ms: int | None) -> TimedEvent:
    """Return the end of a block of reasoning."""
    return TextEnded(Channel.REASONING, at_ms), None


NOTICE: TimedEvent = Notice("connection reconnecting"), None
INIT: TimedEvent = RunStarted("cursor"), None
PROMPT: TimedEvent = Prompt("Do it."), None


def over(duration_ms: int | None = None, seen_ms: int | None = None) -> TimedEvent:
    """Return the result of a run."""
    return TurnEnded(Outcome.SUCCEEDED, "x", duration_ms=duration_ms), seen_ms


def session_of(*events: TimedEvent) -> Session:
    """Return the session with these events applied."""
    read = Session()
    apply_events(read, events)
    return read


def apply_events(read: Session, events: tuple[TimedEvent, ...] | list[TimedEvent]) -> None:
    for event, seen_ms in events:
        apply_line(read, [event], Place(0, 1, seen_ms))


def account(*events: TimedEvent) -> Account:
    """Return the time breakdown of these events."""
    breakdown = TimeBreakdown(session_of(*events))
    breakdown.update()
    return breakdown.account()


def parts(*events: TimedEvent) -> dict[str, int]:
    """Return the shares that are not 0, by name."""
    found = account(*events)
    assert sum(found.parts.values()) == found.whole_ms
    return {str(share): ms for share, ms in found.parts.items() if ms}


def test_shares_of_time() -> None:
    """Thinking and writing last from the first to the last piece, a tool from start to end; parallel calls
    count once, and before a text. A gap with a notice is separate; one with an unknown time, or after a
    call without an end, is unattributed. At most five slowest calls are listed, the earlier first among
    equals; all tools are listed. Arrival times show the tools; without any times the breakdown is empty.
    """
    events = [thinks(0), falls_silent(30), says(40), says(60), begins(1, 70), ends(1, 170), says(200)]
    assert parts(*events) == {"thinking": 30, "writing": 20, "tools": 100, "waiting for the model": 50}
    events = [begins(1, 0), begins(2, 10), ends(2, 40), begins(3, 45), ends(1, 50), ends(3, 60)]
    assert parts(*events) == {"tools": 60}
    assert [tool[1:] for tool in account(*events).tools] == [(3, 50 + 30 + 15)]
    assert parts(begins(1, 0), says(10), says(40), ends(1, 30)) == {"tools": 30, "writing": 10}
    assert parts(says(0), says(10), NOTICE, says(50)) == {"writing": 10, "waiting (notice)": 40}
    for untimed in [says(None), begins(9, None)]:
        with case(untimed):
            assert parts(begins(1, 0), ends(1, 10), untimed, begins(2, 50), ends(2, 60)) == {
                "tools": 20,
                "unattributed": 40,
            }
    # A call without an end leaves the silence after it unattributed.
    events = [says(0), says(10), begins(1, 20), begins(2, 30), ends(2, 50), thinks(70), falls_silent(90)]
    assert parts(*events) == {
        "writing": 10,
        "tools": 20,
        "thinking": 20,
        "waiting for the model": 10,
        "unattributed": 30,
    }
    assert account(*events).running == 1
    first = [begins(1, 0), thinks(20), falls_silent(30), over()]
    second = [PROMPT, thinks(100), falls_silent(110), begins(2, 150), ends(2, 160)]
    assert parts(INIT, *first, INIT, *second) == {
        "unattributed": 20,
        "thinking": 20,
        "waiting for the model": 40,
        "tools": 10,
    }
    assert parts(says(0), says(10), ends(1, 50)) == {"writing": 10, "unattributed": 40}
    assert parts(says(0), says(10), ends(1, 50), says(60)) == {"writing": 10, "unattributed": 50}
    # The slowest and the longest come first.
    other_events: list[TimedEvent] = []
    for number, ms in enumerate([5, 90, 20, 70, 20, 60, 80], 1):
        other_tool = "read" if number == 2 else "shell"
        other_events += [begins(number, 0, tool=other_tool), ends(number, ms, tool=other_tool)]
    found = account(*other_events)
    assert [call.number for call in found.slowest] == [2, 7, 4, 6, 3]
    assert found.tools == [("shell", 6, 255), ("read", 1, 90)]
    # Without agent times only tools are known.
    other_events = [
        (INIT[0], 0),
        begins(1, None, 100),
        ends(1, None, 350),
        (says(None)[0], 400),
        over(None, 500),
    ]
    found = account(*other_events)
    assert not found.is_agent_time
    assert parts(*other_events) == {"tools": 250, "unattributed": 250}
    assert account(thinks(5), *other_events).is_agent_time
    found = account(INIT, begins(1, None), ends(1, None), says(None), over())
    assert found.whole_ms == sum(found.parts.values()) == 0
    assert not found.tools
    assert not found.slowest


def test_the_duration_of_runs_and_texts() -> None:
    """Time between runs and turns is no part of the whole, unless the prompt is a subagent's. The rest of a
    reported duration, that of all turns, is unattributed once the run has ended. It counts up to its last
    piece, and the time before it at once; `update` reads at most the given number of entries.
    """
    found = account(INIT, says(0), says(10), over(), INIT, PROMPT, says(5000), says(5020))
    assert (found.whole_ms, found.between_runs_ms) == (30, 4990)
    assert parts(INIT, says(0), says(10), over(100)) == {"writing": 10, "unattributed": 90}
    assert parts(INIT, says(0), says(10), over(5)) == {"writing": 10}
    assert account(INIT, says(0), says(10), over(100), INIT, PROMPT, says(200), says(220)).whole_ms == 30
    turns: list[TimedEvent] = [
        (RunStarted("x"), 0),
        (Prompt("One."), 0),
        over(4_000, 4_000),
        (Prompt("Two."), 60_000),
        over(5_000, 65_000),
    ]
    found = account(*turns)
    assert (found.whole_ms, found.between_runs_ms) == (9_000, 56_000)
    first = (INIT, PROMPT, says(1_000), says(3_000), over(4_000))
    assert account(*first, PROMPT, says(60_000), says(61_000), over(5_000)).whole_ms == 9_000
    sub: TimedEvent = Prompt("Find it.", parent_call="t"), None
    found = account(INIT, PROMPT, says(1_000), sub, begins(1, 9_000), ends(1, 10_000), over())
    assert found.between_runs_ms == 0
    # A text counts while it grows.
    read = session_of(says(0), says(10), NOTICE, thinks(30))
    breakdown = TimeBreakdown(read)
    assert not breakdown.update()
    apply_events(read, [thinks(40)])
    breakdown.update()
    assert breakdown.account().parts[Share.THINKING] == 10
    apply_events(read, [thinks(45), falls_silent(50), says(70), says(75)])
    breakdown.update()
    other_found = breakdown.account()
    assert (other_found.parts[Share.THINKING], other_found.parts[Share.NOTICED]) == (20, 20)
    assert (other_found.parts[Share.WRITING], other_found.parts[Share.WAITING]) == (15, 20)
    calls = [(begins(number, number), ends(number, number + 1)) for number in range(10)]
    read = session_of(*(event for call in calls for event in call))
    breakdown = TimeBreakdown(read)
    takes = 1
    while breakdown.update(3):
        takes += 1
    assert takes == 4
    assert breakdown.account().parts[Share.TOOLS] == 10


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
