"""The playhead: the moment of the session that is shown, and the pace at which recorded time passes."""

import time
from collections.abc import Callable
from math import ceil
from typing import NamedTuple, Protocol

from agentwatch.feed.feed import Timeline

UNTIMED_MS = 50
"""The time that each line takes if the recording has no times: 20 lines a second."""
_MOST_STEPS = 2000
"""Lines that are searched for silences in one tick. They take 6 ms."""


class Times(Timeline, Protocol):
    def around(self, at_ms: float) -> tuple[int | None, int | None]:
        """Return the last time of a line that is not later than a time, and the first that is later."""

    def before(self, offset: int) -> int:
        """Return the end of the line before the one that ends at `offset`."""

    def after(self, offset: int) -> int:
        """Return the end of the next line after `offset`."""


class Pace:
    """The recorded time of a playhead, also between two lines. Silences over `max_idle` seconds are shortened
    to it; None for no limit."""

    def __init__(self, times: Times, max_idle: float | None = None) -> None:
        self.max_idle = max_idle
        self.at_ms: float | None = None
        """It is None at the start, and if the recording has no times."""
        self.cut_ms = 0
        """What was left out of silences when time last passed, in milliseconds."""
        self._times = times
        self._waited_ms = 0.0
        """The time since the last line was shown, in a recording without times."""

    def go_to(self, offset: int) -> None:
        self._waited_ms = 0.0
        self.at_ms = self._times.ms_at(offset) if offset else None

    def go_on(self, offset: int, milliseconds: float, *, is_reversed: bool) -> int:
        """Let recorded time pass, and return the new moment. Silences that are left out take none of it."""
        at_ms = self._times.first_ms if self.at_ms is None else self.at_ms
        last_ms, self.cut_ms = self._times.last_ms, 0
        if at_ms is None or last_ms is None:
            return self._go_on_by_lines(offset, milliseconds, is_reversed=is_reversed)
        if self.max_idle is not None:
            at_ms, milliseconds = self._cut(at_ms, milliseconds, self.max_idle * 1000, is_reversed)
        at_ms = at_ms - milliseconds if is_reversed else min(at_ms + milliseconds, last_ms)
        self.at_ms = at_ms
        return self._times.offset_at(at_ms)

    def _go_on_by_lines(self, offset: int, milliseconds: float, *, is_reversed: bool) -> int:
        self._waited_ms += milliseconds
        lines, self._waited_ms = divmod(self._waited_ms, UNTIMED_MS)
        move = self._times.before if is_reversed else self._times.after
        for _ in range(min(int(lines), _MOST_STEPS)):
            offset = move(offset)
        return offset

    def _cut(
        self, at_ms: float, milliseconds: float, most_ms: float, is_reversed: bool
    ) -> tuple[float, float]:
        """Return the time of the last line that is reached over shortened silences, and what remains of the
        milliseconds, which lead to a time before the next line."""
        if most_ms == 0:
            first_ms, last_ms = self._times.first_ms, self._times.last_ms
            return (first_ms or 0) - 1 if is_reversed else last_ms or 0, 0
        for _ in range(_MOST_STEPS):
            earlier_ms, later_ms = self._times.around(ceil(at_ms) - 1 if is_reversed else at_ms)
            if earlier_ms is None or later_ms is None:
                return at_ms, milliseconds
            passed_ms, left_ms = at_ms - earlier_ms, later_ms - at_ms
            if is_reversed:
                passed_ms, left_ms = left_ms, passed_ms
            is_short = later_ms - earlier_ms <= most_ms
            wait_ms = left_ms if is_short else max(most_ms - passed_ms, 0)
            if milliseconds < wait_ms:
                return at_ms, milliseconds
            milliseconds -= wait_ms
            self.cut_ms += int(left_ms - wait_ms)
            at_ms = earlier_ms if is_reversed else later_ms
        return at_ms, 0


SPEEDS = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0)
_CUT_SECONDS = 3.0
"""How long a shortened silence is known after it, in seconds of real time."""


class Replay(NamedTuple):
    speed: float = 1.0
    """Seconds of the recording that pass per second of real time."""
    max_idle: float | None = None
    """Longer silences are shortened to this duration, in seconds; None for no limit."""
    loops: bool = False
    clock: Callable[[], float] = time.monotonic


class Playhead:
    """The moment that is shown: the live one, or an earlier one, paused or playing in either direction.
    Between two lines, time passes while the moment stays. `replay` is None to show the live moment. `is_read`
    says whether the times contain what is in the recording now: a replay at the end of a part of it waits for
    the rest."""

    def __init__(
        self,
        times: Times,
        replay: Replay | None = None,
        *,
        is_over: Callable[[], bool],
        is_read: Callable[[], bool] = lambda: True,
    ) -> None:
        self.speed = 1.0 if replay is None else replay.speed
        """The speed, as in `Replay.speed`."""
        self.is_live = replay is None
        self.is_paused = False
        self.is_reversed = False
        self.start = 0
        """Where playing starts over."""
        self.until: int | None = None
        """Where playing ends; None at the end of the recording."""
        self.stops: Callable[[int, int], int | None] = lambda _start, _end: None
        """Returns the first moment after one and up to another at which playing pauses; None without one."""
        self._times = times
        self._pace = Pace(times, None if replay is None else replay.max_idle)
        self._loops = replay is not None and replay.loops
        self._is_over, self._is_read = is_over, is_read
        self._clock = time.monotonic if replay is None else replay.clock
        self._last_tick: float | None = None
        """It is None while time does not pass, so that a pause takes no time of the replay."""
        self._offset = 0
        self._cut = 0, 0.0
        """The length of what was left out of silences, and when."""

    @property
    def offset(self) -> int:
        return self._times.size if self.is_live else min(self._offset, self._times.size)

    @property
    def is_playing(self) -> bool:
        """Whether an earlier moment plays."""
        return not (self.is_live or self.is_paused)

    @property
    def is_at_end(self) -> bool:
        """Whether the end is shown: of a recording that has ended, or of the part that is played."""
        return self._is_over() if self.is_live else self.is_paused and self._offset == self.until

    @property
    def now_ms(self) -> int | None:
        """Return None if the recorded time that is shown is unknown."""
        at_ms = self._times.last_ms if self.is_live else self._pace.at_ms
        return self._times.ms_at(self._offset) if at_ms is None else int(at_ms)

    @property
    def cut_ms(self) -> int:
        """What was left out of the last shortened silence, in milliseconds; 0 from 3 s after it on."""
        cut_ms, at = self._cut
        return cut_ms if self.is_playing and self._clock() - at < _CUT_SECONDS else 0

    def tick(self) -> None:
        """Move the moment by the time that has passed since the last tick, if it has played since."""
        now, last = self._clock(), self._last_tick
        if self.is_playing and last is not None:
            self._pass((now - last) * 1000 * self.speed)
        self._last_tick = now if self.is_playing else None

    def seek(self, offset: int) -> None:
        """Go to a moment: the live one if it is at the end. Playing continues there."""
        if offset >= self._times.size:
            self.live()
        else:
            self.is_paused = self.is_paused or self.is_live
            self.is_live = False
            self._set(max(offset, 0))

    def seek_by(self, milliseconds: int) -> None:
        at_ms, first_ms, last_ms = self.now_ms, self._times.first_ms, self._times.last_ms
        if at_ms is None or first_ms is None or last_ms is None:
            self.step(milliseconds // UNTIMED_MS)
        elif at_ms + milliseconds < first_ms:
            self.seek(0)
        else:
            self.seek(self._times.offset_at(at_ms + milliseconds))
            self._pace.at_ms = min(at_ms + milliseconds, last_ms)

    def step(self, lines: int) -> None:
        offset = self.offset
        for _ in range(abs(lines)):
            offset = self._times.before(offset) if lines < 0 else self._times.after(offset)
        self.seek(offset)

    def live(self) -> None:
        self.is_live, self.is_paused, self.is_reversed = True, False, False

    def turn(self) -> None:
        """Pause or play. At the end of what is played, play from the start."""
        was_playing = self.is_playing
        self._tick_now()
        if was_playing and self.is_paused:
            return  # It has just come to the end, or to a stop.
        if self.is_at_end:
            self.play(self.start)
        elif self.is_live:
            self._set(self._times.size)
            self.is_live, self.is_paused = False, True
        else:
            self.is_paused = not self.is_paused

    def play(self, offset: int) -> None:
        self._set(offset)
        self._last_tick = self._clock()
        self.is_live = self.is_paused = self.is_reversed = False

    def play_at(self, offset: int, speed: float, max_idle: float | None) -> None:
        """Silences are shortened to `max_idle` seconds."""
        self.speed, self._pace.max_idle = speed, max_idle
        self.play(offset)

    def reverse(self) -> None:
        """Play in the other direction, or back from the live moment."""
        self._tick_now()
        if self.is_live:
            self._set(self._times.size)
        self.is_reversed = self.is_live or not self.is_reversed
        self.is_live = self.is_paused = False

    def faster(self) -> None:
        self._tick_now()
        self.speed = next((speed for speed in SPEEDS if speed > self.speed), self.speed)

    def slower(self) -> None:
        self._tick_now()
        self.speed = next((speed for speed in reversed(SPEEDS) if speed < self.speed), self.speed)

    def _tick_now(self) -> None:
        """Let the time up to a key pass as it has played; the key changes what follows."""
        self.tick()
        self._last_tick = self._clock()

    def _set(self, offset: int) -> None:
        self._offset = offset
        self._pace.go_to(offset)

    def _pass(self, milliseconds: float) -> None:
        before, pace = self._offset, self._pace
        after = self._offset = pace.go_on(before, milliseconds, is_reversed=self.is_reversed)
        if pace.cut_ms:
            self._cut = pace.cut_ms, self._clock()
        if not self.is_reversed:
            self._end(before)
        elif after <= 0 or after <= self.start < before:
            self._set(self.start if self.start < before else 0)
            self.is_paused, self.is_reversed = True, False

    def _end(self, before: int) -> None:
        """Pause at a stop; at the end, start over, stay, or be live again. Time has passed since `before`."""
        until, after = self.until, self._offset
        is_end = until is not None and before < until <= after
        after = until if is_end and until is not None else after
        if (stop := self.stops(before, after)) is not None:
            self._set(stop)
            self.is_paused = True
        elif is_end or (after >= self._times.size and self._is_over()):
            if self._loops:
                self.play(self.start)
            elif is_end:
                self._set(after)
                self.is_paused = True
            else:
                self.is_live = True
        elif after >= self._times.size and self._is_read():
            self.is_live = True
