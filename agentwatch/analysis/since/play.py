"""How fast the part of a recording since a moment must be played to last half a minute."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from agentwatch.feed.timeline import Timeline

SECONDS = 30
_MOST_SPEED = 64
_LEAST_IDLE_MS = 1000
_LEAST_STEP_MS = 1000
_MOST_STEPS = 4096
"""The number of equal parts in which silences are searched. Their ends are known to one part; for 8 hours
it lasts 7 s."""


class Play(NamedTuple):
    """A part of a recording to be played from an offset on."""

    from_offset: int
    """The moment with which it begins: a number of bytes."""
    speed: int
    """Recorded seconds per second of real time: a power of two from 1 to 64."""
    max_idle: int | None
    """The duration to which longer silences are shortened, in recorded seconds; None if none needs to be."""
    seconds: int
    """The real time that it takes, rounded up. With shortened silences it is at most this."""


def play_missed(timeline: Timeline, start: int, end: int) -> Play | None:
    """Return how a part of a recording is played in 30 seconds; None if its times are unknown.

    The speed is the recorded duration divided by 30 s, rounded up to a power of two. If 64 does not suffice,
    silences are shortened as far as necessary, at most to one second.

    Args:
        timeline: The times of the recording.
        start: The offset with which the part begins.
        end: The offset with which it ends.
    """
    end_ms, start_ms = timeline.ms_at(end), timeline.ms_at(start)
    if start_ms is None:
        start_ms = timeline.first_ms
    if start_ms is None or end_ms is None:
        return None
    duration_ms = max(end_ms - start_ms, 0)
    speed = 1
    while speed < _MOST_SPEED and duration_ms > speed * SECONDS * 1000:
        speed *= 2
    budget_ms = speed * SECONDS * 1000
    if duration_ms <= budget_ms:
        return Play(start, speed, None, -(-duration_ms // (speed * 1000)))
    silences = sorted(_silences(timeline, start_ms, end_ms))
    idle_ms = _shortest(silences, budget_ms - (duration_ms - sum(silences)))
    played_ms = duration_ms - sum(max(silence - idle_ms, 0) for silence in silences)
    return Play(start, speed, idle_ms // 1000, -(-played_ms // (speed * 1000)))


def _shortest(silences: list[int], rest_ms: int) -> int:
    """Return the duration at which silences cut to it last at most `rest_ms` together; whole seconds, in ms.

    Args:
        silences: The durations of the silences in ascending order; together they last longer than `rest_ms`.
        rest_ms: The time that they may last.
    """
    left = len(silences)
    for silence in silences:
        if silence * left > rest_ms:
            break
        rest_ms -= silence
        left -= 1
    return max(rest_ms // max(left, 1) // 1000 * 1000, _LEAST_IDLE_MS)


def _silences(timeline: Timeline, start_ms: int, end_ms: int) -> Iterator[int]:
    """Yield the durations of the silences between two times, each too short by at most two steps.

    The step is a second, or the 4,096th part of the time. The cost is at most 4,096 steps, and for each
    silence the logarithm of its duration.
    """
    step = max((end_ms - start_ms) // _MOST_STEPS, _LEAST_STEP_MS)
    at = start_ms
    while at < end_ms:
        offset, quiet, later = timeline.offset_at(at), at, min(at + step, end_ms)
        while timeline.offset_at(later) == offset and later < end_ms:
            quiet, later = later, min(later + 2 * (later - at), end_ms)
        while later - quiet > step:
            middle = (quiet + later) // 2
            if timeline.offset_at(middle) == offset:
                quiet = middle
            else:
                later = middle
        if quiet > at:
            yield quiet - at
        at = later
