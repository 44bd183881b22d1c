"""Writes the arrival times of a copy, and continues them after a break."""

from __future__ import annotations

import os
from collections.abc import Iterable

from agentwatch.engine.chunk import Pair
from agentwatch.recording import line_start

_TAIL_BYTES = 1 << 12
"""A line of times has at most 38 bytes; the last of them is among these bytes, unless all are gaps."""
_MOST_DIGITS = 16
LARGEST_MS = 253_402_300_800_000
"""The end of the year 9999: a later time is no time of day."""


class CopiedTimes:
    """The open `.times` file of a copy. Offsets increase in it, and times never decrease."""

    def __init__(self, fd: int) -> None:
        """Continue a file, which another process may have left within a line.

        Args:
            fd: The file, open for reading and in append mode.

        Raises:
            OSError: It cannot be read or cut.
        """
        self._fd = fd
        self._last = -1, 0
        size = os.fstat(fd).st_size
        whole = line_start(fd, size, max(size - _TAIL_BYTES, 0))
        if whole < size:
            os.ftruncate(fd, whole)
        start = max(whole - _TAIL_BYTES, 0)
        for line in os.pread(fd, whole - start, start).split(b"\n")[1 if start else 0 :]:
            offset, _, epoch_ms = line.partition(b" ")
            if offset.isdigit() and epoch_ms.isdigit() and max(len(offset), len(epoch_ms)) <= _MOST_DIGITS:
                self._last = int(offset), int(epoch_ms)

    def write(self, seen: Iterable[Pair], gaps: Iterable[Pair] = ()) -> None:
        """Write arrival times; those that are not in order, or no times of day, are left out.

        Args:
            seen: Offsets in the copy, and times in milliseconds since the epoch.
            gaps: Offsets in the copy, and numbers of bytes that are missing before them.

        Raises:
            OSError: They cannot be written.
        """
        lines = [b"gap %d %d\n" % gap for gap in gaps]
        last = self._last
        for offset, epoch_ms in seen:
            if offset > last[0] and max(last[1], 1) <= epoch_ms < LARGEST_MS:
                last = offset, epoch_ms
                lines.append(b"%d %d\n" % last)
        data = b"".join(lines)
        if data and os.write(self._fd, data) < len(data):
            size = os.fstat(self._fd).st_size
            os.ftruncate(self._fd, line_start(self._fd, size, max(size - _TAIL_BYTES, 0)))
        self._last = last

    def sync(self) -> None:
        """Wait until the disk has what was written.

        Raises:
            OSError: The disk cannot write it.
        """
        os.fsync(self._fd)

    def close(self) -> None:
        """Close the file."""
        os.close(self._fd)
