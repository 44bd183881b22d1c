"""When a file is looked at and its lines are sent, and how long an engine that takes nothing is tried."""

from __future__ import annotations

import random
from collections.abc import Callable

from agentwatch.engine.engine import Trouble

_CHUNKS_A_SECOND = 4.0
"""The chunks of a long load. A session may have 200,000 messages: 14 hours of it."""
_MOST_CREDIT = 100.0
"""The chunks that are sent without waiting after 25 s of silence: at 20 lines a second, those of 6 s."""
_LOOK_SECONDS = (0.01, 0.25)
"""The pause between two looks at a file that grows, and at one that has not grown for 5 s."""
_SLOWER = 1.05
"""A line waits for a twentieth of the silence before it at most."""
_JOINING_SECONDS = (0.001, 0.05)
"""The pause between two looks at lines that wait to travel together: they may fill a chunk."""
_RETRY_SECONDS = (0.05, 5.0)
"""The pause after the first fault, and the longest one; each is twice as long as the one before."""
_AWAY_SECONDS = 3600.0
"""How long an engine is awaited after the recording has ended. `agentwatch ship --all` sends it later."""
_REFUSED_SECONDS = 60.0
"""The same for one that refuses: nothing but a person changes that."""


class Pace:
    """When to look at a file that grows, and when to send its lines.

    A line after a silence is sent at once, and so are those of a short burst. Under a longer load the lines
    of up to 250 ms travel together.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        """Begin as after a silence.

        Args:
            clock: A clock that never goes backwards, in seconds.
        """
        self._clock = clock
        self._credit = _MOST_CREDIT
        self._credited_at = clock()
        self._pause = _LOOK_SECONDS[0]

    def joining(self) -> float:
        """Return how long lines that wait are to be joined before the next look; 0 to send them now."""
        now = self._clock()
        self._credit = min(self._credit + (now - self._credited_at) * _CHUNKS_A_SECOND, _MOST_CREDIT)
        self._credited_at = now
        if self._credit >= 1:
            return 0.0
        least, most = _JOINING_SECONDS
        return max(min((1 - self._credit) / _CHUNKS_A_SECOND, most), least)

    def note_sent(self) -> None:
        """Note that a chunk was sent."""
        self._credit = max(self._credit - 1, 0.0)
        self._pause = _LOOK_SECONDS[0]

    def silence(self) -> float:
        """Return the pause before the next look at a file that has not grown."""
        pause = self._pause
        self._pause = min(pause * _SLOWER, _LOOK_SECONDS[1])
        return pause

    def hurry(self) -> None:
        """Send the next chunk at once: a fault has made its lines wait."""
        self._credit = max(self._credit, 1.0)


class Patience:
    """How often an engine is tried that does not take a recording, and how long."""

    def __init__(self, clock: Callable[[], float]) -> None:
        """Begin without a fault.

        Args:
            clock: A clock that never goes backwards, in seconds.
        """
        self.faults = 0
        """The faults since the engine has stored something."""
        self._clock = clock
        self._ended_at: float | None = None
        self._refused_at: float | None = None

    def note_fault(self, trouble: Trouble) -> None:
        """Note that the engine has not done what it was asked."""
        self.faults += 1
        if trouble is not Trouble.REFUSED:
            self._refused_at = None
        elif self._refused_at is None:
            self._refused_at = self._clock()

    def note_progress(self) -> None:
        """Note that the engine works."""
        self.faults, self._refused_at = 0, None

    def pause(self) -> float:
        """Return the time until the next attempt, in seconds."""
        least, most = _RETRY_SECONDS
        pause: float = min(least * 2 ** min(self.faults - 1, 10), most)
        return pause * random.uniform(0.5, 1)  # noqa: S311 - publishers must not return all at once

    @property
    def is_refused(self) -> bool:
        """Whether the engine has refused the last attempt."""
        return self._refused_at is not None

    def is_over(self) -> bool:
        """Return whether to give up a recording that has ended; the first call notes that it has.

        An agent that runs is worth each attempt: a login that was revoked can be renewed.
        """
        now = self._clock()
        if self._ended_at is None:
            self._ended_at = now
        if self._refused_at is None:
            return now - self._ended_at > _AWAY_SECONDS
        return now - max(self._ended_at, self._refused_at) > _REFUSED_SECONDS
