"""The source that reads a saved recording, which is complete or still being written by another program."""

from __future__ import annotations

from agentwatch.recording import LineReader, SavedGrowth
from agentwatch.sources.source import WithoutAgent
from agentwatch.sources.written_files import WrittenFiles


class FileSource(WithoutAgent):
    """A saved recording, which agentwatch only reads."""

    wakeup = None
    is_live = False
    outlasts_screen = False
    fault = None

    def __init__(self, reader: LineReader, log_fd: int | None = None) -> None:
        self.reader = reader
        self.written = WrittenFiles(reader, log_fd=log_fd)

    @property
    def ended_by(self) -> str | None:
        """How following the file ended: it was `truncated` or `replaced`; None otherwise."""
        growth = self.reader.growth
        return growth.ended_by if isinstance(growth, SavedGrowth) else None

    @property
    def faults(self) -> dict[str, OSError | None]:
        """The possible faults of the written files: a message for each, with its error if it occurred."""
        return self.written.faults

    def new_faults(self) -> list[str]:
        """Return the faults that occurred since the last call, one sentence each."""
        return self.written.unreported(self.faults)

    def leave(self) -> None:
        """Stop following the file; it may grow forever, and its action log would never be complete."""
        growth = self.reader.growth
        if isinstance(growth, SavedGrowth):
            growth.stop_following()

    def stop(self) -> None:
        """Do nothing, because agentwatch did not start the program that writes the file."""

    def finish(self) -> None:
        """Wait until the action log is written."""
        self.written.finish(is_over=True)
