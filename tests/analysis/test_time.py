"""The time breakdown: shares add up to the whole, and unknown time is not attributed."""

from __future__ import annotations

import pytest

from agentwatch.analysis.time import Share, TimeBreakdown
from agentwatch.session.events import Prompt, RunStarted
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


def parts(*events: TimedEvent) -> dict[str, int]:
    """Return the shares that are not 0, by name."""
    found = account(*events)
    assert sum(found.parts.values()) == found.whole_ms
    return {str(share): ms for share, ms in found.parts.items() if ms}


def test_each_share_is_the_time_of_its_entries() -> None:
    """Thinking and writing last from the first to the last piece, a tool from start to end."""
    events = [thinks(0), falls_silent(30), says(40), says(60), begins(1, 70), ends(1, 170), says(200)]
    assert parts(*events) == {"thinking": 30, "writing": 20, "tools": 100, "waiting for the model": 50}


def test_time_that_calls_share_counts_once() -> None:
    """Parallel calls count once, from the first start to the last end."""
    events = [begins(1, 0), begins(2, 10), ends(2, 40), begins(3, 45), ends(1, 50), ends(3, 60)]
    assert parts(*events) == {"tools": 60}
    assert [tool[1:] for tool in account(*events).tools] == [(3, 50 + 30 + 15)]


def test_text_during_a_call_counts_for_the_tool() -> None:
    """When a call and a text overlap, the time counts for the tool."""
    assert parts(begins(1, 0), says(10), says(40), ends(1, 30)) == {"tools": 30, "writing": 10}


def test_a_silence_with_a_notice_is_separate() -> None:
    """A gap with a notice of a lost connection or a retry is separate from unknown time."""
    assert parts(says(0), says(10), NOTICE, says(50)) == {"writing": 10, "waiting (notice)": 40}


@pytest.mark.parametrize("untimed", [says(None), begins(9, None)])
def test_a_silence_that_holds_something_untimed_is_unattributed(untimed: TimedEvent) -> None:
    """A gap with a text or a call of unknown time is unattributed."""
    assert parts(begins(1, 0), ends(1, 10), untimed, begins(2, 50), ends(2, 60)) == {
        "tools": 20,
        "unattributed": 40,
    }


def test_a_call_without_an_end_leaves_the_silence_after_it_unattributed() -> None:
    """The time in which a call without an end may have run is unattributed, except where more is known."""
    events = [says(0), says(10), begins(1, 20), begins(2, 30), ends(2, 50), thinks(70), falls_silent(90)]
    assert parts(*events) == {
        "writing": 10,
        "tools": 20,
        "thinking": 20,
        "waiting for the model": 10,
        "unattributed": 30,
    }
    assert account(*events).running == 1


def test_a_lost_call_ends_with_its_run() -> None:
    """A call that never ended may have run until the end of its run, and no longer."""
    first = [begins(1, 0), thinks(20), falls_silent(30), over()]
    second = [PROMPT, thinks(100), falls_silent(110), begins(2, 150), ends(2, 160)]
    assert parts(INIT, *first, INIT, *second) == {
        "unattributed": 20,
        "thinking": 20,
        "waiting for the model": 40,
        "tools": 10,
    }


def test_the_time_between_runs_is_no_part() -> None:
    """The time from the last event of a run to the first of the next is not part of the whole."""
    found = account(INIT, says(0), says(10), over(), INIT, PROMPT, says(5000), says(5020))
    assert (found.whole_ms, found.between_runs_ms) == (30, 4990)


def test_the_rest_of_a_runs_duration_is_unattributed() -> None:
    """If a run's own duration exceeds its timed events, the rest is unattributed."""
    assert parts(INIT, says(0), says(10), over(100)) == {"writing": 10, "unattributed": 90}
    assert parts(INIT, says(0), says(10), over(5)) == {"writing": 10}


def test_durations_are_not_added_while_a_run_continues() -> None:
    """Durations of earlier runs are not added while the current run has not ended."""
    assert account(INIT, says(0), says(10), over(100), INIT, PROMPT, says(200), says(220)).whole_ms == 30


def test_a_call_with_only_an_end_leaves_time_unattributed() -> None:
    """A call with only an end leaves the time before it unattributed."""
    assert parts(says(0), says(10), ends(1, 50)) == {"writing": 10, "unattributed": 40}
    assert parts(says(0), says(10), ends(1, 50), says(60)) == {"writing": 10, "unattributed": 50}


def test_arrival_times_show_only_the_tools() -> None:
    """Without agent times, arrival times show the tools only; the rest is unattributed."""
    events = [(INIT[0], 0), begins(1, None, 100), ends(1, None, 350), (says(None)[0], 400), over(None, 500)]
    found = account(*events)
    assert not found.is_agent_time
    assert parts(*events) == {"tools": 250, "unattributed": 250}
    assert account(thinks(5), *events).is_agent_time


def test_without_any_times_the_breakdown_is_empty() -> None:
    """Without any times the breakdown is empty."""
    found = account(INIT, begins(1, None), ends(1, None), says(None), over())
    assert found.whole_ms == sum(found.parts.values()) == 0
    assert not found.tools
    assert not found.slowest


def test_the_slowest_calls_and_the_longest_tools_come_first() -> None:
    """At most five slowest calls are listed, the earlier first among equals; all tools are listed."""
    events: list[TimedEvent] = []
    for number, ms in enumerate([5, 90, 20, 70, 20, 60, 80], 1):
        tool = "read" if number == 2 else "shell"
        events += [begins(number, 0, tool=tool), ends(number, ms, tool=tool)]
    found = account(*events)
    assert [call.number for call in found.slowest] == [2, 7, 4, 6, 3]
    assert found.tools == [("shell", 6, 255), ("read", 1, 90)]


def test_a_text_counts_while_it_grows() -> None:
    """A growing text counts up to its last piece, and the time before it counts at once."""
    read = session_of(says(0), says(10), NOTICE, thinks(30))
    breakdown = TimeBreakdown(read)
    assert not breakdown.update()
    apply_events(read, [thinks(40)])
    breakdown.update()
    assert breakdown.account().parts[Share.THINKING] == 10
    apply_events(read, [thinks(45), falls_silent(50), says(70), says(75)])
    breakdown.update()
    found = breakdown.account()
    assert (found.parts[Share.THINKING], found.parts[Share.NOTICED]) == (20, 20)
    assert (found.parts[Share.WRITING], found.parts[Share.WAITING]) == (15, 20)


def test_take_reads_a_limited_number_of_entries() -> None:
    """`update` reads at most the given number of entries and calls, and returns whether there are more."""
    calls = [(begins(number, number), ends(number, number + 1)) for number in range(10)]
    read = session_of(*(event for call in calls for event in call))
    breakdown = TimeBreakdown(read)
    takes = 1
    while breakdown.update(3):
        takes += 1
    assert takes == 4
    assert breakdown.account().parts[Share.TOOLS] == 10


def test_the_time_between_turns_is_no_part_of_the_whole() -> None:
    """The pause from the end of a turn to the next prompt counts as between runs, by arrival times too."""
    turns: list[TimedEvent] = [
        (RunStarted("x"), 0),
        (Prompt("One."), 0),
        over(4_000, 4_000),
        (Prompt("Two."), 60_000),
        over(5_000, 65_000),
    ]
    found = account(*turns)
    assert (found.whole_ms, found.between_runs_ms) == (9_000, 56_000)


def test_the_duration_of_a_run_is_that_of_its_turns() -> None:
    """The durations that the agent reported for the turns of a run are added."""
    first = (INIT, PROMPT, says(1_000), says(3_000), over(4_000))
    assert account(*first, PROMPT, says(60_000), says(61_000), over(5_000)).whole_ms == 9_000


def test_the_prompt_of_a_subagent_is_no_pause() -> None:
    """The time after the prompt of a subagent is not between runs."""
    sub: TimedEvent = Prompt("Find it.", agent="t"), None
    found = account(INIT, PROMPT, says(1_000), sub, begins(1, 9_000), ends(1, 10_000), over())
    assert found.between_runs_ms == 0
