"""The output without a process between: the recording itself is the agent's stdout (`run --direct`)."""

from __future__ import annotations

import os
import time

from agentwatch.capture.appender import truncated
from agentwatch.recording import ArrivalTimes, now_ms, release
from agentwatch.sources.started.disk_reserve import Reserve

_POLL_SECONDS = 0.01
_COMPARED_BYTES = 64
"""The bytes before the noted end that are compared, as an agent can erase the file and fill it again."""


class DirectOutput:
    """The recording and the file of stderr, written by the agent itself.

    Every 10 ms the size of the recording is read, and its growth gets the present time. An agent that opens
    /dev/stdout again can erase its recording, which is then noticed.
    """

    def __init__(self, recording_fd: int, errors_fd: int, times: ArrivalTimes) -> None:
        """Hand over the open files.

        Args:
            recording_fd: The descriptor of the recording.
            errors_fd: The descriptor of the file of stderr.
            times: The arrival times of the recording.
        """
        self.stdout_fd = recording_fd
        self.stderr_fd = errors_fd
        self.size = 0
        self.stderr_fault: OSError | None = None
        self._times = times
        self._fault: OSError | None = None
        self._reserve = Reserve(recording_fd)
        self._last: bytes | None = b""
        """The last bytes of the recording as its size was noted."""

    @property
    def fault(self) -> OSError | None:
        """Why the recording is incomplete: it was erased, or the disk and its reserve are full."""
        if self._fault is None and self._reserve.is_used_up(self.size):
            return self._reserve.fault
        return self._fault

    @property
    def reserve_fault(self) -> OSError | None:
        """Why no more disk space can be reserved ahead of the recording."""
        return self._reserve.fault

    def begin(self) -> None:
        """Do nothing: this process reads the same files."""

    def advance(self) -> bool:
        """Wait 10 ms, and return whether the recording has grown."""
        time.sleep(_POLL_SECONDS)
        return self._note_growth()

    def is_complete(self) -> bool:
        """Note the last growth; what was written is in the file already."""
        self._note_growth()
        return True

    def is_open(self) -> bool:
        """Return False: a file has no end that could be awaited."""
        return False

    def note_pause(self, group: int) -> None:
        """Do nothing: no process outlives this one and could continue the group."""

    def release(self) -> None:
        """Mark the recording as ended, and release the disk space reserved beyond its end."""
        self._reserve.release()
        release(self.stdout_fd)

    def _note_growth(self) -> bool:
        before, size = self.size, os.fstat(self.stdout_fd).st_size
        kept = self._read_before(before)
        if size < before or (kept is not None and self._last is not None and kept != self._last):
            self._fault = truncated()
        if size != before:
            self.size = size
        if size > before:
            self._times.note(before, now_ms())
            self._reserve.keep_ahead(size)
        self._last = kept if size == before else self._read_before(size)
        return size > before

    def _read_before(self, end: int) -> bytes | None:
        start = max(end - _COMPARED_BYTES, 0)
        try:
            return os.pread(self.stdout_fd, end - start, start)
        except OSError:  # a disk error is reported by the readers of the recording
            return None
