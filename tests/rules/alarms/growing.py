"""A recording that grows as a test says, with arrival times."""

from __future__ import annotations

import os
from collections.abc import Sequence

from agentwatch.feed.feed import Feed
from agentwatch.recording.lines import LineReader
from agentwatch.recording.store import nameless_file
from agentwatch.recording.times import ArrivalTimes
from agentwatch.rules.alarms.tripwire import Tripwire
from agentwatch.rules.alarms.watch import Hit, Watch

BEGAN_MS = 1_790_000_000_000


class Growing:
    """The growth of a recording, and a reader of it."""

    def __init__(self) -> None:
        self._size = 0
        self.is_over = False
        self.times = ArrivalTimes(None)
        self.reader = LineReader(nameless_file(), self, self.times)

    def size(self) -> int:
        """Return how many bytes there are."""
        return self._size

    def has_ended(self) -> bool:
        """Return whether no more will come."""
        return self.is_over

    def append(self, data: bytes, at_ms: int = BEGAN_MS, *, is_over: bool = False) -> None:
        """Append lines to the recording."""
        os.write(self.reader.fd, data)
        self.times.note(self._size, at_ms)
        self._size += len(data)
        self.is_over = is_over


class Watched:
    """A growing recording with rules that watch it."""

    def __init__(self, *wires: Tripwire) -> None:
        self.growing = Growing()
        self.feed = Feed(self.growing.reader)
        self.watch = Watch(self.feed, wires)
        self.now_ms = BEGAN_MS

    def hits(self, *lines: bytes, after_ms: int = 0, is_over: bool = False) -> list[Hit]:
        """Append lines, and return the rules that are hit then."""
        self.now_ms += after_ms
        self.growing.append(b"".join(lines), self.now_ms, is_over=is_over)
        while self.feed.advance():
            pass
        return self.watch.update(self.now_ms)


def calls_of(hits: Sequence[Hit]) -> list[int | None]:
    """Return the numbers of the calls that hit a rule."""
    return [hit.call for hit in hits]
