"""The pace of a replay: when each line of a recording is due."""

from __future__ import annotations

import time
from collections.abc import Callable

from agentwatch.events import Event

SPEEDS = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 64.0)


class Replay:
    """Replays a recording with its original timing, faster or slower, with long silences shortened.

    A line is due at its arrival time, or at the agent's timestamp if the recording has no arrival times. A
    line without either is due together with the line before it.
    """

    def __init__(
        self,
        speed: float = 1.0,
        max_idle: float | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Create a replay that is not paused.

        Args:
            speed: Seconds of the recording that pass per second of real time.
            max_idle: Longer silences are shortened to this duration, in recorded seconds; None is no limit.
            clock: Returns the present time in seconds.
        """
        self.is_paused = False
        self._speed = speed
        self._max_idle_ms = None if max_idle is None else max_idle * 1000
        self._clock = clock
        self._last_tick: float | None = None
        """None until the first line is requested, so that drawing the first screen takes no replay time."""
        self._waited_ms = 0.0
        """Recorded time that has passed since the last line was due."""
        self._at_ms: int | None = None
        """Recorded time at which the last line was due."""
        self._steps = 0

    @property
    def speed(self) -> float:
        """Seconds of the recording that pass per second of real time."""
        return self._speed

    def is_due(self, seen_ms: int | None, events: list[Event]) -> bool:
        """Return whether the line is due. The feed asks again for the same line until it is."""
        self._pass_time()
        at_ms = seen_ms if seen_ms is not None else _agent_time(events)
        if at_ms is None or self._at_ms is None:
            self._at_ms = at_ms if self._at_ms is None else self._at_ms
            return True
        gap_ms: float = max(at_ms - self._at_ms, 0)
        if self._max_idle_ms is not None:
            gap_ms = min(gap_ms, self._max_idle_ms)
        if gap_ms > self._waited_ms and not self._steps:
            return False
        self._waited_ms = max(self._waited_ms - gap_ms, 0)
        if self._steps and gap_ms:
            self._steps -= 1
        self._at_ms = max(at_ms, self._at_ms)
        return True

    def seen_ms(self) -> int | None:
        """Return the recorded time at which the last line was due."""
        return self._at_ms

    def now_ms(self) -> int | None:
        """Return the current position in recorded time; None before the first line with a time."""
        self._pass_time()
        return None if self._at_ms is None else self._at_ms + int(self._waited_ms)

    def pause(self) -> None:
        """Pause or resume the replay."""
        self._pass_time()
        self.is_paused = not self.is_paused

    def faster(self) -> None:
        """Play at the next higher speed."""
        self._pass_time()
        self._speed = next((speed for speed in SPEEDS if speed > self._speed), self._speed)

    def slower(self) -> None:
        """Play at the next lower speed."""
        self._pass_time()
        self._speed = next((speed for speed in reversed(SPEEDS) if speed < self._speed), self._speed)

    def step(self) -> None:
        """Make the next event due now, together with all other events of the same recorded time."""
        self._steps += 1

    def _pass_time(self) -> None:
        now = self._clock()
        if not self.is_paused and self._last_tick is not None:
            self._waited_ms += (now - self._last_tick) * 1000 * self._speed
        self._last_tick = now


def _agent_time(events: list[Event]) -> int | None:
    times = (getattr(event, "at_ms", None) for event in events)
    return next((at_ms for at_ms in times if at_ms is not None), None)
