"""The source that shows a session from a store."""

from __future__ import annotations

import os
from pathlib import Path

from agentwatch.recording import ArrivalTimes, LineReader
from agentwatch.sources.source import WithoutAgent
from agentwatch.sources.stores.intake import StoreIntake
from agentwatch.sources.written_files import WrittenFiles


class StoreSource(WithoutAgent):
    """A session that another program keeps in a store, which agentwatch only reads."""

    wakeup = None
    is_live = False
    outlasts_screen = False
    ended_by = None
    bookmarks_path = None

    def __init__(
        self, recording_fd: int, intake: StoreIntake, log_fd: int | None = None, path: Path | None = None
    ) -> None:
        """Create the source of a session in a store.

        Args:
            recording_fd: The descriptor of the nameless recording.
            intake: Fills the recording.
            log_fd: The descriptor of the action log; None for no log.
            path: The path of the store, or of the session in it.
        """
        self.path = path
        self.reader = LineReader(recording_fd, intake, ArrivalTimes())
        self.written = WrittenFiles(self.reader, log_fd=log_fd)
        self._intake = intake

    @property
    def fault(self) -> OSError | None:
        """Why the recording is incomplete; None while it is complete."""
        return self._intake.fault

    @property
    def faults(self) -> dict[str, OSError | None]:
        """The possible faults of the recording and the written files: a message for each, with its error."""
        return {
            "the recording is incomplete": self.fault,
            "the session cannot be read any more": self._intake.unreadable,
            **self.written.faults,
        }

    def new_faults(self) -> list[str]:
        """Return the faults that occurred since the last call, one sentence each."""
        return self.written.unreported(self.faults)

    def leave(self) -> None:
        """Stop following the store; the recording ends with what was read."""
        self._intake.stop()

    def stop(self) -> None:
        """Do nothing, because agentwatch did not start the program that writes the store."""

    def finish(self) -> None:
        """Wait until the action log is written."""
        self.written.finish()

    def close(self) -> None:
        """Stop reading the store, and remove the recording. Nothing may read the session any more."""
        self._intake.close()
        os.close(self.reader.fd)
