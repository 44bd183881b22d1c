"""Reads the lines of a recording that may still be growing, at the reader's own pace. What can be read only
once, a pipe or lines, is kept in a file without a name: a recording of it.
"""

from __future__ import annotations

import errno
import os
import stat
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from io import BytesIO, FileIO, TextIOBase
from itertools import accumulate
from pathlib import Path
from typing import BinaryIO, NamedTuple, Protocol, runtime_checkable

from agentwatch.base.clock import now_ms
from agentwatch.base.files import write_all
from agentwatch.recording.appender import READ_BYTES
from agentwatch.recording.store import nameless_file
from agentwatch.recording.times import ArrivalTimes

_READ_BYTES = 1 << 19
"""The summary of 100 MB takes 2.5 % less CPU than with half as much, and the same with twice as much."""
MOST_LINE_BYTES = 16 << 20
"""Longer lines are oversize and are not parsed whole: 16 MiB of `[],` need one second and 0.5 GB."""
KEPT_BYTES = 1 << 16
"""The bytes that are kept of each end of an oversize line."""


class Line(NamedTuple):
    offset: int
    """The place of the first byte in the recording."""
    data: bytes
    """The bytes without the line end. An oversize line has its first 64 KiB."""
    seen_ms: int | None
    """When its last byte arrived."""
    tail: bytes = b""
    """The last 64 KiB of an oversize line."""
    oversize: int = 0
    """The bytes of an oversize line; 0 for other lines."""

    @property
    def length(self) -> int:
        """The bytes that it has in the recording, without its line end."""
        return self.oversize or len(self.data)


class Lines:
    """A batch of consecutive whole lines. Iterating over it yields `Line` objects."""

    __slots__ = ("_times", "data", "offset", "oversize", "tail")

    def __init__(
        self, offset: int, data: list[bytes], times: ArrivalTimes, tail: bytes = b"", oversize: int = 0
    ) -> None:
        """`offset` is that of the first line. `data` has the lines with their line ends; an oversize line, of
        `oversize` bytes, is the only one of its batch, and `tail` its last 64 KiB."""
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
        """Return when each of some lines arrived; nothing if all arrived in one read. `offset` is that of the
        first line in `burst`, which has their line ends."""
        ends = list(accumulate(map(len, burst), initial=offset - 1))[1:]
        if not self._times.has_between(ends[0], ends[-1]):
            return []
        return [at_ms for at_ms in map(self._times.at, ends) if at_ms is not None]

    @property
    def seen_at(self) -> Callable[[int], int | None] | None:
        """Return None while no time is known at all."""
        return None if self._times.is_empty else self._times.at

    def seen_ms(self, offset: int) -> int | None:
        """Return when the byte at `offset` arrived; None if unknown."""
        return self._times.at(offset)


class Growth(Protocol):
    def size(self) -> int:
        """Return the number of bytes that may be read."""

    def has_ended(self) -> bool:
        """Return whether the recording has ended. A `size` that is read after this has returned True is
        final."""


class Until:
    """The part of a recording before `end`, which the user moves. It ends only if it `is_over`."""

    def __init__(self, end: int, *, is_over: bool = False) -> None:
        self.end = end
        self._is_over = is_over

    def size(self) -> int:
        return self.end

    def has_ended(self) -> bool:
        return self._is_over


class LineReader:
    r"""Reads lines, which only `\n` ends: as much as `growth` says, from `start` on, where a line begins."""

    def __init__(self, fd: int, growth: Growth, times: ArrivalTimes, start: int = 0) -> None:
        self.fd = fd
        self.growth = growth
        self.times = times
        self.exit_code: Callable[[], int | None] = lambda: None
        """The exit code of the process that wrote the recording; None while it runs, or if it is unknown."""
        self._offset = start
        self._tail: list[bytes] = []
        self._tail_bytes = 0

    @property
    def offset(self) -> int:
        """The place of the next line."""
        return self._offset - self._tail_bytes

    def read(self) -> Lines:
        """The next whole lines, at most 512 KiB, none if no whole line has arrived. A last line without a
        line end is held back until it arrives or the recording has ended."""
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

    def skip(self, offset: int) -> None:
        """Continue with the line at an offset."""
        self._offset, self._tail, self._tail_bytes = offset, [], 0

    def is_at_end(self) -> bool:
        ended = self.growth.has_ended()
        return ended and self._offset >= self.growth.size() and not self._tail_bytes

    def line_at(self, offset: int, length: int) -> bytes:
        return os.pread(self.fd, length, offset)

    def _whole_lines(self, start: int, data: bytes) -> Lines:
        """Buffer the bytes after the last line end."""
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
    """Split bytes into whole lines with their line ends, and the rest. `BytesIO` finds line ends with
    `memchr`; `bytes.split` checks every byte and needs five times as long."""
    lines = BytesIO(data).readlines()
    return lines, b"" if data.endswith(b"\n") else lines.pop()


MOST_STREAM_BYTES = 4 << 30
"""The bytes of a stream that are kept: one without an end must not fill the disk."""
_RETRY_SECONDS = 0.01
_WHAT_TO_DO = "name a file or a pipe"


def is_stream(path: Path) -> bool:
    """Whether a path names a pipe or the null device, whose bytes can be read only once. A socket, or a
    device that may have no end, is an OSError, and is not opened."""
    try:
        status = os.stat(path)
    except OSError:
        return False  # opening it gives the reason
    mode = status.st_mode
    if stat.S_ISSOCK(mode):
        raise OSError(errno.EINVAL, f"it is a socket: {_WHAT_TO_DO}", str(path))
    if not (stat.S_ISCHR(mode) or stat.S_ISBLK(mode)):
        return stat.S_ISFIFO(mode)
    if status.st_rdev != os.stat(os.devnull).st_rdev:
        raise OSError(errno.EINVAL, f"it is a terminal or another device: {_WHAT_TO_DO}", str(path))
    return True


class StreamGrowth:
    """The growth of a stream's copy, to which bytes are added when they are asked for."""

    def __init__(self, pieces: Iterator[bytes], pipe: FileIO | None = None, *, is_live: bool = False) -> None:
        """Take nothing yet. A pipe is closed at its end; live bytes get the time of their arrival."""
        self.fd = nameless_file()
        self.times = ArrivalTimes()
        self._pieces, self._pipe, self._is_live = pieces, pipe, is_live
        self._size = 0
        self._has_ended = False

    @classmethod
    def of_pipe(cls, path: str | os.PathLike[str] | int, *, is_live: bool = False) -> StreamGrowth:
        """A pipe, or a descriptor, is closed at the end."""
        pipe = FileIO(os.fspath(path) if isinstance(path, os.PathLike) else path)
        try:
            return cls(_pieces_of_file(pipe.read), pipe, is_live=is_live)
        except OSError:
            pipe.close()
            raise

    def size(self) -> int:
        return self._size

    def has_ended(self) -> bool:
        """Whether nothing more is taken."""
        return self._has_ended

    def reader(self) -> LineReader:
        return LineReader(self.fd, self, self.times)

    def take(self, seconds: float | None = None) -> None:
        """Wait for the next bytes, and add them to the copy. A pipe that is silent for `seconds` ends."""
        if seconds is not None and self._pipe is not None:
            from select import POLLIN, poll  # which printing a file does not need

            poller = poll()
            poller.register(self._pipe, POLLIN)
            if not poller.poll(max(seconds, 0) * 1000):
                self.stop_following()
        piece = b"" if self._has_ended else next(self._pieces, b"")
        if not piece:
            self.stop_following()
            return
        if self._size + len(piece) > MOST_STREAM_BYTES:
            reason = f"it has more than {MOST_STREAM_BYTES:,} bytes: save it in a file first"
            raise OSError(errno.EFBIG, reason)
        write_all(self.fd, piece)
        if self._is_live:
            self.times.note(self._size, now_ms())
        self._size += len(piece)

    def take_all(self) -> None:
        """Faults are those of `take`."""
        while not self._has_ended:
            self.take()

    def stop_following(self) -> None:
        self._has_ended = True
        if self._pipe is not None:
            self._pipe.close()


@runtime_checkable
class _File(Protocol):
    def read(self, size: int, /) -> bytes | None: ...


def pieces_of(stream: BinaryIO | Iterable[bytes] | Iterable[str]) -> Iterator[bytes]:
    """Lines may lack their line ends."""
    if isinstance(stream, bytes | bytearray | memoryview):
        raise TypeError("a session is a path, an open binary file or lines, not bytes")
    if isinstance(stream, _File) and not isinstance(stream, TextIOBase):
        return _pieces_of_file(getattr(stream, "read1", stream.read))
    lines: Iterable[object] = stream
    return map(_with_end, lines)


def _pieces_of_file(read: Callable[[int], bytes | None]) -> Iterator[bytes]:
    while (piece := read(READ_BYTES)) != b"":
        if piece is None:
            time.sleep(_RETRY_SECONDS)
        else:
            yield piece


def _with_end(line: object) -> bytes:
    if isinstance(line, str):
        try:
            data = line.encode("utf-8", "surrogateescape")
        except UnicodeEncodeError:  # half a pair, which an escape in JSON may be
            data = line.encode("utf-8", "surrogatepass")
    elif isinstance(line, bytes):
        data = line
    else:
        raise TypeError(f"a line is bytes or str, not {type(line).__name__}")
    return data if data.endswith(b"\n") else data + b"\n"
