"""Schedules screen updates: immediately after a pause, then at the rate that the CPU budget allows."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

from agentwatch.recording.wakeup import Wakeup

LIVE_SHARE = 0.18
"""Share of wall time that reading and drawing may use; the rest of the machine belongs to the agent.

The threads that read the pipe and write to the terminal take 2 % more.
"""
LOADING_SHARE = 1.0
"""The share while the user waits for a file to load. After a key, a slice of loading is skipped."""
_TURNS = 20
"""Turns of the event loop between two ticks while a file loads: a key is passed on by several tasks.

Without them, each of those tasks would wait for a slice of loading, and a key would take 110 ms. If there is
nothing else to do, they take 0.3 ms.
"""
_SMOOTHED_OVER = 8
"""Cycles over which the cost is averaged.

An expensive cycle delays the following ones a little, instead of only the next one by a tenth of a second.
"""
_LEAST_SECONDS = 1 / 50
"""Minimum time between two ticks; more frames would not be noticed, but each is written to the terminal."""


class FrameScheduler:
    """Calls `tick` when new data arrives, or when the previous tick requested another one."""

    def __init__(
        self, tick: Callable[[], float | None], post: Callable[[Callable[[], None]], object]
    ) -> None:
        """Create the scheduler in the running event loop.

        Args:
            tick: Updates the screen; returns in how many seconds the next tick is due, or None to wait for
                new data.
            post: Runs a function as one of the screen's messages.
        """
        self._tick = tick
        self._post = post
        self._loop = asyncio.get_running_loop()
        self._next: asyncio.TimerHandle | None = None
        self._earliest = 0.0
        self._is_posted = False
        self.share = LIVE_SHARE
        """Share of wall time that ticks and drawing may use."""
        self._used = time.thread_time()
        self._cost = 0.0
        self._wakeup: Wakeup | None = None

    @property
    def is_resting(self) -> bool:
        """Whether no tick is due, because everything is shown."""
        return self._next is None and not self._is_posted

    def listen(self, wakeup: Wakeup) -> None:
        """Tick whenever the recording grows."""
        self._wakeup = wakeup
        self._loop.add_reader(wakeup.fd, self._woken)

    def stop(self) -> None:
        """Stop ticking."""
        if self._wakeup is not None:
            self._loop.remove_reader(self._wakeup.fd)
        if self._next is not None:
            self._next.cancel()

    def within(self, seconds: float) -> None:
        """Tick within `seconds`, but not earlier than the CPU budget allows."""
        due = max(self._loop.time() + seconds, self._earliest)
        if self._next is not None:
            if self._next.when() <= due:
                return
            self._next.cancel()
        self._next = self._loop.call_at(due, self._due)

    def at_once(self) -> None:
        """Tick now regardless of the CPU budget, because the user pressed a key."""
        self._earliest = 0.0
        self.within(0)

    def _woken(self) -> None:
        if self._wakeup is not None:
            self._wakeup.hear()
        self.within(0)

    def _due(self) -> None:
        self._next, self._is_posted = None, True
        self._beat_after(_TURNS if self.share == LOADING_SHARE else 0)

    def _beat_after(self, turns: int) -> None:
        """Post the next tick, after other work has had some turns of the event loop."""
        if turns:
            self._loop.call_soon(self._beat_after, turns - 1)
        else:
            self._post(self._beat)

    def _beat(self) -> None:
        """Tick, and delay the next tick according to the cost of the last cycle, including its drawing."""
        self._is_posted = False
        used = time.thread_time()
        self._cost += (used - self._used - self._cost) / _SMOOTHED_OVER
        self._used = used
        least = 0.0 if self.share == LOADING_SHARE else _LEAST_SECONDS
        self._earliest = self._loop.time() + max(self._cost / self.share, least)
        if self._wakeup is not None:
            self._wakeup.ask()
        wait = self._tick()
        if wait is not None:
            self.within(wait)
