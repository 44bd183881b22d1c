"""The playhead: moments, speeds, and silences that are cut short."""

from __future__ import annotations

import pytest

from agentwatch.feed.playhead import SPEEDS, Playhead, Replay


class Clock:
    """A clock that tests set by hand, in seconds."""

    now = 0.0

    def __call__(self) -> float:
        """Return the time."""
        return self.now


class Lines:
    """The times of lines of ten bytes."""

    def __init__(self, *times_ms: int) -> None:
        self._times = sorted(times_ms)
        self.size = 10 * len(times_ms)
        self.first_ms: int | None = times_ms[0]
        self.last_ms: int | None = times_ms[-1]
        self.has_times = True

    def ms_at(self, offset: int) -> int | None:
        """Return the time of the last line before an offset."""
        return self._times[max(offset // 10 - 1, 0)]

    def offset_at(self, at_ms: float) -> int:
        """Return the moment after the last line at or before a time."""
        return 10 * sum(time <= at_ms for time in self._times)

    def around(self, at_ms: float) -> tuple[int | None, int | None]:
        """Return the last time that is not later, and the first that is later."""
        index = sum(time <= at_ms for time in self._times)
        later = self._times[index] if index < len(self._times) else None
        return self._times[index - 1] if index else None, later

    def before(self, offset: int) -> int:
        """Return the end of the line before."""
        return max(offset - 10, 0)

    def after(self, offset: int) -> int:
        """Return the end of the next line."""
        return min(offset + 10, self.size)


def played(clock: Clock, *times_ms: int, speed: float = 1.0, max_idle: float | None = None) -> Playhead:
    """Return a playhead that has begun to replay lines with these times."""
    playhead = Playhead(Lines(*times_ms), Replay(speed, max_idle, clock=clock), is_over=lambda: True)
    playhead.tick()
    return playhead


def at(playhead: Playhead, clock: Clock, seconds: float) -> int:
    """Let time pass until the clock shows these seconds, and return the moment."""
    clock.now = seconds
    playhead.tick()
    return playhead.offset


@pytest.fixture
def clock() -> Clock:
    """Return a clock at 0 s."""
    return Clock()


def test_a_line_is_shown_after_its_recorded_gap(clock: Clock) -> None:
    """A line is shown once the time since the first line has passed, and the last one ends the replay."""
    playhead = played(clock, 0, 1000, 1500, 9000)
    assert at(playhead, clock, 0.5) == 10
    assert at(playhead, clock, 1.25) == 20
    assert at(playhead, clock, 1.5) == 30
    assert not playhead.is_at_end
    assert at(playhead, clock, 9) == 40
    assert playhead.is_at_end


@pytest.mark.parametrize("speed", [0.25, 4.0, 64.0])
def test_speed_divides_the_gaps(clock: Clock, speed: float) -> None:
    """At ×4 a gap of one second takes a quarter of it."""
    playhead = played(clock, 0, 1000, 9000, speed=speed)
    assert at(playhead, clock, 0.99 / speed) == 10
    assert at(playhead, clock, 1.01 / speed) == 20


def test_a_moment_plays_backwards(clock: Clock) -> None:
    """In reverse the lines disappear at their times, and it stays at the start."""
    playhead = played(clock, 0, 1000, 2000, 9000)
    at(playhead, clock, 2.5)
    playhead.reverse()
    assert at(playhead, clock, 3.2) == 20
    assert at(playhead, clock, 4.2) == 10
    assert at(playhead, clock, 9.0) == 0
    assert playhead.is_paused


def test_a_key_counts_from_when_it_is_pressed(clock: Clock) -> None:
    """The time between the last tick and a key passes as before the key, and after it as the key says."""
    playhead = played(clock, 0, 1000, 2000, 3000, 9000)
    assert at(playhead, clock, 0) == 10
    clock.now = 0.6
    playhead.turn()
    clock.now = 50
    playhead.turn()
    assert at(playhead, clock, 50.5) == 20
    clock.now = 51.5
    playhead.faster()
    assert at(playhead, clock, 51.9) == 30
    clock.now = 52.1
    playhead.slower()
    assert playhead.offset == 40
    playhead.faster()
    clock.now = 52.2
    playhead.reverse()
    assert at(playhead, clock, 52.5) == 30


def test_a_pause_just_after_the_end_of_a_part_stays_there(clock: Clock) -> None:
    """A pause in the tick in which the played part ends pauses at its end; it does not start it again."""
    playhead = played(clock, 0, 1000, 9000)
    playhead.until = 20
    assert at(playhead, clock, 0) == 10
    clock.now = 1.5
    playhead.turn()
    assert (playhead.offset, playhead.is_paused) == (20, True)


def test_a_pause_stops_the_time(clock: Clock) -> None:
    """While it is paused no time passes; a step shows one line more and pauses."""
    playhead = played(clock, 0, 1000, 2000, 9000)
    assert at(playhead, clock, 0.5) == 10
    playhead.turn()
    assert at(playhead, clock, 50) == 10
    playhead.step(1)
    assert (playhead.offset, playhead.is_paused) == (20, True)
    playhead.step(-1)
    assert playhead.offset == 10
    playhead.turn()
    assert at(playhead, clock, 50.9) == 10
    assert at(playhead, clock, 51) == 20


def test_a_live_moment_that_is_paused_plays_until_it_is_live(clock: Clock) -> None:
    """A pause keeps the moment while lines arrive; playing on from it leads to the live moment again."""
    lines = Lines(0, 1000)
    playhead = Playhead(lines, Replay(clock=clock), is_over=lambda: False)
    playhead.live()
    playhead.turn()
    lines.__init__(0, 1000, 2000)  # type: ignore[misc]
    playhead.tick()
    assert (playhead.offset, playhead.is_live) == (20, False)
    playhead.turn()
    assert at(playhead, clock, 1.5) == 30
    assert playhead.is_live


def test_a_stop_pauses_the_replay(clock: Clock) -> None:
    """The replay pauses at the first stop that it passes."""
    playhead = played(clock, 0, 1000, 2000, 3000)
    playhead.stops = lambda start, end: 20 if start < 20 <= end else None
    assert at(playhead, clock, 2.5) == 20
    assert playhead.is_paused


def test_at_the_end_space_starts_over(clock: Clock) -> None:
    """At the end it stays on the last frame, and playing begins at the start again."""
    playhead = played(clock, 0, 1000)
    assert at(playhead, clock, 5) == 20
    playhead.turn()
    assert (playhead.offset, playhead.is_playing) == (0, True)


def test_seconds_move_the_moment(clock: Clock) -> None:
    """Going back or on by seconds leads to the line of that time; beyond the ends, to the ends."""
    playhead = played(clock, 0, 4000, 9000, 20_000)
    playhead.turn()
    playhead.seek_by(5000)
    assert (playhead.offset, playhead.now_ms) == (20, 5000)
    playhead.seek_by(-60_000)
    assert playhead.offset == 0
    playhead.seek_by(60_000)
    assert playhead.is_live


def test_a_pause_without_ticks_takes_no_time(clock: Clock) -> None:
    """The time between the last tick of a pause and the key that ends it is not played."""
    playhead = played(clock, 0, 1000, 2000, 9000)
    playhead.turn()
    at(playhead, clock, 0.1)
    clock.now = 60.0
    playhead.turn()
    assert at(playhead, clock, 60.0) == 10
    assert at(playhead, clock, 60.9) == 10
    assert at(playhead, clock, 61.0) == 20


def test_the_part_that_is_played_has_an_end(clock: Clock) -> None:
    """With a start and an end, it stays at the end, starts over from the start, and can be left."""
    playhead = played(clock, 0, 1000, 2000, 3000, 4000)
    playhead.start, playhead.until = 20, 40
    playhead.play(20)
    at(playhead, clock, 0)
    assert at(playhead, clock, 9) == 40
    assert (playhead.is_at_end, playhead.is_live, playhead.is_paused) == (True, False, True)
    playhead.turn()
    assert (playhead.offset, playhead.is_playing) == (20, True)
    playhead.seek(40)
    playhead.step(1)
    assert playhead.is_at_end
    assert playhead.is_live


def test_backwards_it_stops_at_the_start_of_the_part_once(clock: Clock) -> None:
    """In reverse it pauses where the part began; from there it plays on forwards, or back to the start."""
    playhead = played(clock, 0, 1000, 2000, 3000, 4000)
    playhead.start = 20
    playhead.seek(40)
    playhead.reverse()
    at(playhead, clock, 0)
    assert at(playhead, clock, 9) == 20
    assert (playhead.is_paused, playhead.is_reversed) == (True, False)
    playhead.reverse()
    at(playhead, clock, 9)
    assert at(playhead, clock, 99) == 0
    assert playhead.is_paused
    playhead.turn()
    at(playhead, clock, 99)
    assert at(playhead, clock, 100) == 20


@pytest.mark.parametrize("until", [None, 30])
def test_a_replay_can_start_over_by_itself(clock: Clock, until: int | None) -> None:
    """With `--loop` it begins at its start again, whether it ends with the recording or before."""
    playhead = Playhead(Lines(0, 1000, 2000, 3000), Replay(loops=True, clock=clock), is_over=lambda: True)
    playhead.start, playhead.until = 20, until
    playhead.play(20)
    playhead.tick()
    assert at(playhead, clock, 0.5) == 20
    assert at(playhead, clock, 5) == 20
    assert playhead.is_playing
    assert at(playhead, clock, 5.9) == 20


def test_a_replay_waits_for_a_part_that_is_not_read_yet(clock: Clock) -> None:
    """At the end of what was read so far, a replay stays earlier and goes on when more is read."""
    lines, is_read = Lines(0, 1000), [False]
    playhead = Playhead(lines, Replay(clock=clock), is_over=lambda: False, is_read=lambda: is_read[0])
    playhead.tick()
    assert at(playhead, clock, 5) == 20
    assert (playhead.is_live, playhead.is_playing) == (False, True)
    lines.__init__(0, 1000, 2000, 9000)  # type: ignore[misc]
    assert at(playhead, clock, 6) == 30
    is_read[0] = True
    assert at(playhead, clock, 60) == 40
    assert playhead.is_live


def test_steps_beyond_the_end_leave_it_live(clock: Clock) -> None:
    """At the live moment, one event forward or 5 seconds forward change nothing."""
    playhead = Playhead(Lines(0, 1000), Replay(clock=clock), is_over=lambda: False)
    playhead.live()
    playhead.step(1)
    playhead.seek_by(5000)
    assert (playhead.is_live, playhead.is_paused, playhead.offset) == (True, False, 20)


def test_speeds_end_at_both_ends(clock: Clock) -> None:
    """The speed stays between ×0.25 and ×64."""
    playhead = played(clock, 0, 1000)
    for _ in range(20):
        playhead.faster()
    assert playhead.speed == SPEEDS[-1] == 64
    for _ in range(20):
        playhead.slower()
    assert playhead.speed == SPEEDS[0] == 0.25


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
