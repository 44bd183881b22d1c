"""The lines of a recording, read at the reader's own pace while it may still grow."""

from __future__ import annotations

import os
from collections.abc import Iterator
from io import BytesIO
from typing import NamedTuple, Protocol

from agentwatch.recording.times import ArrivalTimes

_READ_BYTES = 1 << 18
MOST_LINE_BYTES = 16 << 20
"""A longer line is oversize: 16 MiB of `[],` take a second and 0.5 GB to parse."""
_KEPT_BYTES = 1 << 16
"""What is kept of an oversize line at either end."""


class Line(NamedTuple):
    """One line of a recording."""

    offset: int
    """Where it begins, in bytes."""
    data: bytes
    """Its bytes, without the line end; of an oversize line the first 64 KiB."""
    seen_ms: int | None
    """When its last byte reached us, in milliseconds since the epoch."""
    tail: bytes = b""
    """The last 64 KiB of an oversize line; otherwise empty."""
    oversize: int = 0
    """How many bytes an oversize line has."""

    @property
    def length(self) -> int:
        """How many bytes the line has in the recording."""
        return self.oversize or len(self.data)


class Lines:
    """Whole lines that follow each other in a recording; iterated, they are `Line`s."""

    __slots__ = ("_times", "data", "offset", "oversize", "tail")

    def __init__(
        self, offset: int, data: list[bytes], times: ArrivalTimes, tail: bytes = b"", oversize: int = 0
    ) -> None:
        """Hold lines and their line ends, the first of them at `offset`; an oversize line stands alone."""
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

    def seen_ms(self, offset: int) -> int | None:
        """Return when the byte at `offset` of the recording reached us."""
        return self._times.at(offset)


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

    def read(self) -> Lines:
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
                return self._whole_lines(start, data)
            self._keep(data)
        if size < self._offset:  # a full disk: the recording was cut back to its last whole line
            self._offset, self._tail, self._tail_bytes = size, [], 0
        if ended and self._tail_bytes:
            line = self._kept_line(self.offset)
            self._tail, self._tail_bytes = [], 0
            return line
        return Lines(self.offset, [], self.times)

    def is_at_end(self) -> bool:
        """Return whether every line was returned and none will come."""
        ended = self.growth.has_ended()
        return ended and self._offset >= self.growth.size() and not self._tail_bytes

    def line_at(self, offset: int, length: int) -> bytes:
        """Return the bytes of a line that was returned before."""
        return os.pread(self.fd, length, offset)

    def _whole_lines(self, start: int, data: bytes) -> Lines:
        """Return the lines that these bytes end; what follows the last line end is kept."""
        lines, last = split_lines(data)
        if self._tail_bytes:
            self._keep(lines[0][:-1])
            if self._tail_bytes > MOST_LINE_BYTES:
                line = self._kept_line(start)
                self._offset -= len(data) - len(lines[0])  # read again: an oversize line stands alone
                self._tail, self._tail_bytes = [], 0
                return line
            lines[0] = b"".join((*self._tail, b"\n"))
        self._tail, self._tail_bytes = [last], len(last)
        return Lines(start, lines, self.times)

    def _keep(self, data: bytes) -> None:
        """Keep a piece of a line that has not ended; of an oversize line its two ends."""
        self._tail.append(data)
        self._tail_bytes += len(data)
        if self._tail_bytes > MOST_LINE_BYTES:
            head = tail = b""
            while len(head) < _KEPT_BYTES:
                head += self._tail.pop(0)
            while self._tail and len(tail) < _KEPT_BYTES:
                tail = self._tail.pop() + tail
            self._tail = [head[:_KEPT_BYTES], (head[_KEPT_BYTES:] + tail)[-_KEPT_BYTES:]]

    def _kept_line(self, start: int) -> Lines:
        """Return the line whose pieces were kept."""
        joined = b"".join(self._tail)
        if self._tail_bytes > MOST_LINE_BYTES:
            return Lines(start, [joined[:_KEPT_BYTES]], self.times, joined[-_KEPT_BYTES:], self._tail_bytes)
        return Lines(start, [joined], self.times)


def split_lines(data: bytes) -> tuple[list[bytes], bytes]:
    """Return the lines in some bytes, with their line ends, and what follows the last of these.

    A stream finds line ends with `memchr`; `bytes.split` looks at each byte and takes five times as long.
    """
    lines = BytesIO(data).readlines()
    return lines, b"" if data.endswith(b"\n") else lines.pop()
