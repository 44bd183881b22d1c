"""The source that records a pipe: a thread appends its bytes to the recording as they arrive."""

from __future__ import annotations

import fcntl
import math
import os
import select
import threading
import time
from contextlib import suppress

from agentwatch.recording import ArrivalTimes, LineReader, SessionFiles, Wakeup, line_start, now_ms, release
from agentwatch.sources.source import WithoutAgent
from agentwatch.sources.written_files import WrittenFiles

_READ_BYTES = 1 << 16
_PIPE_BYTES = 1 << 20
_RETRY_SECONDS = 5.0
_BURST_BYTES = 1 << 14
_GATHER_SECONDS = 0.001
"""The pause after a read below 16 KiB, so that bytes accumulate: 10,000 lines a second take 1,000 reads."""


class PipeIntake:
    """Appends a pipe to a recording until the pipe ends.

    The thread acquires no locks and makes no callbacks, so nothing can delay it. A full disk does not stop
    the agent: the pipe is still drained, `fault` is set, and writing is retried every 5 s, always at the
    start of a line.
    """

    def __init__(self, source_fd: int, recording_fd: int, times: ArrivalTimes) -> None:
        """Start the thread, and enlarge the pipe's buffer to 1 MiB if the system allows it.

        A Node agent that exits after a burst loses the bytes that do not fit into the buffer. Its default
        size is 64 KiB.

        Args:
            source_fd: The descriptor of the pipe.
            recording_fd: The descriptor of the recording, in append mode.
            times: The arrival times of the recording.
        """
        self.fault: OSError | None = None
        """Why the recording is incomplete; still set after writing has resumed."""
        self.wakeup = Wakeup()
        self.lost_bytes = 0
        """The number of bytes of the pipe that are not in the recording."""
        self._source_fd = source_fd
        self._recording_fd = recording_fd
        self._times = times
        self._size = 0
        self._has_ended = False
        self._is_recording = True
        self._retry_at = 0.0
        self._is_at_line_start = True
        """Whether the next byte of the pipe begins a line; updated only when bytes are lost."""
        self._noted_bytes = 0
        """The number of lost bytes whose gap is noted in the arrival times."""
        with suppress(OSError, AttributeError):
            fcntl.fcntl(source_fd, fcntl.F_SETPIPE_SZ, _PIPE_BYTES)
        threading.Thread(target=self._run, name="intake", daemon=True).start()

    def size(self) -> int:
        """Return the number of bytes in the recording."""
        return self._size

    def has_ended(self) -> bool:
        """Return whether the pipe has ended."""
        return self._has_ended

    def stop(self) -> None:
        """Stop reading the pipe; the recording has ended."""
        self._has_ended = True

    def _run(self) -> None:
        try:
            while (data := self._read()) and not self._has_ended:
                if self._is_recording:
                    self._append(data)
                else:
                    self._resume(data)
                self.wakeup.ring()
                if len(data) < _BURST_BYTES:
                    time.sleep(_GATHER_SECONDS)
        finally:
            self._note_gap()
            self._has_ended = True
            release(self._recording_fd)
            self.wakeup.ring()

    def _read(self) -> bytes:
        while True:
            try:
                return os.read(self._source_fd, _READ_BYTES)
            except BlockingIOError:  # the pipe was made non-blocking by its creator; it has not ended
                select.select([self._source_fd], [], [])
            except OSError as error:
                self.fault = self.fault or error
                return b""

    def _append(self, data: bytes) -> None:
        before = size = self._size
        try:
            self._times.note(size, now_ms())
            rest = data
            while rest:
                written = os.write(self._recording_fd, rest)
                size += written
                rest = rest[written:]
                self._size = size
        except OSError as error:
            is_cut = self._truncate_to_whole_lines(size)
            self.fault = error
            self._is_recording = False
            self._retry_at = time.monotonic() + _RETRY_SECONDS if is_cut else math.inf
            self._count_lost(data, before + len(data) - self._size)

    def _resume(self, data: bytes) -> None:
        """Resume recording at the next start of a line if 5 s have passed since the last attempt."""
        start = 0 if self._is_at_line_start else data.find(b"\n") + 1
        begins_line = self._is_at_line_start or start > 0
        if not begins_line or start == len(data) or time.monotonic() < self._retry_at:
            self._count_lost(data, len(data))
            return
        self.lost_bytes += start
        self._note_gap()
        self._is_recording = True
        self._append(data[start:])

    def _count_lost(self, data: bytes, count: int) -> None:
        self.lost_bytes += count
        self._is_at_line_start = data.endswith(b"\n")

    def _note_gap(self) -> None:
        if self.lost_bytes > self._noted_bytes:
            self._times.note_gap(self._size, self.lost_bytes - self._noted_bytes)
            self._noted_bytes = self.lost_bytes

    def _truncate_to_whole_lines(self, size: int) -> bool:
        """Truncate the recording after its last whole line, and return whether that succeeded.

        Half a line would be joined with the next line that is recorded.
        """
        try:
            end = line_start(self._recording_fd, size)
            os.ftruncate(self._recording_fd, end)
        except OSError:
            return False
        self._size = end
        return True


class PipeSource(WithoutAgent):
    """A pipe from an agent, recorded as its bytes arrive."""

    ended_by = None

    def __init__(
        self,
        reader: LineReader,
        intake: PipeIntake,
        files: SessionFiles | None = None,
        log_fd: int | None = None,
    ) -> None:
        """Create the source of a pipe that is being recorded.

        Args:
            reader: Reads the recording.
            intake: Records the pipe.
            files: The paths of the session's files; None if nothing is kept.
            log_fd: The descriptor of the action log; None for no log.
        """
        self.reader = reader
        self.written = WrittenFiles(reader, files, log_fd)
        self.wakeup = intake.wakeup
        self._intake = intake

    @property
    def is_live(self) -> bool:
        """Whether the pipe is still open."""
        return not self._intake.has_ended()

    @property
    def outlasts_screen(self) -> bool:
        """Whether the pipe is still open; if so, it must be recorded after the screen has been closed."""
        return self.is_live

    @property
    def fault(self) -> OSError | None:
        """Why the recording is incomplete; None while it is complete."""
        return self._intake.fault or self.written.fault

    @property
    def faults(self) -> dict[str, OSError | None]:
        """The possible faults of the written files: a message for each, with its error if it occurred."""
        return {"the recording is incomplete": self.fault, **self.written.faults}

    def new_faults(self) -> list[str]:
        """Return the faults that occurred since the last call, one sentence each."""
        return self.written.unreported(self.faults)

    def stop(self) -> None:
        """Stop reading the pipe."""
        self._intake.stop()

    def finish(self) -> None:
        """Wait until the log and the recording are written, and close the arrival times."""
        self.written.finish(is_over=not self.is_live)
