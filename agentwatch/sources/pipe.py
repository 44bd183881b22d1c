"""The source that records a pipe: a thread appends its bytes to the recording as they arrive."""

from __future__ import annotations

import os
import select
import threading
import time

from agentwatch.base.clock import now_ms
from agentwatch.recording.appender import BURST_BYTES, READ_BYTES, Appender, enlarge, is_truncated, truncated
from agentwatch.recording.lines import LineReader
from agentwatch.recording.store import SessionFiles
from agentwatch.recording.times import ArrivalTimes, Wakeup
from agentwatch.recording.write_lock import release
from agentwatch.sources.source import WithoutAgent, WrittenFiles

_GATHER_SECONDS = 0.002
"""The pause after a read below 16 KiB, so that bytes accumulate: 10,000 lines a second take 500 reads. A line
after a silence of 2 ms is read at once."""


class PipeIntake:
    """Appends a pipe to a recording until it ends. The thread acquires no locks and makes no callbacks, so
    nothing can delay it. A full disk does not stop the agent: the pipe is still drained. Only the thread ends
    the recording."""

    def __init__(self, source_fd: int, recording_fd: int, times: ArrivalTimes) -> None:
        """Enlarge the pipe's buffer if the system allows it. `recording_fd` is in append mode."""
        self.wakeup = Wakeup()
        self._source_fd = source_fd
        self._recording_fd = recording_fd
        self._appender = Appender(recording_fd, times, now_ms)
        self._fault: OSError | None = None
        self._has_ended = False
        self._stopping = Wakeup()
        self._stopping.ask()
        self._poller = select.poll()
        for fd in (source_fd, self._stopping.fd):
            self._poller.register(fd, select.POLLIN)
        enlarge(source_fd)
        threading.Thread(target=self._run, name="intake", daemon=True).start()

    @property
    def fault(self) -> OSError | None:
        """Still set after writing has resumed."""
        is_cut = is_truncated(self._recording_fd, self.size())
        if self._appender.fault is None and is_cut:  # a cut of our own is announced by a fault before
            self._fault = self._fault or truncated()
        return self._appender.fault or self._fault

    def size(self) -> int:
        return self._appender.size

    def has_ended(self) -> bool:
        """Whether all that was read is appended, and no more is read."""
        return self._has_ended

    def stop(self) -> None:
        """Ask the thread to stop reading the pipe; it then ends the recording."""
        self._stopping.ring()

    def _run(self) -> None:
        try:
            while data := self._read():
                self._appender.append(data)
                self.wakeup.ring()
                if len(data) < BURST_BYTES:
                    time.sleep(_GATHER_SECONDS)
        finally:
            self._appender.note_gap()
            self._has_ended = True
            release(self._recording_fd)
            self.wakeup.ring()

    def _read(self) -> bytes:
        while self._stopping.fd not in dict(self._poller.poll()):
            try:
                return os.read(self._source_fd, READ_BYTES)
            except BlockingIOError:  # a non-blocking pipe, whose bytes another process has read
                continue
            except OSError as error:
                self._fault = self._fault or error
                break
        return b""


class PipeSource(WithoutAgent):
    """`files` and `log_fd` are None for what is not kept, `not_kept` is why, if it should be."""

    ended_by = None

    def __init__(
        self,
        reader: LineReader,
        intake: PipeIntake,
        files: SessionFiles | None = None,
        log_fd: int | None = None,
        not_kept: OSError | None = None,
    ) -> None:
        self.reader = reader
        self.written = WrittenFiles(reader, files, log_fd)
        self.path = None if files is None else files.recording
        self.bookmarks_path = None if files is None else files.bookmarks
        self.wakeup = intake.wakeup
        self._intake = intake
        self._not_kept = not_kept

    @property
    def is_live(self) -> bool:
        return not self._intake.has_ended()

    @property
    def outlasts_screen(self) -> bool:
        return self.is_live

    @property
    def fault(self) -> OSError | None:
        return self._intake.fault or self.written.fault or self._not_kept

    @property
    def faults(self) -> dict[str, OSError | None]:
        return {
            "this session is not recorded": self._not_kept,
            "the recording is incomplete": self._intake.fault or self.written.fault,
            **self.written.faults,
        }

    def stop(self) -> None:
        """`finish` waits until the thread that reads the pipe has stopped."""
        self._intake.stop()
