"""The pipe: what comes on stdin is appended to the recording as it comes, by a thread that waits for
nobody else."""

from __future__ import annotations

import fcntl
import math
import os
import select
import threading
import time
from contextlib import suppress

from agentwatch.recording import ArrivalTimes, LineReader, SessionFiles, Wakeup, line_start, now_ms
from agentwatch.sources.source import WithoutAgent
from agentwatch.sources.written_files import WrittenFiles

_READ_BYTES = 1 << 16
_PIPE_BYTES = 1 << 20
_RETRY_SECONDS = 5.0
_BURST_BYTES = 1 << 14
_GATHER_SECONDS = 0.001
"""After a small read what comes next is let gather: 10,000 lines a second are 1,000 reads."""


class PipeIntake:
    """Appends a pipe to a recording until the pipe ends.

    It takes no lock and calls nobody. A recording that can take no more does not stop the agent: the
    pipe is still drained, `fault` says why the recording is not complete, and every 5 s it is tried
    again, from the beginning of a line on.
    """

    def __init__(self, source_fd: int, recording_fd: int, times: ArrivalTimes) -> None:
        """Begin to read `source_fd`, the agent's end of which is enlarged to 1 MiB where it can be.

        A Node agent that exits after a burst loses what does not fit into the pipe: 64 KiB by default.
        """
        self.fault: OSError | None = None
        """Why the recording is not complete; it stays when there is room again."""
        self.wakeup = Wakeup()
        self.lost_bytes = 0
        """How many bytes of the pipe are not in the recording."""
        self._source_fd = source_fd
        self._recording_fd = recording_fd
        self._times = times
        self._size = 0
        self._has_ended = False
        self._takes = True
        self._retry_at = 0.0
        self._ends_line = True
        """Whether the last byte that was lost ended a line."""
        self._marked_bytes = 0
        """Of the lost bytes, those whose gap is written down."""
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
                if self._takes:
                    self._append(data)
                else:
                    self._try_again(data)
                self.wakeup.ring()
                if len(data) < _BURST_BYTES:
                    time.sleep(_GATHER_SECONDS)
        finally:
            self._mark_gap()
            self._has_ended = True
            self.wakeup.ring()

    def _read(self) -> bytes:
        while True:
            try:
                return os.read(self._source_fd, _READ_BYTES)
            except BlockingIOError:  # whoever made the pipe wanted it so; it has not ended
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
            is_cut = self._cut_to_whole_lines(size)
            self.fault = error
            self._takes = False
            self._retry_at = time.monotonic() + _RETRY_SECONDS if is_cut else math.inf
            self._lose(data, before + len(data) - self._size)

    def _try_again(self, data: bytes) -> None:
        """Go on recording at the next line that begins, when it is time."""
        start = 0 if self._ends_line else data.find(b"\n") + 1
        begins_line = self._ends_line or start > 0
        if not begins_line or start == len(data) or time.monotonic() < self._retry_at:
            self._lose(data, len(data))
            return
        self.lost_bytes += start
        self._mark_gap()
        self._takes = True
        self._append(data[start:])

    def _lose(self, data: bytes, count: int) -> None:
        self.lost_bytes += count
        self._ends_line = data.endswith(b"\n")

    def _mark_gap(self) -> None:
        if self.lost_bytes > self._marked_bytes:
            self._times.note_gap(self._size, self.lost_bytes - self._marked_bytes)
            self._marked_bytes = self.lost_bytes

    def _cut_to_whole_lines(self, size: int) -> bool:
        """Let the recording end where its last whole line does; return whether it does.

        Half a line would spoil the next.
        """
        try:
            end = line_start(self._recording_fd, size)
            os.ftruncate(self._recording_fd, end)
        except OSError:
            return False
        self._size = end
        return True


class PipeSource(WithoutAgent):
    """A pipe from an agent, recorded as it arrives."""

    ended_by = None

    def __init__(
        self,
        reader: LineReader,
        intake: PipeIntake,
        files: SessionFiles | None = None,
        log_fd: int | None = None,
    ) -> None:
        """Read by `reader` what `intake` records."""
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
        """Whether the pipe is still open: nobody else records it."""
        return self.is_live

    @property
    def fault(self) -> OSError | None:
        """Why the recording is incomplete; None while it is complete."""
        return self._intake.fault or self.written.fault

    @property
    def faults(self) -> dict[str, OSError | None]:
        """What can go wrong with the files that are written, in words, and why it did if it did."""
        return {"the recording is incomplete": self.fault, **self.written.faults}

    def new_faults(self) -> list[str]:
        """Return what went wrong since the last call, one sentence per fault."""
        return self.written.unreported(self.faults)

    def stop(self) -> None:
        """Stop reading the pipe."""
        self._intake.stop()

    def finish(self) -> None:
        """Wait until log and recording are written, and close the times."""
        self.written.finish(is_over=not self.is_live)
