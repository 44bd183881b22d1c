"""The playhead: moments, speeds, and silences that are cut short."""

import pytest

from agentwatch.feed.playhead import SPEEDS, Playhead, Replay
from tests.conftest import case


class Clock:
    """A clock that tests set by hand, in seconds."""

    now = 0.0

    def __call__(self) -> float:
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
    """Return a playhead that has begun at 0 s to replay lines with these times."""
    clock.now = 0.0
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
    """A line is shown once the time since the first has passed, divided by the speed, which stays between
    ×0.25 and ×64. In reverse the lines disappear at their times.
    """
    playhead = played(clock, 0, 1000, 1500, 9000)
    assert at(playhead, clock, 0.5) == 10
    assert at(playhead, clock, 1.25) == 20
    assert at(playhead, clock, 1.5) == 30
    assert not playhead.is_at_end
    assert at(playhead, clock, 9) == 40
    assert playhead.is_at_end
    for speed in [0.25, 4.0, 64.0]:
        with case(speed):
            playhead = played(clock, 0, 1000, 9000, speed=speed)
            assert at(playhead, clock, 0.99 / speed) == 10
            assert at(playhead, clock, 1.01 / speed) == 20
    playhead = played(clock, 0, 1000, 2000, 9000)
    at(playhead, clock, 2.5)
    playhead.reverse()
    assert at(playhead, clock, 3.2) == 20
    assert at(playhead, clock, 4.2) == 10
    assert at(playhead, clock, 9.0) == 0
    assert playhead.is_paused
    playhead = played(clock, 0, 1000)
    for _ in range(20):
        playhead.faster()
    assert playhead.speed == SPEEDS[-1] == 64
    for _ in range(20):
        playhead.slower()
    assert playhead.speed == SPEEDS[0] == 0.25


def test_keys_and_pauses(clock: Clock) -> None:
    """The time between the last tick and a key passes as before the key, and after it as the key says.
    While it is paused no time passes, also without ticks, and a step shows one line more; at the end of a
    part it stays. Playing on leads to the live moment.
    """
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
    # A pause stops the time.
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
    playhead = played(clock, 0, 1000, 9000)
    playhead.until = 20
    assert at(playhead, clock, 0) == 10
    clock.now = 1.5
    playhead.turn()
    assert (playhead.offset, playhead.is_paused) == (20, True)
    playhead = played(clock, 0, 1000, 2000, 9000)
    playhead.turn()
    at(playhead, clock, 0.1)
    clock.now = 60.0
    playhead.turn()
    assert at(playhead, clock, 60.0) == 10
    assert at(playhead, clock, 60.9) == 10
    assert at(playhead, clock, 61.0) == 20
    lines = Lines(0, 1000)
    clock.now = 0.0
    playhead = Playhead(lines, Replay(clock=clock), is_over=lambda: False)
    playhead.live()
    playhead.turn()
    lines.__init__(0, 1000, 2000)  # type: ignore[misc]
    playhead.tick()
    assert (playhead.offset, playhead.is_live) == (20, False)
    playhead.turn()
    assert at(playhead, clock, 1.5) == 30
    assert playhead.is_live


def test_a_replay_has_stops_and_ends(clock: Clock) -> None:
    """It pauses at the first stop that it passes, and stays on the last frame; playing then begins at the
    start. Seconds lead to the line of that time, or to the ends. At the end of what was read so far, a
    replay stays earlier and goes on when more is read. It stays at its end and starts over from its start,
    by itself with `--loop`; in reverse it pauses where it began, once.
    """
    playhead = played(clock, 0, 1000, 2000, 3000)
    playhead.stops = lambda start, end: 20 if start < 20 <= end else None
    assert at(playhead, clock, 2.5) == 20
    assert playhead.is_paused
    playhead = played(clock, 0, 1000)
    assert at(playhead, clock, 5) == 20
    playhead.turn()
    assert (playhead.offset, playhead.is_playing) == (0, True)
    clock.now = 0.0
    playhead = Playhead(Lines(0, 1000), Replay(clock=clock), is_over=lambda: False)
    playhead.live()
    playhead.step(1)
    playhead.seek_by(5000)
    assert (playhead.is_live, playhead.is_paused, playhead.offset) == (True, False, 20)
    playhead = played(clock, 0, 4000, 9000, 20_000)
    playhead.turn()
    playhead.seek_by(5000)
    assert (playhead.offset, playhead.now_ms) == (20, 5000)
    playhead.seek_by(-60_000)
    assert playhead.offset == 0
    playhead.seek_by(60_000)
    assert playhead.is_live
    # A replay waits for a part that is not read yet.
    lines, is_read = Lines(0, 1000), [False]
    clock.now = 0.0
    playhead = Playhead(lines, Replay(clock=clock), is_over=lambda: False, is_read=lambda: is_read[0])
    playhead.tick()
    assert at(playhead, clock, 5) == 20
    assert (playhead.is_live, playhead.is_playing) == (False, True)
    lines.__init__(0, 1000, 2000, 9000)  # type: ignore[misc]
    assert at(playhead, clock, 6) == 30
    is_read[0] = True
    assert at(playhead, clock, 60) == 40
    assert playhead.is_live
    # A part that is played has ends.
    other_playhead = played(clock, 0, 1000, 2000, 3000, 4000)
    other_playhead.start, other_playhead.until = 20, 40
    other_playhead.play(20)
    at(other_playhead, clock, 0)
    assert at(other_playhead, clock, 9) == 40
    assert (other_playhead.is_at_end, other_playhead.is_live, other_playhead.is_paused) == (True, False, True)
    other_playhead.turn()
    assert (other_playhead.offset, other_playhead.is_playing) == (20, True)
    other_playhead.seek(40)
    other_playhead.step(1)
    assert other_playhead.is_at_end
    assert other_playhead.is_live
    other_playhead = played(clock, 0, 1000, 2000, 3000, 4000)
    other_playhead.start = 20
    other_playhead.seek(40)
    other_playhead.reverse()
    at(other_playhead, clock, 0)
    assert at(other_playhead, clock, 9) == 20
    assert (other_playhead.is_paused, other_playhead.is_reversed) == (True, False)
    other_playhead.reverse()
    at(other_playhead, clock, 9)
    assert at(other_playhead, clock, 99) == 0
    assert other_playhead.is_paused
    other_playhead.turn()
    at(other_playhead, clock, 99)
    assert at(other_playhead, clock, 100) == 20
    for until in [None, 30]:
        with case(until):
            clock.now = 0.0
            other_playhead = Playhead(
                Lines(0, 1000, 2000, 3000), Replay(loops=True, clock=clock), is_over=lambda: True
            )
            other_playhead.start, other_playhead.until = 20, until
            other_playhead.play(20)
            other_playhead.tick()
            assert at(other_playhead, clock, 0.5) == 20
            assert at(other_playhead, clock, 5) == 20
            assert other_playhead.is_playing
            assert at(other_playhead, clock, 5.9) == 20


def test_silences_and_times_that_lack(clock: Clock) -> None:
    """After the longest idle time the next line is shown, in both directions, and the rest of the silence
    is named; with 0, the first tick leads to the other end. Without times, 20 lines a second are shown, in
    either direction; 5 seconds are 100 lines.
    """
    playhead = played(clock, 0, 20_000, 21_000, 90_000, max_idle=2)
    assert at(playhead, clock, 1.9) == 10
    assert at(playhead, clock, 2.0) == 20
    assert playhead.cut_ms == 18_000
    assert at(playhead, clock, 3.0) == 30
    assert playhead.cut_ms == 18_000
    assert at(playhead, clock, 4.9) == 30
    clock.now = 5.0
    assert playhead.cut_ms == 0
    playhead = played(clock, 0, 20_000, 21_000, 90_000, max_idle=2)
    playhead.seek(30)
    playhead.reverse()
    assert at(playhead, clock, 0.9) == 20
    assert at(playhead, clock, 1.1) == 10
    assert at(playhead, clock, 3.0) == 10
    assert (playhead.cut_ms, playhead.now_ms) == (18_000, 0)
    assert at(playhead, clock, 3.3) == 0
    for is_reversed in [False, True]:
        with case(is_reversed):
            playhead = played(clock, *range(0, 5_000_000, 1000), max_idle=0)
            if is_reversed:
                playhead.seek(49_000)
                playhead.reverse()
                assert at(playhead, clock, 0.01) == 0
            else:
                assert at(playhead, clock, 0.01) == 50_000
                assert playhead.is_at_end
    playhead = played(clock, *range(0, 1_000_000, 1000), max_idle=0.5, speed=1000)
    assert at(playhead, clock, 0.1) == 2010
    assert playhead.cut_ms == 100_000
    # A recording without times plays line by line.
    lines = Lines(*range(400))
    lines.first_ms = lines.last_ms = None
    clock.now = 0.0
    playhead = Playhead(lines, Replay(clock=clock, max_idle=1), is_over=lambda: True)
    playhead.tick()
    assert at(playhead, clock, 1.01) == 200
    playhead.reverse()
    assert at(playhead, clock, 1.52) == 100
    playhead.seek_by(5000)
    assert playhead.offset == 1100
    playhead.seek_by(-60_000)
    assert playhead.offset == 0
