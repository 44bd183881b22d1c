"""The files that agentwatch writes while it reads a recording, and what goes wrong with them."""

from __future__ import annotations

import errno
from typing import Protocol

from agentwatch.recording import DiskSync, LineReader, SessionFiles, is_at


class LogWriter(Protocol):
    """Writes the action log; it is attached from outside, since the log is decoded and a source is not."""

    fault: OSError | None
    """Why the log is incomplete."""

    def finish(self) -> None:
        """Wait until the log of an ended recording is written."""


class WrittenFiles:
    """The recording's own file if we write it, its arrival times, and its action log."""

    def __init__(
        self, reader: LineReader, files: SessionFiles | None = None, log_fd: int | None = None
    ) -> None:
        self.files = files
        """The names of the files; None if no recording is written, or only under no name."""
        self.log_fd = log_fd
        """Where the action log is to be written; None for no log."""
        self.log: LogWriter | None = None
        """What writes the action log, once it is attached."""
        self._reader = reader
        self._sync = None if files is None else DiskSync(reader.fd, reader.growth)
        self._displaced: OSError | None = None
        self._reported: set[str] = set()

    @property
    def fault(self) -> OSError | None:
        """Why the recording's file may be incomplete although all bytes were written to it."""
        return (self._sync and self._sync.fault) or self._displaced

    @property
    def faults(self) -> dict[str, OSError | None]:
        """What can go wrong beside the recording, in words, and why it did if it did."""
        return {
            "the action log is incomplete": None if self.log is None else self.log.fault,
            "the arrival times are incomplete": self._reader.times.fault,
        }

    def unreported(self, faults: dict[str, OSError | None]) -> list[str]:
        """Return the faults that were never returned before, one sentence each."""
        found = {what: why for what, why in faults.items() if why is not None and what not in self._reported}
        self._reported |= set(found)
        return [f"{what}: {why.strerror}" for what, why in found.items()]

    def finish(self, *, is_over: bool) -> None:
        """Wait for the log; if the recording is over, close its times and send it to the disk."""
        if self.log is not None:
            self.log.finish()
        if is_over:
            self._reader.times.close()
            if self._sync is not None:
                self._sync.finish()
        if self.files is not None and not is_at(self.files.recording, self._reader.fd):
            self._displaced = OSError(
                errno.ESTALE, "the file was moved, replaced or linked while it was written"
            )
