"""A saved recording as a source: complete, or still written by another program."""

from __future__ import annotations

from agentwatch.recording import LineReader, SavedGrowth
from agentwatch.sources.source import WithoutAgent
from agentwatch.sources.written_files import WrittenFiles


class FileSource(WithoutAgent):
    """A saved recording, which is read and never written."""

    wakeup = None
    is_live = False
    outlasts_screen = False
    fault = None

    def __init__(self, reader: LineReader, log_fd: int | None = None) -> None:
        self.reader = reader
        self.written = WrittenFiles(reader, log_fd=log_fd)

    @property
    def ended_by(self) -> str | None:
        """How a followed file ended before its time: it was `truncated` or `replaced`."""
        growth = self.reader.growth
        return growth.ended_by if isinstance(growth, SavedGrowth) else None

    @property
    def faults(self) -> dict[str, OSError | None]:
        """What can go wrong with the files that are written, in words, and why it did if it did."""
        return self.written.faults

    def new_faults(self) -> list[str]:
        """Return what went wrong since the last call, one sentence per fault."""
        return self.written.unreported(self.faults)

    def leave(self) -> None:
        """Stop following the file: it may grow for ever, and the end of its log would never come."""
        growth = self.reader.growth
        if isinstance(growth, SavedGrowth):
            growth.stop_following()

    def stop(self) -> None:
        """Do nothing: the file belongs to others."""

    def finish(self) -> None:
        """Wait until the action log is written."""
        self.written.finish(is_over=True)
