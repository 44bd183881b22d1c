"""Lines that a playhead plays, and a clock that tests set by hand."""

from __future__ import annotations

from agentwatch.feed.playhead import Playhead, Replay


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
