"""Arrival times: which byte of a recording reached us when.

On disk (`STEM.times`) a line per read, `OFFSET EPOCH_MS`: the bytes from OFFSET on reached us at
that time; `gap OFFSET BYTES` where a full disk has cost as many bytes of the stream. Lines that read
otherwise are passed over: a recording without times is still one.
"""

from __future__ import annotations

import os
import time
from array import array
from bisect import bisect_right
from pathlib import Path

_MOST_DIGITS = 19
_CLOCK = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)
"""It goes on while the machine sleeps, where there is such a clock."""
_EPOCH_NS = time.time_ns() - time.clock_gettime_ns(_CLOCK)


def now_ms() -> int:
    """Return the time in milliseconds since the epoch; within a process it never runs backwards."""
    return (_EPOCH_NS + time.clock_gettime_ns(_CLOCK)) // 1_000_000


class ArrivalTimes:
    """The arrival times of one recording, written by one thread and read by others.

    A reader may look up any byte that it could read: a time is noted before its bytes are written.
    """

    def __init__(self, fd: int | None = None) -> None:
        """Keep times, and write them to `fd` where one is given."""
        self.fault: OSError | None = None
        """Why the file of times is not complete; times are kept in memory all the same."""
        self._fd = fd
        self._offsets = array("q")
        self._epochs_ms = array("q")
        self._is_cut = False

    def note(self, offset: int, epoch_ms: int) -> None:
        """Note that the bytes from `offset` on reached us at `epoch_ms`."""
        self._epochs_ms.append(epoch_ms)
        self._offsets.append(offset)
        self._write(b"%d %d\n" % (offset, epoch_ms))

    def note_gap(self, offset: int, missing: int) -> None:
        """Write down that `missing` bytes of the stream are not in the recording, before `offset`."""
        self._write(b"gap %d %d\n" % (offset, missing))

    def at(self, offset: int) -> int | None:
        """Return when the byte at `offset` reached us, in milliseconds since the epoch."""
        if not self._offsets:
            return None
        index = bisect_right(self._offsets, offset) - 1
        return self._epochs_ms[index] if index >= 0 else None

    def _write(self, line: bytes) -> None:
        """Write a line; what a full disk has cut is spoilt, lest it reads as another number."""
        if self._fd is None:
            return
        line = b"?\n" + line if self._is_cut else line
        try:
            written = os.write(self._fd, line)
        except OSError as error:
            self.fault = error
            return
        self._is_cut = written < len(line)

    def close(self) -> None:
        """Close the file of times."""
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None


class SavedTimes(ArrivalTimes):
    """The arrival times that lie beside a saved recording, which another process may still write."""

    def __init__(self, path: Path) -> None:
        """Read the times at `path`; a file that is not there holds none."""
        super().__init__()
        self._path = path
        self._read_to = 0

    def refresh(self) -> bool:
        """Read what was added to the file since the last time; return whether there is a file."""
        try:
            with self._path.open("rb") as file:
                file.seek(self._read_to)
                added = file.read()
        except OSError:
            return False
        whole = added[: added.rfind(b"\n") + 1]
        self._read_to += len(whole)
        for line in whole.split(b"\n"):
            offset, _, epoch_ms = line.partition(b" ")
            if offset.isdigit() and epoch_ms.isdigit() and max(len(offset), len(epoch_ms)) < _MOST_DIGITS:
                self.note(int(offset), int(epoch_ms))
        return True
