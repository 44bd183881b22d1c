"""When the screen takes what is new: at once after a quiet time, then no oftener than it can afford."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

from agentwatch.recording import Wakeup

CALM_SHARE = 0.22
"""Of the time that passes, what reading and drawing may take: the machine is the agent's."""
BUSY_SHARE = 0.38
"""The same while very much comes: what is shown would otherwise lag behind by 100 ms."""
LOADING_SHARE = 0.9
"""The same while the user waits for a file."""
_SMOOTHED_OVER = 8
"""Cycles: one that costs much puts the others off a little, instead of the next by a tenth of a second."""
_LEAST_SECONDS = 1 / 50
"""From one tick to the next: more frames nobody sees, and each of them is written to the terminal."""


class FrameScheduler:
    """Calls `tick` when something came, or when a tick has asked to be followed by another."""

    def __init__(
        self, tick: Callable[[], float | None], post: Callable[[Callable[[], None]], object]
    ) -> None:
        """Call `tick` by `post`, which runs a function among the screen's messages.

        A tick returns in how many seconds it wants the next; None is when something comes.
        """
        self._tick = tick
        self._post = post
        self._loop = asyncio.get_running_loop()
        self._next: asyncio.TimerHandle | None = None
        self._earliest = 0.0
        self._is_posted = False
        self.share = CALM_SHARE
        """Of the time that passes, what ticks and drawing may take."""
        self._used = time.thread_time()
        self._cost = 0.0
        self._wakeup: Wakeup | None = None

    @property
    def is_resting(self) -> bool:
        """Whether no tick is due: all there was is shown."""
        return self._next is None and not self._is_posted

    def listen(self, wakeup: Wakeup) -> None:
        """Tick when a recording has grown."""
        self._wakeup = wakeup
        self._loop.add_reader(wakeup.fd, self._woken)

    def stop(self) -> None:
        """Tick no more."""
        if self._wakeup is not None:
            self._loop.remove_reader(self._wakeup.fd)
        if self._next is not None:
            self._next.cancel()

    def within(self, seconds: float) -> None:
        """Tick in so many seconds at the latest, but not before it can be afforded."""
        due = max(self._loop.time() + seconds, self._earliest)
        if self._next is not None:
            if self._next.when() <= due:
                return
            self._next.cancel()
        self._next = self._loop.call_at(due, self._due)

    def at_once(self) -> None:
        """Tick now, whatever it costs: the user has pressed a key."""
        self._earliest = 0.0
        self.within(0)

    def _woken(self) -> None:
        if self._wakeup is not None:
            self._wakeup.hear()
        self.within(0)

    def _due(self) -> None:
        self._next, self._is_posted = None, True
        self._post(self._beat)

    def _beat(self) -> None:
        """Tick, and put off the next by what the last cycle, its drawing included, has cost."""
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
