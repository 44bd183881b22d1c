"""Arrival times: when each byte of a recording arrived.

The file `STEM.times` has one line per read. `OFFSET EPOCH_MS` means that the bytes from OFFSET on arrived at
that time. `gap OFFSET BYTES` means that a full disk has cost that number of bytes of the stream. In a
recording of `acp`, the lines about `STEM.sent` begin with `sent`. Other lines are ignored. The file is
optional.
"""

from __future__ import annotations

import os
from array import array
from bisect import bisect_right
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from agentwatch.base.files import write_all
from agentwatch.recording.appender import TimesFile
from agentwatch.recording.store import nameless_file, open_regular

_CHUNK = 4096
"""The number of times that are written to the file at once; they take 64 KiB."""
_BYTES = 8


class TimeColumns:
    """Pairs of an offset and a time, in the order of their offsets, 16 bytes each: a stream of 350 lines a
    second has 1.3 million an hour, 20 MB in memory. One thread may append while others look up. If the file
    cannot be written, the pairs stay in memory."""

    def __init__(self) -> None:
        self._newest = array("q"), array("q")
        """The pairs after the last chunk."""
        self._firsts = array("q")
        """The first offset of each chunk in the file."""
        self._first_times = array("q")
        self._fd: int | None = None
        self._is_refused = False
        self._last_read = -1, array("q"), array("q")
        """The number of the chunk that was read last, and its columns."""

    def __del__(self) -> None:
        if self._fd is not None:
            os.close(self._fd)

    @property
    def is_empty(self) -> bool:
        return not (self._firsts or self._newest[0])

    def append(self, offset: int, epoch_ms: int) -> None:
        offsets, epochs_ms = self._newest
        epochs_ms.append(epoch_ms)  # first, because a reader finds a pair by its offset
        offsets.append(offset)
        if len(offsets) == _CHUNK and not self._is_refused:
            self._write()

    def extend(self, offsets: Sequence[int], epochs_ms: Sequence[int]) -> None:
        self._newest[1].extend(epochs_ms)
        self._newest[0].extend(offsets)
        while len(self._newest[0]) >= _CHUNK and not self._is_refused:
            self._write()

    def at(self, offset: int) -> int | None:
        """The time of the last pair whose offset is not greater; None if every offset is greater."""
        offsets, epochs_ms = self._newest
        if not offsets or offset < offsets[0]:
            number = bisect_right(self._firsts, offset) - 1
            if number < 0:
                return None
            offsets, epochs_ms = self._chunk(number)
        index = bisect_right(offsets, offset) - 1
        return epochs_ms[index] if index >= 0 else None

    def around(self, epoch_ms: float) -> tuple[tuple[int, int] | None, tuple[int, int] | None]:
        """The last pair that is not later, and the first that is; or None. The times must be in order."""
        newest = self._newest
        if not newest[1] or epoch_ms < newest[1][0]:
            number = bisect_right(self._first_times, epoch_ms)
            if number:
                found = _around(self._chunk(number - 1), epoch_ms)
                if found[1] is not None or number == len(self._firsts):
                    return found if found[1] is not None else (found[0], _first(newest))
                return found[0], _first(self._chunk(number))
            if self._firsts:
                return None, _first(self._chunk(0))
        return _around(newest, epoch_ms)

    def has_between(self, start: int, end: int) -> bool:
        """Whether a pair has an offset after `start` and not after `end`."""
        offsets, _ = self._newest
        if offsets and offsets[0] <= start:
            index = bisect_right(offsets, start)
            return index < len(offsets) and offsets[index] <= end
        return self._number(start) != self._number(end)

    def _number(self, offset: int) -> int:
        offsets, _ = self._newest
        if offsets and offset >= offsets[0]:
            return _CHUNK * len(self._firsts) + bisect_right(offsets, offset)
        number = bisect_right(self._firsts, offset) - 1
        return _CHUNK * number + bisect_right(self._chunk(number)[0], offset) if number >= 0 else 0

    def _chunk(self, number: int) -> tuple[array[int], array[int]]:
        """Return the columns of a chunk; empty ones if the file has lost it."""
        last, offsets, epochs_ms = self._last_read
        if last == number:
            return offsets, epochs_ms
        assert self._fd is not None
        size = _CHUNK * _BYTES
        try:
            data = os.pread(self._fd, 2 * size, number * 2 * size)
        except OSError:
            data = b""
        if len(data) < 2 * size:
            data = b""
        offsets, epochs_ms = array("q", data[:size]), array("q", data[size:])
        self._last_read = number, offsets, epochs_ms
        return offsets, epochs_ms

    def _write(self) -> None:
        """After a failure, these pairs and all later ones stay in memory."""
        offsets, epochs_ms = self._newest[0][:_CHUNK], self._newest[1][:_CHUNK]
        try:
            if self._fd is None:
                self._fd = nameless_file()
            write_all(self._fd, offsets.tobytes() + epochs_ms.tobytes())
        except OSError:
            self._is_refused = True
            return
        self._first_times.append(epochs_ms[0])
        self._firsts.append(offsets[0])  # first, so that a reader that finds no newest pair finds the chunk
        self._newest = self._newest[0][_CHUNK:], self._newest[1][_CHUNK:]


def _around(
    columns: tuple[array[int], array[int]], epoch_ms: float
) -> tuple[tuple[int, int] | None, tuple[int, int] | None]:
    offsets, epochs_ms = columns
    index = bisect_right(epochs_ms, epoch_ms)
    before = (offsets[index - 1], epochs_ms[index - 1]) if index else None
    return before, (offsets[index], epochs_ms[index]) if index < len(offsets) else None


def _first(columns: tuple[array[int], array[int]]) -> tuple[int, int] | None:
    offsets, epochs_ms = columns
    return (offsets[0], epochs_ms[0]) if offsets else None


_MOST_DIGITS = 19
_READ_BYTES = 1 << 20


def time_in(line: bytes) -> tuple[int, int] | None:
    """The offset and the time in a line; None if it has none."""
    offset, _, epoch_ms = line.partition(b" ")
    if offset.isdigit() and epoch_ms.isdigit() and max(len(offset), len(epoch_ms)) < _MOST_DIGITS:
        return int(offset), int(epoch_ms)
    return None


class ArrivalTimes:
    """The arrival times of one recording, which one thread writes and others read. A time is noted before its
    bytes are written, so a reader can look up every byte that it can read."""

    def __init__(self, fd: int | None = None) -> None:
        """Keep the times, and write them to `fd` unless it is None."""
        self._file = TimesFile(fd)
        self._noted = TimeColumns()

    @property
    def fault(self) -> OSError | None:
        """The noted times are complete all the same."""
        return self._file.fault

    def note(self, offset: int, epoch_ms: int) -> None:
        self._noted.append(offset, epoch_ms)
        self._file.note(offset, epoch_ms)

    def note_gap(self, offset: int, missing: int) -> None:
        self._file.note_gap(offset, missing)

    @property
    def is_empty(self) -> bool:
        return self._noted.is_empty

    def at(self, offset: int) -> int | None:
        """Return when the byte at `offset` arrived; None if unknown."""
        return self._noted.at(offset)

    def has_between(self, start: int, end: int) -> bool:
        """Whether bytes after the one at `start`, up to the one at `end`, arrived in another read."""
        return self._noted.has_between(start, end)

    def close(self) -> None:
        self._file.close()

    def _take(self, written: bytes) -> int:
        """Take the whole lines of a file of times, and return their number of bytes."""
        whole = written[: written.rfind(b"\n") + 1]
        for line in whole.split(b"\n"):
            if (pair := time_in(line)) is not None:
                self._noted.append(*pair)
        return len(whole)


class WrittenTimes(ArrivalTimes):
    """The arrival times that the relay of a started agent writes."""

    def __init__(self, fd: int) -> None:
        """`fd` is empty."""
        super().__init__()
        self.fd = fd
        """The descriptor that the relay gets."""
        self._read_to = 0

    def fail(self, error: OSError) -> None:
        self._file.fault = error

    def refresh(self) -> None:
        """Read the lines that were added."""
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

    def __init__(self, path: Path | None) -> None:
        """A missing file has no times. Without a path they are noted by whoever merges both directions."""
        super().__init__()
        self._path = path
        self._read_to = 0

    def refresh(self) -> bool:
        """Read the lines that were added; return whether the file exists."""
        if self._path is None:
            return True
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


class Wakeup:
    """A descriptor that becomes readable when a recording has grown, once per `ask`. `ring` costs nothing
    while nobody has asked, and never blocks."""

    def __init__(self) -> None:
        self.fd, self._bell_fd = os.pipe()
        os.set_blocking(self.fd, False)
        os.set_blocking(self._bell_fd, False)
        self._is_asked = False

    def ask(self) -> None:
        """Check for new bytes after this call: those that arrived before it cause no wakeup."""
        self._is_asked = True

    def hear(self) -> None:
        """Consume the wakeup, so that the descriptor is no longer readable."""
        with suppress(BlockingIOError):
            os.read(self.fd, 1)

    def ring(self) -> None:
        """Wake the reader if it has asked."""
        if self._is_asked:
            self._is_asked = False
            with suppress(OSError):
                os.write(self._bell_fd, b"!")
