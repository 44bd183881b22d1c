"""A replay plays a recording at its recorded pace, here on a fake clock."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from agentwatch.events import Event, Notice
from agentwatch.feed.playhead import SPEEDS, Replay


@dataclass
class Clock:
    """A clock that moves only when a test moves it."""

    now: float = 500.0

    def __call__(self) -> float:
        """Return the current time in seconds."""
        return self.now


@pytest.fixture
def clock() -> Clock:
    """A clock for the replay."""
    return Clock()


def timed(at_ms: int | None) -> list[Event]:
    """Return a list of one event with this agent time."""
    return [Notice("x", at_ms)]


def test_the_first_line_is_due_at_once(clock: Clock) -> None:
    """The first line is due at once, however old it is."""
    replay = Replay(clock=clock)
    assert replay.seen_ms() is None
    assert replay.now_ms() is None
    assert replay.is_due(1_000_000, [])
    assert replay.seen_ms() == 1_000_000


def test_a_line_is_due_after_its_recorded_gap(clock: Clock) -> None:
    """A line that arrived two seconds after another is due two seconds after it, not before."""
    replay = Replay(clock=clock)
    assert replay.is_due(10_000, [])
    clock.now += 1.75
    assert not replay.is_due(12_000, [])
    assert (replay.seen_ms(), replay.now_ms()) == (10_000, 11_750)
    clock.now += 0.25
    assert replay.is_due(12_000, [])
    assert replay.seen_ms() == 12_000


def test_lines_of_one_moment_are_due_together(clock: Clock) -> None:
    """Lines of one read are due together."""
    replay = Replay(clock=clock)
    assert all(replay.is_due(10_000, []) for _ in range(3))


def test_waiting_too_long_does_not_delay_what_follows(clock: Clock) -> None:
    """Time that passes beyond a line's due time counts for the next line."""
    replay = Replay(clock=clock)
    assert replay.is_due(0, [])
    clock.now += 3
    assert replay.is_due(1_000, [])
    assert replay.is_due(3_000, [])
    assert not replay.is_due(3_001, [])


@pytest.mark.parametrize(("speed", "seconds"), [(4.0, 0.25), (0.5, 2.0), (64.0, 1 / 64)])
def test_speed_divides_the_gaps(clock: Clock, speed: float, seconds: float) -> None:
    """At speed 4, a gap of one second lasts a quarter of a second."""
    replay = Replay(speed, clock=clock)
    assert replay.speed == speed
    assert replay.is_due(0, [])
    clock.now += seconds / 2
    assert not replay.is_due(1_000, [])
    clock.now += seconds / 2
    assert replay.is_due(1_000, [])


def test_long_silences_are_cut_short(clock: Clock) -> None:
    """With `max_idle`, a longer silence lasts that long, and the next line keeps its recorded time."""
    replay = Replay(max_idle=2, clock=clock)
    assert replay.is_due(0, [])
    clock.now += 1.5
    assert not replay.is_due(60_000, [])
    clock.now += 0.5
    assert replay.is_due(60_000, [])
    assert replay.seen_ms() == 60_000
    clock.now += 1
    assert replay.is_due(61_000, [])


def test_silences_within_the_limit_keep_their_length(clock: Clock) -> None:
    """`max_idle` does not change gaps below the limit."""
    replay = Replay(max_idle=2, clock=clock)
    assert replay.is_due(0, [])
    assert not replay.is_due(1_000, [])
    clock.now += 1
    assert replay.is_due(1_000, [])


def test_no_idle_time_at_all_plays_at_once(clock: Clock) -> None:
    """With `max_idle` 0, every line is due at once."""
    replay = Replay(max_idle=0, clock=clock)
    assert all(replay.is_due(at_ms, []) for at_ms in (0, 5_000, 90_000))


def test_a_pause_stops_the_clock(clock: Clock) -> None:
    """Time spent in a pause does not count; afterwards the rest of the gap remains."""
    replay = Replay(clock=clock)
    assert replay.is_due(0, [])
    clock.now += 1
    replay.pause()
    assert replay.is_paused
    clock.now += 100
    assert not replay.is_due(2_000, [])
    assert replay.now_ms() == 1_000
    replay.pause()
    clock.now += 0.5
    assert not replay.is_due(2_000, [])
    clock.now += 0.5
    assert replay.is_due(2_000, [])


def test_a_step_lets_one_moment_come(clock: Clock) -> None:
    """In a pause, a step makes the next event due, with those of the same moment, and no more."""
    replay = Replay(clock=clock)
    assert replay.is_due(0, [])
    replay.pause()
    replay.step()
    assert replay.is_due(0, [])
    assert replay.is_due(5_000, [])
    assert replay.is_due(5_000, [])
    assert not replay.is_due(5_001, [])
    replay.step()
    assert replay.is_due(5_001, [])
    assert not replay.is_due(9_000, [])


def test_the_speed_can_be_changed(clock: Clock) -> None:
    """Time waited before a change of speed stays waited."""
    replay = Replay(clock=clock)
    assert replay.is_due(0, [])
    clock.now += 1
    replay.faster()
    assert replay.speed == 2
    clock.now += 0.5
    assert replay.is_due(2_000, [])
    assert not replay.is_due(2_001, [])


def test_speeds_end_at_both_ends(clock: Clock) -> None:
    """`faster` and `slower` go to the next of the fixed speeds, and stop at the last."""
    replay = Replay(3.0, clock=clock)
    replay.faster()
    assert replay.speed == 4
    for _ in SPEEDS:
        replay.faster()
    assert replay.speed == max(SPEEDS)
    for _ in SPEEDS:
        replay.slower()
    assert replay.speed == min(SPEEDS)


def test_without_arrival_times_the_agents_time_counts(clock: Clock) -> None:
    """A line without an arrival time is due by the agent time of its event."""
    replay = Replay(clock=clock)
    assert replay.is_due(None, timed(1_000))
    assert not replay.is_due(None, timed(2_000))
    clock.now += 1
    assert replay.is_due(None, timed(2_000))
    assert replay.seen_ms() == 2_000


def test_an_arrival_time_counts_before_the_agents(clock: Clock) -> None:
    """If a line has both an arrival time and an agent time, the arrival time decides."""
    replay = Replay(clock=clock)
    assert replay.is_due(1_000, timed(90_000))
    clock.now += 1
    assert replay.is_due(2_000, timed(900_000))
    assert replay.seen_ms() == 2_000


def test_a_line_without_any_time_comes_with_the_line_before(clock: Clock) -> None:
    """A line without any time is due at once, before and after lines with a time."""
    replay = Replay(clock=clock)
    assert replay.is_due(None, [])
    assert replay.is_due(None, timed(None))
    assert replay.is_due(5_000, [])
    assert replay.is_due(None, [])
    assert replay.seen_ms() == 5_000
    assert not replay.is_due(6_000, [])


def test_time_that_runs_backwards_is_not_a_gap(clock: Clock) -> None:
    """A line older than the one before is due at once, and recorded time does not go back."""
    replay = Replay(clock=clock)
    assert replay.is_due(10_000, [])
    assert replay.is_due(4_000, [])
    assert replay.seen_ms() == 10_000
    assert not replay.is_due(11_000, [])
    clock.now += 1
    assert replay.is_due(11_000, [])
