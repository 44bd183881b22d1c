"""The times of a recording: when each of its bytes arrived, and which bytes had arrived at a time."""

from __future__ import annotations

from operator import lt
from typing import Protocol

from agentwatch.recording.appender import line_start
from agentwatch.recording.ends import line_end_after
from agentwatch.recording.times import TimeColumns
from agentwatch.session.call import Pieces, Place


class Timeline(Protocol):
    """The times of the part of a recording that was read. They do not decrease from line to line."""

    @property
    def has_times(self) -> bool:
        """Whether any time is known."""

    @property
    def first_ms(self) -> int | None:
        """The first time, in milliseconds since the epoch; None while no time is known."""

    @property
    def last_ms(self) -> int | None:
        """The last time; None while no time is known."""

    @property
    def size(self) -> int:
        """The number of bytes that were read. It is the live moment."""

    def ms_at(self, offset: int) -> int | None:
        """Return the time of the last line before a moment; None if it is unknown."""

    def offset_at(self, at_ms: float, /) -> int:
        """Return the moment after the last line at or before a time."""


class RecordedTimes:
    """The times of the lines that a feed has applied.

    They are arrival times if the recording has them, otherwise the agent's times. A recording may have
    neither; its moments are then known only by their offsets. After a change of the clock, times that are
    earlier than one before them are not noted.
    """

    def __init__(self, fd: int) -> None:
        """Create an empty timeline of the recording that is open at `fd`."""
        self.fd = fd
        self.size = 0
        """The number of bytes whose lines are applied. It is the live moment."""
        self.first_ms: int | None = None
        """The first time, in milliseconds since the epoch; None while no time is known."""
        self.last_ms: int | None = None
        """The last time; None while no time is known."""
        self._noted = TimeColumns()
        """Pairs of an offset and the time of the lines that end after it, up to the next pair."""

    @property
    def has_times(self) -> bool:
        """Whether any time is known."""
        return self.first_ms is not None

    def note(self, place: Place, pieces: Pieces | None = None) -> None:
        """Note the time of a line that was applied.

        Args:
            place: The line.
            pieces: The times of its parts, if it is several short lines that were applied at once.
        """
        self.size = place.offset + place.length + 1
        if pieces is None:
            at_ms = place.seen_ms
            if at_ms is not None and (self.last_ms is None or at_ms > self.last_ms):
                self._note(place.offset, at_ms)
            return
        self._note(place.offset, pieces.first_ms)
        times_ms = [*pieces.times_ms]
        if times_ms and self.last_ms is not None and times_ms[0] > self.last_ms and _is_rising(times_ms):
            self._noted.extend(pieces.offsets, times_ms)
            self.last_ms = times_ms[-1]
        else:
            for offset, at_ms in zip(pieces.offsets, times_ms, strict=True):
                self._note(offset, at_ms)

    def _note(self, offset: int, at_ms: int) -> None:
        last_ms = self.last_ms
        if last_ms is None:
            self.first_ms = at_ms
        elif at_ms <= last_ms:
            return
        self.last_ms = at_ms
        self._noted.append(offset, at_ms)

    def ms_at(self, offset: int) -> int | None:
        """Return the time of the last line before an offset; before the first time, the first time."""
        return self.first_ms if (at_ms := self._noted.at(offset - 1)) is None else at_ms

    def offset_at(self, at_ms: float) -> int:
        """Return the moment after the last line at or before a time."""
        later = self._noted.around(at_ms)[1]
        return self.size if later is None else line_start(self.fd, later[0])

    def around(self, at_ms: float) -> tuple[int | None, int | None]:
        """Return the last time of a line that is not later than a time, and the first that is later.

        Returns:
            None instead of a time that does not exist.
        """
        earlier, later = self._noted.around(at_ms)
        return None if earlier is None else earlier[1], None if later is None else later[1]

    def before(self, offset: int) -> int:
        """Return the end of the line before the one that ends at `offset`; 0 at the first line."""
        return line_start(self.fd, offset - 1) if offset > 0 else 0

    def after(self, offset: int) -> int:
        """Return the end of the next line after `offset`; the live moment if no line follows."""
        return min(line_end_after(self.fd, offset, self.size), self.size)

    def aligned(self, offset: int) -> int:
        """Return the last line end at or before an offset."""
        return self.size if offset >= self.size else line_start(self.fd, max(offset, 0))


def _is_rising(times_ms: list[int]) -> bool:
    """Return whether each time is later than the one before it."""
    return all(map(lt, times_ms, times_ms[1:]))
