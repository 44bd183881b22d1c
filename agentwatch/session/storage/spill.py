"""Storage for data that is rarely read again: the newest in memory, the rest in an unlinked file."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import NamedTuple

_MOST_BYTES = 1 << 20
"""Bytes that stay in memory before a file is created.

With 8 MiB, the summary takes no less CPU, and a gigabyte on the screen takes 12 MB more.
"""
_PIECE_BYTES = 1 << 17
"""Bytes that stay in memory after that. A screen has three spills, and larger pieces save no CPU."""


_PIECE = 1 << 20


class KeptFile:
    """An open file that holds the first bytes of several spills. It is closed when the last of them ends."""

    __slots__ = ("fd",)

    def __init__(self, fd: int) -> None:
        """Take over the descriptor of the file, whose bytes do not change any more."""
        self.fd = fd

    def __del__(self) -> None:
        os.close(self.fd)


class _Kept(NamedTuple):
    """The part of a file that holds the first bytes of a spill."""

    file: KeptFile
    start: int


class SpillCopy(NamedTuple):
    """The bytes of a spill at one time. The spill may go on growing, in another thread."""

    spill: Spill
    """Keeps the file open."""
    files: list[tuple[int, int, int]]
    """The descriptor, the first byte and the length of each part that is in a file."""
    newest: bytes

    @property
    def length(self) -> int:
        """The number of bytes."""
        return sum(length for _, _, length in self.files) + len(self.newest)

    def pieces(self) -> Iterator[bytes]:
        """Yield the bytes, at most 1 MiB at a time unless the spill could not write its file.

        Raises:
            OSError: A file cannot be read, or is shorter than what was written to it.
        """
        for fd, start, length in self.files:
            for at in range(0, length, _PIECE):
                size = min(_PIECE, length - at)
                data = os.pread(fd, size, start + at)
                if len(data) < size:
                    raise OSError(f"the temporary file has lost {size - len(data)} bytes")
                yield data
        if self.newest:
            yield self.newest


class Spill:
    """A store of bytes that only grows. Beyond 1 MiB it writes them to a file in the temporary folder.

    If the file cannot be created or the disk is full, the bytes stay in memory. The first bytes may be a part
    of another file, which is only read.
    """

    __slots__ = ("_fd", "_first", "_is_refused", "_kept", "_most", "_newest", "_written")

    def __init__(self, file: KeptFile | None = None, start: int = 0, length: int = 0) -> None:
        """Create a spill that is empty, or that begins with `length` bytes of a file at `start`."""
        self._fd: int | None = None
        self._is_refused = False
        self._most = _MOST_BYTES
        self._newest = bytearray()
        self._kept = None if file is None else _Kept(file, start)
        self._first = self._written = length

    def __del__(self) -> None:
        if self._fd is not None:
            os.close(self._fd)

    def add(self, data: bytes) -> int:
        """Append a piece, and return its place: the number of bytes before it."""
        place = self._written + len(self._newest)
        self._newest += data
        if len(self._newest) >= self._most and not self._is_refused:
            self._write()
        return place

    def get(self, place: int, length: int) -> bytes:
        """Return `length` bytes at `place`; they must all belong to one piece.

        Raises:
            OSError: The file cannot be read, or is shorter than what was written to it.
        """
        if place >= self._written:
            start = place - self._written
            return bytes(self._newest[start : start + length])
        if self._kept is not None and place < self._first:
            data = os.pread(self._kept.file.fd, length, self._kept.start + place)
        else:
            assert self._fd is not None
            data = os.pread(self._fd, length, place - self._first)
        if len(data) < length:
            raise OSError(f"the temporary file has lost {length - len(data)} bytes")
        return data

    def replace(self, place: int, data: bytes) -> int:
        """Replace a piece by one of the same length, and return its place.

        If the file cannot be written, or must not be, the data is appended, so that its place is another one.
        """
        if place >= self._written:
            start = place - self._written
            self._newest[start : start + len(data)] = data
            return place
        if place < self._first:
            return self.add(data)
        assert self._fd is not None
        try:
            is_written = os.pwrite(self._fd, data, place - self._first) == len(data)
        except OSError:
            is_written = False
        return place if is_written else self.add(data)

    def copy(self) -> SpillCopy:
        """Return the present bytes, of which those in a file are not read yet."""
        files = [] if self._kept is None else [(self._kept.file.fd, self._kept.start, self._first)]
        if self._fd is not None:
            files.append((self._fd, 0, self._written - self._first))
        return SpillCopy(self, files, bytes(self._newest))

    def _write(self) -> None:
        """Write the bytes in memory to the file. After a partial write they all stay in memory."""
        try:
            if self._fd is None:
                self._fd = _nameless_file()
            left = memoryview(self._newest)
            while left:
                place = self._written - self._first + len(self._newest) - len(left)
                left = left[os.pwrite(self._fd, left, place) :]
        except OSError:
            self._is_refused = True
            return
        self._written += len(self._newest)
        self._newest = bytearray()
        self._most = min(self._most, _PIECE_BYTES)


def _nameless_file() -> int:
    import tempfile

    fd, name = tempfile.mkstemp(prefix="agentwatch-")
    os.unlink(name)
    return fd
