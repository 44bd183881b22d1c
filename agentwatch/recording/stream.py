"""Keeps what can be read only once, a pipe or lines, in a file without a name: a recording of it."""

from __future__ import annotations

import errno
import os
import stat
import time
from collections.abc import Callable, Iterable, Iterator
from io import FileIO, TextIOBase
from pathlib import Path
from typing import BinaryIO, Protocol, runtime_checkable

from agentwatch.base.clock import now_ms
from agentwatch.base.files import write_all
from agentwatch.recording.appender import READ_BYTES
from agentwatch.recording.lines import LineReader
from agentwatch.recording.store import nameless_file
from agentwatch.recording.times import ArrivalTimes

MOST_STREAM_BYTES = 4 << 30
"""The bytes of a stream that are kept: one without an end must not fill the disk."""
_RETRY_SECONDS = 0.01
"""The polling interval for a non-blocking pipe, which another process may have made so."""
_WHAT_TO_DO = "name a file or a pipe"


def is_stream(path: Path) -> bool:
    """Return whether a path names a pipe or the null device, whose bytes can be read only once. A socket, or
    a device that may have no end, is an OSError, and is not opened."""
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
        """Return the growth of a pipe, or of a descriptor, which is closed at the end."""
        pipe = FileIO(os.fspath(path) if isinstance(path, os.PathLike) else path)
        try:
            return cls(_pieces_of_file(pipe.read), pipe, is_live=is_live)
        except OSError:
            pipe.close()
            raise

    def size(self) -> int:
        """Return the number of bytes that were taken."""
        return self._size

    def has_ended(self) -> bool:
        """Return whether nothing more is taken."""
        return self._has_ended

    def reader(self) -> LineReader:
        """Return a reader of the copy."""
        return LineReader(self.fd, self, self.times)

    def take(self, seconds: float | None = None) -> None:
        """Wait for the next bytes of the stream, and add them to the copy. A pipe that is silent for
        `seconds` has ended; None waits without a limit."""
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
        """Take the stream to its end. Faults are those of `take`."""
        while not self._has_ended:
            self.take()

    def stop_following(self) -> None:
        """Take nothing more, and close the pipe."""
        self._has_ended = True
        if self._pipe is not None:
            self._pipe.close()


@runtime_checkable
class _File(Protocol):
    def read(self, size: int, /) -> bytes | None: ...


def pieces_of(stream: BinaryIO | Iterable[bytes] | Iterable[str]) -> Iterator[bytes]:
    """Return the bytes of an open binary file, or of lines, which may lack their line ends."""
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
