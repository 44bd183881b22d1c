"""Appends a stream and its arrival times to files, in whole lines when the disk was full."""

from __future__ import annotations

import errno
import fcntl
import os
import stat
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Protocol

    class Times(Protocol):
        def note(self, offset: int, epoch_ms: int) -> None:
            """Record that the bytes from `offset` on arrived at `epoch_ms`."""

        def note_gap(self, offset: int, missing: int) -> None:
            """Record that `missing` bytes of the stream before `offset` are not in the recording."""


RETRY_SECONDS = 5.0
_NEVER = float("inf")
_FIRST_STEP_BYTES = 1 << 12
"""Most lines are shorter. Reading 4 KiB takes 1 µs; 64 KiB take 12 µs."""
_STEP_BYTES = 1 << 16


class Appender:
    """Appends a stream to a file that nobody else writes. A full disk does not stop it: `fault` is set, the
    file is cut after its last whole line, and writing is tried again every 5 s, always at the start of a
    line."""

    def __init__(
        self,
        fd: int,
        times: Times | None,
        now_ms: Callable[[], int],
        announce: Callable[[OSError], None] = lambda _fault: None,
        *,
        continues: bool = False,
    ) -> None:
        """Append to `fd`, which is in append mode. `times` takes the arrival time of each piece. `announce`
        is called with each fault before the file is cut. If it `continues`, another process has begun the
        stream, and may have ended in a line."""
        self.fault: OSError | None = None
        """Still set after writing has resumed."""
        self.lost_bytes = 0
        """The bytes of the stream that are not in the file."""
        self.size = os.fstat(fd).st_size if continues else 0
        self._fd = fd
        self._times = times
        self._now_ms = now_ms
        self._announce = announce
        self._is_writing = True
        self._retry_at = 0.0
        self._is_at_line_start = True
        self._noted_bytes = 0
        """The lost bytes whose gap is noted in the arrival times."""
        if continues:
            self._is_at_line_start = self._is_writing = False
            self._retry_at = 0.0 if self._cut(self.size) else _NEVER

    def append(self, data: bytes) -> None:
        """Append the next bytes of the stream, or count them as lost."""
        self._check_size()
        if self._is_writing:
            self._write(data)
        else:
            self._resume(data)
        self._is_at_line_start = data.endswith(b"\n")

    def note_gap(self) -> None:
        """Note in the arrival times how many bytes were lost before the next byte."""
        if self._times is not None and self.lost_bytes > self._noted_bytes:
            self._times.note_gap(self.size, self.lost_bytes - self._noted_bytes)
        self._noted_bytes = self.lost_bytes

    def skip(self, missing: int) -> None:
        """Continue at the next start of a line after `missing` bytes that were not received; 0 if none are
        missing after the end of the file."""
        before = self.size
        self._is_writing = False
        self._retry_at = 0.0 if self._cut(before) else _NEVER
        missing += before - self.size
        self.lost_bytes += missing
        self._is_at_line_start = not missing

    def _write(self, data: bytes) -> None:
        before = size = self.size
        try:
            if self._times is not None:
                self._times.note(size, self._now_ms())
            rest = data
            while rest:
                written = os.write(self._fd, rest)
                size += written
                rest = rest[written:]
                self.size = size
        except OSError as error:
            self._fail(error, retry_at=time.monotonic() + RETRY_SECONDS)
            self.lost_bytes += before + len(data) - self.size

    def _resume(self, data: bytes) -> None:
        """Resume writing at the next start of a line if it is time for another attempt."""
        start = 0 if self._is_at_line_start else data.find(b"\n") + 1
        begins_line = self._is_at_line_start or start > 0
        if not begins_line or start == len(data) or time.monotonic() < self._retry_at:
            self.lost_bytes += len(data)
            return
        self.lost_bytes += start
        self.note_gap()
        self._is_writing = True
        self._write(data[start:])

    def _check_size(self) -> None:
        """Notice that another process has changed the file, and continue at its present end."""
        try:
            size = os.fstat(self._fd).st_size
        except OSError:
            return
        if size < self.size:
            expected, self.size = self.size, size
            self._fail(truncated(), retry_at=0.0)
            self.lost_bytes += expected - self.size
        elif size > self.size:
            self.size = size
            self._report(OSError(errno.ESTALE, "another process has written into the file"))

    def _fail(self, error: OSError, retry_at: float) -> None:
        self._is_writing = False
        self._report(error)
        self._retry_at = retry_at if self._cut(self.size) else _NEVER

    def _report(self, error: OSError) -> None:
        self.fault = error
        self._announce(error)

    def _cut(self, size: int) -> bool:
        """Truncate the file after its last whole line, which half a line would join; return whether that
        succeeded. `size` is changed first, so that a reader never finds the file smaller."""
        try:
            self.size = line_start(self._fd, size)
            os.ftruncate(self._fd, self.size)
        except OSError:
            self.size = size
            return False
        return True


def truncated() -> OSError:
    """The fault of a file that has become smaller than what was written to it."""
    return OSError(errno.ESTALE, "another process has truncated the file")


def is_truncated(fd: int, size: int) -> bool:
    try:
        return os.fstat(fd).st_size < size
    except OSError:
        return False


def line_start(fd: int, end: int, first: int = 0) -> int:
    """The offset after the last line end before `end`; without one, `first`."""
    step = _FIRST_STEP_BYTES
    while end > first:
        start = max(end - step, first)
        newline = os.pread(fd, end - start, start).rfind(b"\n")
        if newline >= 0:
            return start + newline + 1
        end, step = start, _STEP_BYTES
    return first


def is_cut(fd: int) -> bool:
    """Whether a full disk or a kill has cut the last line of an open file, or it cannot be known."""
    try:
        size = os.fstat(fd).st_size
        return size > 0 and os.pread(fd, 1, size - 1) != b"\n"
    except OSError:
        return True


def append_line(fd: int, line: bytes) -> None:
    """Add a line end first if the last line lacks one. What a full disk leaves of the line is taken back:
    without its end it could be read as one that was written."""
    before, data = os.fstat(fd).st_size, b"\n" + line if is_cut(fd) else line
    if (written := os.write(fd, data)) < len(data):
        if os.fstat(fd).st_size == before + written:
            os.ftruncate(fd, before)
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


_APPEND = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_NONBLOCK  # opening a FIFO would wait for a reader
_APPEND |= getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)


def append_own_line(path: str, line: bytes) -> None:
    """The file, which only the user may read, is created if necessary. A link, a file with another name
    too, or one of another user is refused."""
    fd = os.open(path, _APPEND, 0o600)
    try:
        status = os.fstat(fd)
        if not stat.S_ISREG(status.st_mode) or status.st_nlink != 1 or status.st_uid != os.geteuid():
            raise PermissionError(errno.EPERM, "it is not a file of this user alone", path)
        append_line(fd, line)
    finally:
        os.close(fd)


PIPE_BYTES = 1 << 20
READ_BYTES = 1 << 16
BURST_BYTES = 1 << 14
"""After a read below 16 KiB, a reader pauses so that bytes accumulate: fewer reads, fewer arrival times."""


def enlarge(fd: int) -> None:
    """Enlarge a pipe's buffer from 64 KiB to 1 MiB: a Node agent that exits after a burst loses the bytes
    that do not fit. Only Linux has F_SETPIPE_SZ, and refuses it to a user who has 64 MiB of pipes."""
    if hasattr(fcntl, "F_SETPIPE_SZ"):
        try:
            fcntl.fcntl(fd, fcntl.F_SETPIPE_SZ, PIPE_BYTES)
        except OSError:
            return


class TimesFile:
    def __init__(self, fd: int | None) -> None:
        """Append to `fd`; nothing is written if it is None."""
        self.fault: OSError | None = None
        self._fd = fd
        self._is_cut = fd is not None and is_cut(fd)

    def note(self, offset: int, epoch_ms: int) -> None:
        self.write(b"%d %d\n" % (offset, epoch_ms))

    def note_gap(self, offset: int, missing: int) -> None:
        self.write(b"gap %d %d\n" % (offset, missing))

    def close(self) -> None:
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None

    def write(self, line: bytes) -> None:
        """A line that a full disk has cut short is made invalid: its digits could read as another number."""
        if self._fd is None:
            return
        line = b"?\n" + line if self._is_cut else line
        try:
            written = os.write(self._fd, line)
        except OSError as error:
            self.fault = error
            return
        self._is_cut = written < len(line)
