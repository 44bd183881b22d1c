"""The playhead: the moment of the session that is shown, and what moves it."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

SPEEDS = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0)
_UNTIMED_MS = 50
"""The time that each line takes if the recording has no times."""


class Times(Protocol):
    """The times of a recording, and its line ends."""

    @property
    def size(self) -> int:
        """The live moment: the number of bytes whose lines are applied."""

    @property
    def first_ms(self) -> int | None:
        """The first time, in milliseconds since the epoch; None while no time is known."""

    @property
    def last_ms(self) -> int | None:
        """The last time; None while no time is known."""

    def ms_at(self, offset: int) -> int | None:
        """Return the time of the last line before an offset."""

    def offset_at(self, at_ms: float) -> int:
        """Return the moment after the last line at or before a time."""

    def before(self, offset: int) -> int:
        """Return the end of the line before the one that ends at `offset`."""

    def after(self, offset: int) -> int:
        """Return the end of the next line after `offset`."""


@dataclass(frozen=True)
class Replay:
    """How a recording is replayed."""

    speed: float = 1.0
    """Seconds of the recording that pass per second of real time."""
    max_idle: float | None = None
    """Longer silences are shortened to this duration, in seconds; None is no limit."""
    loops: bool = False
    """Whether the replay starts again at its end."""
    clock: Callable[[], float] = time.monotonic
    """Returns the present time in seconds."""


class Playhead:
    """The moment that is shown: the live one, or an earlier one that stands or plays in either direction.

    A moment is a number of bytes of the recording, and lies after a line end. Between two lines, time passes
    while the moment stays.
    """

    def __init__(
        self,
        times: Times,
        replay: Replay | None = None,
        *,
        is_over: Callable[[], bool],
    ) -> None:
        """Create a playhead at the live moment, or one that plays from the start.

        Args:
            times: The times of the recording.
            replay: How to replay the recording; None to show the live moment.
            is_over: Returns whether the recording has ended.
        """
        self.speed = 1.0 if replay is None else replay.speed
        """Seconds of the recording that pass per second of real time."""
        self.is_live = replay is None
        self.is_paused = False
        self.is_reversed = False
        self.start = 0
        """Where playing starts over."""
        self.until: int | None = None
        """Where playing ends; None at the end of the recording."""
        self.stops: Callable[[int, int], int | None] = lambda _start, _end: None
        """Returns the first moment at which playing pauses, after a moment and up to another; None without
        one."""
        self.cut_ms = 0
        """The length of the part of the last shortened silence that was not played."""
        self._times = times
        self._max_idle_ms = None if replay is None or replay.max_idle is None else replay.max_idle * 1000
        self._loops = replay is not None and replay.loops
        self._is_over = is_over
        self._clock = time.monotonic if replay is None else replay.clock
        self._last_tick: float | None = None
        """None until the first tick, so that drawing the first screen takes no time of the replay."""
        self._offset = 0
        self._at_ms: float | None = None
        """The recorded time that is shown; None at the start, and if the recording has no times."""
        self._waited_ms = 0.0
        """In a recording without times, the time since the last line was shown."""

    @property
    def offset(self) -> int:
        """The moment that is shown."""
        return self._times.size if self.is_live else min(self._offset, self._times.size)

    @property
    def is_playing(self) -> bool:
        """Whether an earlier moment plays."""
        return not (self.is_live or self.is_paused)

    @property
    def is_at_end(self) -> bool:
        """Whether the end of a recording that has ended is shown."""
        return self.is_live and self._is_over()

    @property
    def now_ms(self) -> int | None:
        """The recorded time that is shown, in milliseconds since the epoch; None if it is unknown."""
        at_ms = self._times.last_ms if self.is_live else self._at_ms
        return self._times.ms_at(self._offset) if at_ms is None else int(at_ms)

    def tick(self) -> None:
        """Move the moment by the time that has passed since the last tick, if it plays."""
        now, last = self._clock(), self._last_tick
        self._last_tick = now
        if self.is_playing and last is not None:
            self._pass((now - last) * 1000 * self.speed)

    def seek(self, offset: int) -> None:
        """Go to a moment: the live one if it is at the end. Playing goes on from there."""
        self.is_paused = self.is_paused or self.is_live
        self.is_live = offset >= self._times.size
        self._set(max(offset, 0))

    def seek_by(self, milliseconds: int) -> None:
        """Go back or on by a duration of recorded time."""
        at_ms, first_ms, last_ms = self.now_ms, self._times.first_ms, self._times.last_ms
        if at_ms is None or first_ms is None or last_ms is None:
            self.step(milliseconds // _UNTIMED_MS, pauses=False)
        elif at_ms + milliseconds < first_ms:
            self.seek(0)
        else:
            self.seek(self._times.offset_at(at_ms + milliseconds))
            self._at_ms = min(at_ms + milliseconds, last_ms)

    def step(self, lines: int, *, pauses: bool = True) -> None:
        """Go back or on by a number of lines."""
        offset = self.offset
        for _ in range(abs(lines)):
            offset = self._times.before(offset) if lines < 0 else self._times.after(offset)
        self.seek(offset)
        self.is_paused = self.is_paused or pauses

    def live(self) -> None:
        """Go to the live moment."""
        self.is_live, self.is_paused, self.is_reversed = True, False, False

    def turn(self) -> None:
        """Pause or play. At the end of a recording that has ended, play from the start."""
        self._last_tick = self._clock()
        if self.is_at_end:
            self.play(self.start)
        elif self.is_live:
            self._set(self._times.size)
            self.is_live, self.is_paused = False, True
        else:
            self.is_paused = not self.is_paused

    def play(self, offset: int) -> None:
        """Play from a moment on."""
        self._set(offset)
        self._last_tick = self._clock()
        self.is_live = self.is_paused = self.is_reversed = False

    def play_at(self, offset: int, speed: float, max_idle: float | None) -> None:
        """Play from a moment on, at a speed and with silences shortened to `max_idle` seconds."""
        self.speed, self._max_idle_ms = speed, None if max_idle is None else max_idle * 1000
        self.play(offset)

    def reverse(self) -> None:
        """Play in the other direction, or back from the live moment."""
        if self.is_live:
            self._set(self._times.size)
        self._last_tick = self._clock()
        self.is_reversed = self.is_live or not self.is_reversed
        self.is_live = self.is_paused = False

    def faster(self) -> None:
        """Play at the next higher speed."""
        self.speed = next((speed for speed in SPEEDS if speed > self.speed), self.speed)

    def slower(self) -> None:
        """Play at the next lower speed."""
        self.speed = next((speed for speed in reversed(SPEEDS) if speed < self.speed), self.speed)

    def _set(self, offset: int) -> None:
        self._offset, self._waited_ms = offset, 0.0
        self._at_ms = self._times.ms_at(offset) if offset else None

    def _pass(self, milliseconds: float) -> None:
        """Let recorded time pass, in the direction in which the moment plays."""
        before = self._offset
        if self._at_ms is None:
            self._at_ms = self._times.first_ms
        if self._at_ms is None:
            self._pass_lines(milliseconds)
        else:
            self._at_ms += -milliseconds if self.is_reversed else milliseconds
            self._cut_silence()
            self._offset = self._times.offset_at(self._at_ms)
        if self.is_reversed:
            if self._offset <= self.start:
                self.is_paused = True
                self._set(self.start)
        elif (stop := self.stops(before, self._offset)) is not None:
            self._set(stop)
            self.is_paused = True
        else:
            self._end()

    def _pass_lines(self, milliseconds: float) -> None:
        """Go on by the lines that are due in a recording without times."""
        self._waited_ms += milliseconds
        lines, self._waited_ms = divmod(self._waited_ms, _UNTIMED_MS)
        for _ in range(int(lines)):
            move = self._times.before if self.is_reversed else self._times.after
            self._offset = move(self._offset)

    def _cut_silence(self) -> None:
        """Skip the rest of a silence that is longer than the limit."""
        at_ms, most_ms = self._at_ms, self._max_idle_ms
        if at_ms is None or most_ms is None:
            return
        offset = self._times.offset_at(at_ms)
        earlier_ms, later_ms = self._times.ms_at(offset), self._times.ms_at(self._times.after(offset))
        if earlier_ms is None or later_ms is None or later_ms - earlier_ms <= most_ms:
            return
        waited_ms = later_ms - at_ms if self.is_reversed else at_ms - earlier_ms
        if waited_ms >= most_ms:
            self.cut_ms = int(later_ms - earlier_ms - most_ms)
            self._at_ms = earlier_ms if self.is_reversed else later_ms

    def _end(self) -> None:
        """At the end, start over, stay there, or be live again."""
        end = self._times.size if self.until is None else min(self.until, self._times.size)
        if self._offset < end:
            return
        if self._loops and self._is_over():
            self._set(self.start)
        elif self.until is not None and self._offset >= self.until:
            self._set(self.until)
            self.is_paused = True
        else:
            self.is_live = True
