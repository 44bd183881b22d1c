"""Where what is seldom looked at again is kept: the newest in memory, the rest in a file without a name."""

from __future__ import annotations

import os

_MOST_BYTES = 1 << 20


class Spill:
    """Bytes, each piece to be had by its place; beyond a megabyte they lie in the temporary folder.

    Where that takes no file or is full, they stay in memory.
    """

    __slots__ = ("_fd", "_is_refused", "_newest", "_written")

    def __init__(self) -> None:
        self._fd: int | None = None
        self._is_refused = False
        self._newest = bytearray()
        self._written = 0

    def __del__(self) -> None:
        if self._fd is not None:
            os.close(self._fd)

    def add(self, data: bytes) -> int:
        """Keep a piece, and return its place."""
        place = self._written + len(self._newest)
        self._newest += data
        if len(self._newest) >= _MOST_BYTES and not self._is_refused:
            self._write()
        return place

    def get(self, place: int, length: int) -> bytes:
        """Return `length` bytes from a place on, all of one piece.

        Raises:
            OSError: The disk does not give back what it took.
        """
        if place >= self._written:
            start = place - self._written
            return bytes(self._newest[start : start + length])
        assert self._fd is not None
        data = os.pread(self._fd, length, place)
        if len(data) < length:
            raise OSError(f"the temporary file has lost {length - len(data)} bytes")
        return data

    def _write(self) -> None:
        """Write what is in memory; of what is written in part, nothing counts as written."""
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


def _nameless_file() -> int:
    import tempfile

    fd, name = tempfile.mkstemp(prefix="agentwatch-")
    os.unlink(name)
    return fd
