"""Recorded time passes at the pace of the lines, and silences are cut short in both directions."""

from __future__ import annotations

import pytest

from agentwatch.feed.playhead import Playhead, Replay
from tests.builders.moment.played_lines import Clock, Lines, at, played


@pytest.fixture
def clock() -> Clock:
    """Return a clock at 0 s."""
    return Clock()


def test_long_silences_are_cut_short(clock: Clock) -> None:
    """After the longest idle time the next line is shown, and the rest of the silence is named."""
    playhead = played(clock, 0, 20_000, 21_000, 90_000, max_idle=2)
    assert at(playhead, clock, 1.9) == 10
    assert at(playhead, clock, 2.0) == 20
    assert playhead.cut_ms == 18_000
    assert at(playhead, clock, 3.0) == 30
    assert playhead.cut_ms == 18_000
    assert at(playhead, clock, 4.9) == 30
    clock.now = 5.0
    assert playhead.cut_ms == 0


def test_a_silence_is_cut_short_in_reverse_too(clock: Clock) -> None:
    """Backwards, a silence is cut after the longest idle time before the later line."""
    playhead = played(clock, 0, 20_000, 21_000, 90_000, max_idle=2)
    playhead.seek(30)
    playhead.reverse()
    assert at(playhead, clock, 0.9) == 20
    assert at(playhead, clock, 1.1) == 10
    assert at(playhead, clock, 3.0) == 10
    assert (playhead.cut_ms, playhead.now_ms) == (18_000, 0)
    assert at(playhead, clock, 3.3) == 0


@pytest.mark.parametrize("is_reversed", [False, True], ids=["forward", "backwards"])
def test_without_idle_time_everything_is_played_at_once(clock: Clock, is_reversed: bool) -> None:
    """With `--max-idle 0`, the first tick that takes any time leads to the other end."""
    playhead = played(clock, *range(0, 5_000_000, 1000), max_idle=0)
    if is_reversed:
        playhead.seek(49_000)
        playhead.reverse()
        assert at(playhead, clock, 0.01) == 0
    else:
        assert at(playhead, clock, 0.01) == 50_000
        assert playhead.is_at_end


def test_many_lines_pass_in_one_tick(clock: Clock) -> None:
    """At high speed one tick passes many short silences and shortens many long ones."""
    playhead = played(clock, *range(0, 1_000_000, 1000), max_idle=0.5, speed=1000)
    assert at(playhead, clock, 0.1) == 2010
    assert playhead.cut_ms == 100_000


def test_a_recording_without_times_plays_line_by_line(clock: Clock) -> None:
    """Without times, 20 lines a second are shown, in either direction; 5 seconds are 100 lines."""
    lines = Lines(*range(400))
    lines.first_ms = lines.last_ms = None
    playhead = Playhead(lines, Replay(clock=clock, max_idle=1), is_over=lambda: True)
    playhead.tick()
    assert at(playhead, clock, 1.01) == 200
    playhead.reverse()
    assert at(playhead, clock, 1.52) == 100
    playhead.seek_by(5000)
    assert playhead.offset == 1100
    playhead.seek_by(-60_000)
    assert playhead.offset == 0
