"""Storage for data that is rarely read again: the newest in memory, the rest in an unlinked file."""

from __future__ import annotations

import os

_MOST_BYTES = 1 << 20
"""Bytes that stay in memory before a file is created.

With 8 MiB, the summary takes no less CPU, and a gigabyte on the screen takes 12 MB more.
"""
_PIECE_BYTES = 1 << 17
"""Bytes that stay in memory after that. A screen has three spills, and larger pieces save no CPU."""
_AHEAD_BYTES = 1 << 15
"""How much is read at once if pieces are read in their order: 32 times fewer calls than without."""


class Spill:
    """A store of bytes that only grows. Beyond 1 MiB it writes them to a file in the temporary folder.

    If the file cannot be created or the disk is full, the bytes stay in memory.
    """

    __slots__ = ("_ahead", "_fd", "_is_refused", "_last_end", "_most", "_newest", "_written")

    def __init__(self) -> None:
        self._fd: int | None = None
        self._ahead = 0, b""  # bytes that were read ahead, and their place
        self._last_end = 0  # the end of the last piece that was read
        self._is_refused = False
        self._most = _MOST_BYTES
        self._newest = bytearray()
        self._written = 0

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
        assert self._fd is not None
        at, ahead = self._ahead
        if at <= place and place + length <= at + len(ahead):
            return ahead[place - at : place - at + length]
        # Pieces are mostly read in the order in which they were written.
        more = _AHEAD_BYTES if self._last_end <= place < self._last_end + _AHEAD_BYTES else length
        self._last_end = place + length
        data = os.pread(self._fd, max(min(more, self._written - place), length), place)
        if len(data) > length:
            self._ahead = place, data
            self._last_end = place + len(data)
            data = data[:length]
        if len(data) < length:
            raise OSError(f"the temporary file has lost {length - len(data)} bytes")
        return data

    def replace(self, place: int, data: bytes) -> int:
        """Replace a piece by one of the same length, and return its place.

        If the file cannot be written, the data is appended, so that its place is another one.
        """
        if place >= self._written:
            start = place - self._written
            self._newest[start : start + len(data)] = data
            return place
        assert self._fd is not None
        self._ahead = 0, b""  # the bytes may be in it
        try:
            is_written = os.pwrite(self._fd, data, place) == len(data)
        except OSError:
            is_written = False
        return place if is_written else self.add(data)

    def _write(self) -> None:
        """Write the bytes in memory to the file. After a partial write they all stay in memory."""
        try:
            if self._fd is None:
                self._fd = _nameless_file()
            left = memoryview(self._newest)
            while left:
                left = left[os.pwrite(self._fd, left, self._written + len(self._newest) - len(left)) :]
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
