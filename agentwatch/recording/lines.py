"""Reads the lines of a recording that may still be growing, at the reader's own pace."""

import os
from collections.abc import Callable, Iterator, Sequence
from io import BytesIO
from itertools import accumulate
from typing import NamedTuple, Protocol

from agentwatch.recording.times import ArrivalTimes

_READ_BYTES = 1 << 18
MOST_LINE_BYTES = 16 << 20
"""Longer lines are oversize and are not parsed whole: 16 MiB of `[],` need one second and 0.5 GB."""
KEPT_BYTES = 1 << 16
"""The number of bytes kept from each end of an oversize line."""


class Line(NamedTuple):
    """One line of a recording."""

    offset: int
    """The offset of its first byte in the recording."""
    data: bytes
    """Its bytes without the line end. For an oversize line, the first 64 KiB."""
    seen_ms: int | None
    """When its last byte arrived, in milliseconds since the epoch."""
    tail: bytes = b""
    """The last 64 KiB of an oversize line; empty for other lines."""
    oversize: int = 0
    """The total number of bytes of an oversize line; 0 for other lines."""

    @property
    def length(self) -> int:
        """The number of bytes that the line has in the recording, without its line end."""
        return self.oversize or len(self.data)


class Lines:
    """A batch of consecutive whole lines. Iterating over it yields `Line` objects."""

    __slots__ = ("_times", "data", "offset", "oversize", "tail")

    def __init__(
        self, offset: int, data: list[bytes], times: ArrivalTimes, tail: bytes = b"", oversize: int = 0
    ) -> None:
        """Hold the raw lines of a batch. `offset` is that of the first line in the recording. `data` has the
        lines with their line ends; an oversize line is the only line of its batch. `tail` is the last 64 KiB
        of an oversize line. `oversize` is the total number of bytes of an oversize line; 0 for other
        lines."""
        self.offset = offset
        self.data = data
        self.tail = tail
        self.oversize = oversize
        self._times = times

    def __len__(self) -> int:
        return len(self.data)

    def __iter__(self) -> Iterator[Line]:
        offset = self.offset
        for raw in self.data:
            data = raw.removesuffix(b"\n")
            length = self.oversize or len(data)
            yield Line(offset, data, self._times.at(offset + length), self.tail, self.oversize)
            offset += length + 1

    def arrivals(self, offset: int, burst: Sequence[bytes]) -> list[int]:
        """Return when each of some lines of this batch arrived; nothing if all arrived in one read. `offset`
        is that of the first line in `burst`, which has the lines with their line ends."""
        ends = list(accumulate(map(len, burst), initial=offset - 1))[1:]
        if not self._times.has_between(ends[0], ends[-1]):
            return []
        return [at_ms for at_ms in map(self._times.at, ends) if at_ms is not None]

    @property
    def seen_at(self) -> Callable[[int], int | None] | None:
        """The function that returns when a byte arrived; None while no time is known at all."""
        return None if self._times.is_empty else self._times.at

    def seen_ms(self, offset: int) -> int | None:
        """Return when the byte at `offset` arrived, in milliseconds since the epoch; None if unknown."""
        return self._times.at(offset)


class Growth(Protocol):
    """How much of a recording may be read, and whether it still grows."""

    def size(self) -> int:
        """Return the number of bytes that may be read."""

    def has_ended(self) -> bool:
        """Return whether the recording has ended. A `size` that is read after this has returned True is
        final."""


class Until:
    """The growth of the part of a recording before `end`, which the user moves. It never ends."""

    def __init__(self, end: int) -> None:
        self.end = end

    def size(self) -> int:
        """Return the number of bytes that may be read."""
        return self.end

    def has_ended(self) -> bool:
        """Return False: the recording continues."""
        return False


class LineReader:
    """Reads a recording line by line. Only `\\n` ends a line. `growth` says how much of it may be read.
    `start` is the offset of the first line that is read."""

    def __init__(self, fd: int, growth: Growth, times: ArrivalTimes, start: int = 0) -> None:
        self.fd = fd
        self.growth = growth
        self.times = times
        self._offset = start
        self._tail: list[bytes] = []
        self._tail_bytes = 0

    @property
    def offset(self) -> int:
        """The offset of the next line in the recording."""
        return self._offset - self._tail_bytes

    def read(self) -> Lines:
        """Return the next whole lines, at most 256 KiB of them, or no lines if no whole line has arrived. A
        last line without a line end is held back until its end arrives or the recording has ended."""
        ended = self.growth.has_ended()
        size = self.growth.size()
        while self._offset < size:
            data = os.pread(self.fd, min(size - self._offset, _READ_BYTES), self._offset)
            if not data:
                break
            start = self.offset
            self._offset += len(data)
            if b"\n" in data:
                return self._whole_lines(start, data)
            self._keep(data)
        if size < self._offset:  # after a full disk the recording was truncated to its last whole line
            self._offset, self._tail, self._tail_bytes = size, [], 0
        if ended and self._tail_bytes:
            line = self._kept_line(self.offset)
            self._tail, self._tail_bytes = [], 0
            return line
        return Lines(self.offset, [], self.times)

    def is_at_end(self) -> bool:
        """Return whether every line was returned and the recording has ended."""
        ended = self.growth.has_ended()
        return ended and self._offset >= self.growth.size() and not self._tail_bytes

    def line_at(self, offset: int, length: int) -> bytes:
        """Return the bytes of a line that was returned before."""
        return os.pread(self.fd, length, offset)

    def _whole_lines(self, start: int, data: bytes) -> Lines:
        """Return the lines that `data` completes, and buffer the bytes after the last line end."""
        lines, last = split_lines(data)
        if self._tail_bytes:
            self._keep(lines[0][:-1])
            if self._tail_bytes > MOST_LINE_BYTES:
                line = self._kept_line(start)
                self._offset -= len(data) - len(
                    lines[0]
                )  # read the rest again: an oversize line has its own batch
                self._tail, self._tail_bytes = [], 0
                return line
            lines[0] = b"".join((*self._tail, b"\n"))
        self._tail, self._tail_bytes = [last], len(last)
        return Lines(start, lines, self.times)

    def _keep(self, data: bytes) -> None:
        """Buffer a piece of an incomplete line; of an oversize line only the first and last 64 KiB."""
        self._tail.append(data)
        self._tail_bytes += len(data)
        if self._tail_bytes > MOST_LINE_BYTES:
            head = tail = b""
            while len(head) < KEPT_BYTES:
                head += self._tail.pop(0)
            while self._tail and len(tail) < KEPT_BYTES:
                tail = self._tail.pop() + tail
            self._tail = [head[:KEPT_BYTES], (head[KEPT_BYTES:] + tail)[-KEPT_BYTES:]]

    def _kept_line(self, start: int) -> Lines:
        joined = b"".join(self._tail)
        if self._tail_bytes > MOST_LINE_BYTES:
            return Lines(start, [joined[:KEPT_BYTES]], self.times, joined[-KEPT_BYTES:], self._tail_bytes)
        return Lines(start, [joined], self.times)


def split_lines(data: bytes) -> tuple[list[bytes], bytes]:
    """Split bytes into whole lines and the rest after the last line end; the lines include their line ends.
    `BytesIO` finds line ends with `memchr`. `bytes.split` checks every byte and needs five times as long."""
    lines = BytesIO(data).readlines()
    return lines, b"" if data.endswith(b"\n") else lines.pop()
