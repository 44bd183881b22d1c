"""Arrival times: when each byte of a recording arrived.

The file `STEM.times` has one line per read. `OFFSET EPOCH_MS` means that the bytes from OFFSET on arrived at
that time. `gap OFFSET BYTES` means that a full disk has cost that number of bytes of the stream. Other lines
are ignored. The file is optional.
"""

from __future__ import annotations

import os
import time
from pathlib import Path

from agentwatch.recording.time_columns import TimeColumns

_MOST_DIGITS = 19
_CLOCK = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)
"""CLOCK_BOOTTIME, where the system has it, also counts the time in which the machine is suspended."""
_EPOCH_NS = time.time_ns() - time.clock_gettime_ns(_CLOCK)


def now_ms() -> int:
    """Return the time in milliseconds since the epoch; within a process it never goes backwards."""
    return (_EPOCH_NS + time.clock_gettime_ns(_CLOCK)) // 1_000_000


class ArrivalTimes:
    """The arrival times of one recording, which one thread writes and others read.

    A time is noted before its bytes are written, so a reader can look up every byte that it can read.
    """

    def __init__(self, fd: int | None = None) -> None:
        """Keep the times in memory, and also write them to `fd` unless it is None."""
        self.fault: OSError | None = None
        """Why the file of arrival times is incomplete. The times in memory are complete all the same."""
        self._fd = fd
        self._noted = TimeColumns()
        self._is_cut = False

    def note(self, offset: int, epoch_ms: int) -> None:
        """Record that the bytes from `offset` on arrived at `epoch_ms`."""
        self._noted.append(offset, epoch_ms)
        self._write(b"%d %d\n" % (offset, epoch_ms))

    def note_gap(self, offset: int, missing: int) -> None:
        """Record that `missing` bytes of the stream before `offset` are not in the recording."""
        self._write(b"gap %d %d\n" % (offset, missing))

    def at(self, offset: int) -> int | None:
        """Return when the byte at `offset` arrived, in milliseconds since the epoch; None if unknown."""
        return self._noted.at(offset)

    def _write(self, line: bytes) -> None:
        """Write a line.

        A line that a full disk has cut short is made invalid, because its digits could be read as another
        number.
        """
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
    """The arrival times beside a saved recording. Another process may still be writing them."""

    def __init__(self, path: Path) -> None:
        """Read the times from `path`; a missing file means that there are no times."""
        super().__init__()
        self._path = path
        self._read_to = 0

    def refresh(self) -> bool:
        """Read the lines added to the file since the last refresh; return whether the file exists."""
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
