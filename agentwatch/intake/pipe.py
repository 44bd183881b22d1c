"""The pipe: what comes on stdin is appended to the recording as it comes, by a thread that waits for
nobody else."""

from __future__ import annotations

import fcntl
import os
import threading
from contextlib import suppress

from agentwatch.recording import ArrivalTimes, now_ms

_READ_BYTES = 1 << 16
_PIPE_BYTES = 1 << 20


class PipeIntake:
    """Appends a pipe to a recording until the pipe ends.

    It takes no lock and calls nobody. A recording that can take no more does not stop the agent: the
    pipe is still drained, and `fault` says why the recording is not complete.
    """

    def __init__(self, source_fd: int, recording_fd: int, times: ArrivalTimes) -> None:
        """Begin to read `source_fd`, the agent's end of which is enlarged to 1 MiB where it can be.

        A Node agent that exits after a burst loses what does not fit into the pipe: 64 KiB by default.
        """
        self.fault: OSError | None = None
        self._source_fd = source_fd
        self._recording_fd = recording_fd
        self._times = times
        self._size = 0
        self._has_ended = False
        with suppress(OSError, AttributeError):
            fcntl.fcntl(source_fd, fcntl.F_SETPIPE_SZ, _PIPE_BYTES)
        threading.Thread(target=self._run, name="intake", daemon=True).start()

    def size(self) -> int:
        """Return how many bytes are in the recording."""
        return self._size

    def has_ended(self) -> bool:
        """Return whether the pipe has ended."""
        return self._has_ended

    def stop(self) -> None:
        """Take no more: the recording ends here."""
        self._has_ended = True

    def _run(self) -> None:
        try:
            while (data := self._read()) and not self._has_ended:
                if self.fault is None:
                    self._append(data)
        finally:
            self._has_ended = True

    def _read(self) -> bytes:
        try:
            return os.read(self._source_fd, _READ_BYTES)
        except OSError:
            return b""

    def _append(self, data: bytes) -> None:
        size = self._size
        try:
            self._times.note(size, now_ms())
            rest = data
            while rest:
                written = os.write(self._recording_fd, rest)
                size += written
                rest = rest[written:]
                self._size = size
        except OSError as error:
            self._cut_to_whole_lines(size)
            self.fault = error

    def _cut_to_whole_lines(self, size: int) -> None:
        """Let the recording end where its last whole line does: half a line would spoil the next."""
        end = size
        while end:
            start = max(end - _READ_BYTES, 0)
            newline = os.pread(self._recording_fd, end - start, start).rfind(b"\n")
            if newline >= 0:
                end = start + newline + 1
                break
            end = start
        with suppress(OSError):
            os.ftruncate(self._recording_fd, end)
            self._size = end
