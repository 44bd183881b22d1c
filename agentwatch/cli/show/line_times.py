"""The times of the lines of a recording that is read once from its start to its end."""

from __future__ import annotations

from array import array
from bisect import bisect_right

from agentwatch.events import Event
from agentwatch.feed import Feed


class LineTimes:
    """When each line of a recording was due: its arrival, or the agent's time if its arrival is unknown."""

    def __init__(self) -> None:
        self._starts = array("q")
        """The offset of each line that has a time."""
        self._times = array("q")
        """Its time; if a clock was put back, that of the line before it."""
        self._feed: Feed | None = None
        self._seen_ms: int | None = None

    def follow(self, feed: Feed) -> None:
        """Read a recording as far as it was written; `feed` was created with this object as its pace."""
        self._feed = feed
        feed.advance()

    @property
    def first_ms(self) -> int | None:
        """The time of the first line that has one."""
        return self._times[0] if self._times else None

    @property
    def last_ms(self) -> int | None:
        """The latest time of a line."""
        return self._times[-1] if self._times else None

    @property
    def size(self) -> int:
        """The number of bytes that were read."""
        return 0 if self._feed is None else self._feed.offset

    def ms_at(self, offset: int) -> int | None:
        """Return the time of the last line before a moment; None if it has none."""
        index = bisect_right(self._starts, offset - 1) - 1
        return self._times[index] if index >= 0 else None

    def offset_at(self, ms: int) -> int:
        """Return the moment after the last line at or before a time."""
        index = bisect_right(self._times, ms)
        return self._starts[index] if index < len(self._starts) else self.size

    def is_due(self, seen_ms: int | None, events: list[Event]) -> bool:
        """Note the time of the next line, and return True: all lines are read at once."""
        self._seen_ms = seen_ms
        at_ms = seen_ms if seen_ms is not None else _agent_time(events)
        if at_ms is not None and self._feed is not None:
            self._starts.append(self._feed.offset)
            self._times.append(max(at_ms, self._times[-1]) if self._times else at_ms)
        return True

    def seen_ms(self) -> int | None:
        """Return when the last line arrived; the session knows no other time of it."""
        return self._seen_ms


def _agent_time(events: list[Event]) -> int | None:
    times = (getattr(event, "at_ms", None) for event in events)
    return next((at_ms for at_ms in times if at_ms is not None), None)
