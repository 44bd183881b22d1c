"""The lines of a recording, read at the reader's own pace while it may still grow."""

from __future__ import annotations

import os
from typing import NamedTuple, Protocol

from agentwatch.recording.times import ArrivalTimes

_READ_BYTES = 1 << 18


class Line(NamedTuple):
    """One line of a recording."""

    offset: int
    """Where it begins, in bytes."""
    data: bytes
    """Its bytes, without the line end."""
    seen_ms: int | None
    """When its last byte reached us, in milliseconds since the epoch."""


class Growth(Protocol):
    """How far a recording has come."""

    def size(self) -> int:
        """Return how many bytes may be read."""

    def has_ended(self) -> bool:
        """Return whether no more bytes will come; asked before `size`, it is final."""


class LineReader:
    """Reads a recording line by line; lines end at `\\n` and nowhere else."""

    def __init__(self, fd: int, growth: Growth, times: ArrivalTimes) -> None:
        """Read the file open at `fd`, as far as `growth` allows; lines get their time from `times`."""
        self.fd = fd
        self.growth = growth
        self.times = times
        self._offset = 0
        self._tail: list[bytes] = []
        self._tail_bytes = 0

    @property
    def offset(self) -> int:
        """Where the next line begins, in bytes."""
        return self._offset - self._tail_bytes

    def read(self) -> list[Line]:
        """Return the next whole lines, up to 256 KiB of them; none when there are none yet.

        A last line without an end is held back until its end arrives or the recording has ended.
        """
        ended = self.growth.has_ended()
        size = self.growth.size()
        while self._offset < size:
            data = os.pread(self.fd, min(size - self._offset, _READ_BYTES), self._offset)
            if not data:
                break
            start = self.offset
            self._offset += len(data)
            if b"\n" in data:
                *whole, rest = b"".join((*self._tail, data)).split(b"\n")
                self._tail, self._tail_bytes = [rest], len(rest)
                return self._timed(start, whole)
            self._tail.append(data)
            self._tail_bytes += len(data)
        if size < self._offset:  # a full disk: the recording was cut back to its last whole line
            self._offset, self._tail, self._tail_bytes = size, [], 0
        if ended and self._tail_bytes:
            start, rest = self.offset, b"".join(self._tail)
            self._tail, self._tail_bytes = [], 0
            return [Line(start, rest, self.times.at(self._offset - 1))]
        return []

    def is_at_end(self) -> bool:
        """Return whether every line was returned and none will come."""
        ended = self.growth.has_ended()
        return ended and self._offset >= self.growth.size() and not self._tail_bytes

    def line_at(self, offset: int, length: int) -> bytes:
        """Return the bytes of a line that was returned before."""
        return os.pread(self.fd, length, offset)

    def _timed(self, start: int, whole: list[bytes]) -> list[Line]:
        lines = []
        for data in whole:
            end = start + len(data)
            lines.append(Line(start, data, self.times.at(end)))
            start = end + 1
        return lines
