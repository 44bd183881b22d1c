"""Arrival times: when each byte of a recording arrived.

The file `STEM.times` has one line per read. `OFFSET EPOCH_MS` means that the bytes from OFFSET on arrived at
that time. `gap OFFSET BYTES` means that a full disk has cost that number of bytes of the stream. Other lines
are ignored. The file is optional.
"""

from __future__ import annotations

import os
from pathlib import Path

from agentwatch.capture.times_file import TimesFile
from agentwatch.recording.store import open_regular
from agentwatch.recording.time_columns import TimeColumns

_MOST_DIGITS = 19
_READ_BYTES = 1 << 20


class ArrivalTimes:
    """The arrival times of one recording, which one thread writes and others read.

    A time is noted before its bytes are written, so a reader can look up every byte that it can read.
    """

    def __init__(self, fd: int | None = None) -> None:
        """Keep the times in memory, and also write them to `fd` unless it is None."""
        self._file = TimesFile(fd)
        self._noted = TimeColumns()

    @property
    def fault(self) -> OSError | None:
        """Why the file of arrival times is incomplete. The noted times are complete all the same."""
        return self._file.fault

    def note(self, offset: int, epoch_ms: int) -> None:
        """Record that the bytes from `offset` on arrived at `epoch_ms`."""
        self._noted.append(offset, epoch_ms)
        self._file.note(offset, epoch_ms)

    def note_gap(self, offset: int, missing: int) -> None:
        """Record that `missing` bytes of the stream before `offset` are not in the recording."""
        self._file.note_gap(offset, missing)

    @property
    def is_empty(self) -> bool:
        """Whether no time was noted yet."""
        return self._noted.is_empty

    def at(self, offset: int) -> int | None:
        """Return when the byte at `offset` arrived, in milliseconds since the epoch; None if unknown."""
        return self._noted.at(offset)

    def has_between(self, start: int, end: int) -> bool:
        """Return whether bytes after the one at `start`, up to the one at `end`, arrived in another read."""
        return self._noted.has_between(start, end)

    def close(self) -> None:
        """Close the file of times."""
        self._file.close()

    def _take(self, written: bytes) -> int:
        """Take the whole lines of a file of times, and return their number of bytes."""
        whole = written[: written.rfind(b"\n") + 1]
        for line in whole.split(b"\n"):
            offset, _, epoch_ms = line.partition(b" ")
            if offset.isdigit() and epoch_ms.isdigit() and max(len(offset), len(epoch_ms)) < _MOST_DIGITS:
                self._noted.append(int(offset), int(epoch_ms))
        return len(whole)


class WrittenTimes(ArrivalTimes):
    """The arrival times that the relay of a started agent writes."""

    def __init__(self, fd: int) -> None:
        """Read the times from the open file `fd`, which is empty."""
        super().__init__()
        self.fd = fd
        """The descriptor of the file, for the relay."""
        self._read_to = 0

    def fail(self, error: OSError) -> None:
        """Note why the file of arrival times is incomplete."""
        self._file.fault = error

    def refresh(self) -> None:
        """Read the lines added to the file since the last refresh."""
        taken = 1
        while taken:
            try:
                added = os.pread(self.fd, _READ_BYTES, self._read_to)
            except OSError as error:
                self.fail(error)
                return
            taken = self._take(added)
            self._read_to += taken


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
            fd = open_regular(self._path)
        except OSError:
            return False
        try:
            while added := os.pread(fd, _READ_BYTES, self._read_to):
                taken = self._take(added)
                if not taken and len(added) < _READ_BYTES:
                    break
                # A line that does not end within 1 MiB is not a line of times.
                self._read_to += taken or len(added)
        except OSError:
            return False
        finally:
            os.close(fd)
        return True
