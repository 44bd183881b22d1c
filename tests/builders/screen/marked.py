"""A recording with a time for each line, its timeline, and its marked moments."""

from __future__ import annotations

from bisect import bisect_right
from pathlib import Path

from agentwatch.analysis.markers import Markers
from agentwatch.feed import Feed
from agentwatch.recording import LineReader, SessionFiles, open_saved
from agentwatch.recording.bookmarks import Bookmarks, ends_a_line
from agentwatch.screen.overlays.goto.marks import Marks
from tests.builders.screen.lines import BEGAN_MS


class LineTimes:
    """The arrival time of each line, as the timeline of a feed has them; a timeline that reads on demand."""

    def __init__(self, reader: LineReader) -> None:
        """Read all lines of the recording of `reader`, whose own position stays unchanged."""
        self._line_ends: list[int] = []
        self._ends: list[int] = []
        self._ms: list[int] = []
        lines = LineReader(reader.fd, reader.growth, reader.times)
        self.size = 0
        while batch := lines.read():
            for line in batch:
                self.size = line.offset + line.length + 1
                self._line_ends.append(self.size)
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

    def after(self, offset: int) -> int:
        """Return the end of the line that begins at an offset."""
        return self._line_ends[min(bisect_right(self._line_ends, offset), len(self._line_ends) - 1)]

    def offset_at(self, ms: int, /) -> int:
        """Return the moment after the last line at or before a time."""
        index = bisect_right(self._ms, ms)
        return self._ends[index - 1] if index else 0


def write_times(path: Path, first_ms: int = BEGAN_MS) -> None:
    """Let the lines of a recording arrive one second apart, the first at 09:00:00 or at another time."""
    offset, times = 0, []
    for number, line in enumerate(path.read_bytes().splitlines(keepends=True)):
        times.append(f"{offset} {first_ms + 1000 * number}\n")
        offset += len(line)
    SessionFiles(path).times.write_text("".join(times))


def marks_of(path: Path, *, in_memory: bool = False) -> Marks:
    """Return the marks of a recording, with the bookmarks in their file or in memory."""
    reader = open_saved(path)
    feed = Feed(reader)
    feed.advance()
    bookmarks = Bookmarks(
        None if in_memory else SessionFiles(path).bookmarks,
        lambda offset: ends_a_line(reader.line_at, offset),
    )
    times = LineTimes(reader)
    return Marks(feed.session, bookmarks, Markers(feed.session, times.after), times)
