"""Copies a recording without its secrets and personal data."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Callable
from typing import NamedTuple

from agentwatch.outputs.writing import write_all
from agentwatch.recording import ArrivalTimes, LineReader, nameless_file
from agentwatch.redaction.report import Report
from agentwatch.wire import Agent

Progress = Callable[[int, int], None]
"""Is called with the number of bytes that are done and with their total."""


class Complete:
    """The growth of a recording that is complete."""

    def __init__(self, size: int) -> None:
        self._size = size

    def size(self) -> int:
        """Return the number of bytes that may be read."""
        return self._size

    def has_ended(self) -> bool:
        """Return True."""
        return True


class Redacted(NamedTuple):
    """A redacted recording."""

    reader: LineReader
    """Reads it. It has the same lines as the recording, with their arrival times."""
    report: Report
    before: array[int]
    """The offset of the end of each line in the recording."""
    after: array[int]
    """The offset of the end of the same line in the redacted recording."""

    def offset_of(self, offset: int) -> int:
        """Return the place that a line end of the recording has in the redacted recording."""
        if offset <= 0 or not self.before:
            return 0
        return self.after[min(bisect_left(self.before, offset), len(self.after) - 1)]


def redacted(reader: LineReader, _agent: Agent | None = None, progress: Progress | None = None) -> Redacted:
    """Return a copy of a complete recording without its secrets and personal data.

    Args:
        reader: Reads the recording from its start.
        _agent: The agent that wrote it; None to detect it.
        progress: Is called now and then.

    Raises:
        OSError: The copy cannot be written.
    """
    fd, times, report = nameless_file(), ArrivalTimes(), Report()
    before, after, size, seen_ms = array("Q"), array("Q"), 0, None
    while lines := reader.read():
        for line in lines:
            data = reader.line_at(line.offset, line.length) + b"\n"
            if line.seen_ms is not None and line.seen_ms != seen_ms:
                seen_ms = line.seen_ms
                times.note(size, seen_ms)
            write_all(fd, data)
            size += len(data)
            before.append(line.offset + line.length + 1)
            after.append(size)
        if progress is not None:
            progress(reader.offset, reader.growth.size())
    return Redacted(LineReader(fd, Complete(size), times), report, before, after)
