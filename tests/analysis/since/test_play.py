"""The missed part of a recording is played in half a minute."""

from __future__ import annotations

import itertools
import random

from agentwatch.analysis.since import Play, play_missed
from tests.builders.moment.recorded_times import RecordedTimes
from tests.conftest import case

BEGAN_MS = 1_793_610_000_000
LINE = 100
HOUR = 3600


def times_of(seconds: list[float]) -> RecordedTimes:
    """Return the times of lines of 100 bytes, by their seconds since the beginning."""
    lines = [(LINE * at, BEGAN_MS + round(1000 * each)) for at, each in enumerate(seconds)]
    return RecordedTimes(lines, LINE * len(lines))


def play_of(seconds: list[float], start: int = LINE) -> Play:
    """Return how these lines are played from an offset on; by default after the first line."""
    times = times_of(seconds)
    found = play_missed(times, start, times.size)
    assert found is not None
    return found


def real_seconds(seconds: list[float], play: Play) -> float:
    """Return the time that playing takes, line by line."""
    gaps = [after - before for before, after in itertools.pairwise(seconds)]
    most = float("inf") if play.max_idle is None else play.max_idle
    return sum(min(gap, most) for gap in gaps) / play.speed


def test_the_speed_is_rounded_up_to_a_power_of_two() -> None:
    """The part is played at the slowest of the speeds that take at most 30 seconds."""
    cases: list[tuple[float, int, int]] = [
        (0, 1, 0),
        (3, 1, 3),
        (30, 1, 30),
        (30.5, 2, 16),
        (300, 16, 19),
        (480, 16, 30),
        (1920, 64, 30),
    ]
    for duration, speed, seconds in cases:
        with case((duration, speed)):
            assert play_of([0, duration]) == Play(LINE, speed, None, seconds)


def test_a_long_silence_is_shortened() -> None:
    """If 64 times does not suffice, silences are shortened until it does; a busy part is not."""
    busy = [float(second) for second in range(1000)]
    seconds = [*busy, 3 * HOUR, 6 * HOUR]
    play = play_of(seconds)
    assert (play.speed, play.seconds) == (64, 30)
    assert play.max_idle is not None
    assert 440 < play.max_idle <= 460  # 1,920 s of time, less 999 busy ones, for two silences
    assert 29 < real_seconds(seconds, play) <= 30


def test_short_silences_stay_whole() -> None:
    """Only silences that are longer than the allowed time are shortened."""
    seconds = [*itertools.accumulate([0, *[60] * 20, 5 * HOUR])]
    play = play_of([float(each) for each in seconds])
    assert play.max_idle is not None
    assert 700 < play.max_idle <= 720
    assert real_seconds([float(each) for each in seconds], play) <= 30


def test_hours_without_a_silence_take_longer() -> None:
    """If the agent never paused, silences of a second are the shortest, and playing takes longer."""
    play = play_of([float(second) for second in range(2 * HOUR)])
    assert play == Play(LINE, 64, 1, -(-2 * HOUR // 64))


def test_playing_never_takes_longer_than_announced() -> None:
    """Whatever the gaps between the lines are, playing takes at most the announced seconds."""
    chance = random.Random(14)
    for _ in range(200):
        gaps = [chance.expovariate(1 / chance.choice([0.5, 5, 60, 3000])) for _ in range(60)]
        seconds = [0.0, *itertools.accumulate(gaps)]
        play = play_of(seconds)
        assert real_seconds(seconds, play) <= play.seconds + 0.01
        assert play.seconds <= 30 or play.max_idle == 1
        assert play.max_idle is None or play.speed == 64


def test_a_part_without_times_cannot_be_played() -> None:
    """Without recorded times there is no speed."""
    assert play_missed(RecordedTimes([], 500), 100, 500) is None


def test_from_the_start_the_first_time_counts() -> None:
    """Before the first line no time is known, so the part begins with the first line."""
    assert play_of([0, 45], start=0) == Play(0, 2, None, 23)


class Counted(RecordedTimes):
    """Times that count how often they are asked."""

    asked = 0

    def offset_at(self, at_ms: float) -> int:
        """Count, and return the offset."""
        self.asked += 1
        return super().offset_at(at_ms)


def test_the_cost_is_bounded() -> None:
    """A week with many lines is searched in at most some ten thousand steps."""
    week = 7 * 24 * HOUR
    times = Counted([(at, BEGAN_MS + at * 1000 * week // 20_000) for at in range(20_000)], 20_000)
    assert play_missed(times, 1, 20_000) is not None
    assert times.asked < 20_000
