"""The recorded times of a recording, read from its lines."""

from __future__ import annotations

from bisect import bisect_right

from agentwatch.recording import LineReader


class LineTimes:
    """The arrival time of each line, as the timeline of a feed has them; a timeline that reads on demand."""

    def __init__(self, reader: LineReader) -> None:
        """Read all lines of the recording of `reader`, whose own position stays unchanged."""
        self._ends: list[int] = []
        self._ms: list[int] = []
        lines = LineReader(reader.fd, reader.growth, reader.times)
        self.size = 0
        while batch := lines.read():
            for line in batch:
                self.size = line.offset + line.length + 1
                if line.seen_ms is not None:
                    self._ends.append(self.size)
                    self._ms.append(max(line.seen_ms, *self._ms[-1:]) if self._ms else line.seen_ms)

    @property
    def first_ms(self) -> int | None:
        """The time of the first line that has one."""
        return self._ms[0] if self._ms else None

    @property
    def last_ms(self) -> int | None:
        """The time of the last line that has one."""
        return self._ms[-1] if self._ms else None

    def ms_at(self, offset: int) -> int | None:
        """Return the time of the last line before a moment."""
        index = bisect_right(self._ends, offset)
        return self._ms[index - 1] if index else None

    def offset_at(self, ms: int, /) -> int:
        """Return the moment after the last line at or before a time."""
        index = bisect_right(self._ms, ms)
        return self._ends[index - 1] if index else 0
