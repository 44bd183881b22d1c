"""The time strip shows when each call ran, relative to its run."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from agentwatch.events import Outcome
from agentwatch.screen.calls.time_strip import TimeStrip
from agentwatch.session import Call, Place, Run, Session

WIDTH = 10


def call(
    begin_ms: int | None,
    end_ms: int | None,
    *,
    seen: tuple[int | None, int | None] = (None, None),
    outcome: Outcome = Outcome.SUCCEEDED,
) -> Call:
    """Return a call with times by the agent's clock and, in `seen`, by ours, in milliseconds."""
    ended = None if outcome is Outcome.RUNNING else Place(9, 9, seen[1])
    found = Call(1, 1, "c", "shell", "Ran", started=Place(0, 9, seen[0]), ended=ended, outcome=outcome)
    found.started_ms, found.ended_ms = begin_ms, end_ms
    return found


def strip_of(calls: Sequence[Call], run: Run | None = None) -> TimeStrip:
    """Return the strip of a run, by default of one that has ended."""
    session = Session()
    session.runs.append(Run(outcome=Outcome.SUCCEEDED) if run is None else run)
    strip = TimeStrip(session)
    for each in calls:
        strip.add(each)
    return strip


def bars(calls: Sequence[Call], run: Run | None = None, now_ms: int | None = None) -> list[str]:
    """Return the bar of each call."""
    strip = strip_of(calls, run)
    return [strip.bar([each], WIDTH, now_ms).rstrip() for each in calls]


def test_bars_show_when_the_calls_ran() -> None:
    """A bar covers the share of the run during which its call ran."""
    calls = [call(0, 5000), call(5000, 10_000), call(0, 10_000), call(2500, 7500)]
    assert bars(calls) == ["█████", "     █████", "██████████", "  ▐████▌"]


@pytest.mark.parametrize(
    ("begin", "end", "bar"),
    [
        (0, 1000, "█"),
        (0, 125, "▏"),
        (0, 500, "▌"),
        (0, 1375, "█▍"),
        (500, 1000, "▐"),
        (875, 1000, "▕"),
        (125, 2000, "██"),
        (250, 2000, "██"),
        (375, 2000, "▐█"),
        (9999, 10_000, "         ▕"),
        (3000, 3000, "   ▏"),
    ],
)
def test_bars_are_drawn_in_eighths(begin: int, end: int, bar: str) -> None:
    """A bar ends in eighths of a column and begins in eighths, halves or whole ones; the shortest shows."""
    assert bars([call(begin, end), call(0, 10_000)])[0] == bar


def test_a_row_of_several_calls_shows_each() -> None:
    """The bar of a fold leaves the times between its calls blank."""
    calls = [call(0, 2000), call(4000, 6000), call(8000, 10_000)]
    assert strip_of(calls).bar(calls, WIDTH, None) == "██  ██  ██"


def test_a_running_call_grows_to_now() -> None:
    """A running call's bar extends to the current time, counted on our clock from its start."""
    running = call(0, None, seen=(70_000, None), outcome=Outcome.RUNNING)
    run = Run(began_seen_ms=70_000)
    assert [bars([running], run, 70_000 + ms)[0] for ms in (0, 1000, 5000, 10_000)] == [
        "▏",
        "█",
        "█████",
        "██████████",
    ]


def test_the_scale_grows_in_steps() -> None:
    """The strip of a running run has time ahead; its scale grows by half when that is used up."""
    strip = strip_of([call(0, 1000, seen=(0, 1000))], Run(began_seen_ms=0))
    lengths = [scale[1] for now in (0, 9999, 10_001, 14_000, 15_001) if (scale := strip.scale(1, now))]
    assert lengths == [10_000, 10_000, 15_000, 15_000, 22_500]


def test_the_end_of_a_run_is_the_end_of_its_strip() -> None:
    """The strip extends to the end of the run, if the run's duration is known."""
    run = Run(outcome=Outcome.SUCCEEDED, duration_ms=20_000)
    assert bars([call(0, 10_000)], run) == ["█████"]


def test_waiting_before_the_first_call_is_shown() -> None:
    """The strip begins with the run: our clock's time for that is converted to the agent's clock."""
    run = Run(outcome=Outcome.SUCCEEDED, began_seen_ms=95_000)
    assert bars([call(0, 5000, seen=(100_000, 105_000))], run) == ["     █████"]


def test_times_are_converted_between_the_clocks() -> None:
    """A time known only by our clock is converted to the agent's clock, in either order of the calls."""
    ours = call(None, None, seen=(1_000_000, 1_005_000))
    theirs = call(5000, 10_000, seen=(1_005_000, 1_010_000))
    assert bars([ours, theirs]) == ["█████", "     █████"]
    assert bars([theirs, ours]) == ["     █████", "█████"]
    assert bars([ours]) == ["██████████"]
    agents = call(5000, 10_000)
    assert bars([agents, ours, call(0, 10_000)]) == ["     █████", "", "██████████"]
    late = call(0, 10_000, seen=(70_000, 80_000))
    assert bars([agents, late]) == ["     █████", "██████████"]


def test_unknown_times_are_not_drawn() -> None:
    """A call without any time has no bar; a call without an end shows only its start."""
    assert bars([call(None, None)]) == [""]
    unfinished = call(5000, None, outcome=Outcome.UNFINISHED)
    assert bars([unfinished, call(0, 10_000)])[0] == "     ▏"


@pytest.mark.parametrize(("begin", "end"), [(10**15, 0), (-(10**15), 10**15), (0, -5), (5, 5)])
def test_times_out_of_order_are_drawn(begin: int, end: int) -> None:
    """Whatever times a clock gave, a bar is as wide as the strip."""
    for run in (Run(), Run(outcome=Outcome.SUCCEEDED, duration_ms=-3)):
        assert len(strip_of([call(begin, end)], run).bar([call(begin, end)], WIDTH, 0)) == WIDTH
