"""Finds the last lines of a file without reading what lies before them."""

from __future__ import annotations

import os
from collections.abc import Iterator

from agentwatch.capture.appender import line_start

_STEP_BYTES = 1 << 16


def lines_from_end(fd: int, most_bytes: int) -> Iterator[tuple[int, int]]:
    """Yield the offset and the length in bytes of each line that is not blank, the last line first.

    Args:
        fd: The file.
        most_bytes: The number of bytes to search, counted from the end of the file; a line that began before
            them is left out.

    Raises:
        OSError: The file cannot be read.
    """
    end = os.fstat(fd).st_size
    first = max(end - most_bytes, 0)
    while (end := _end_of_text(fd, end, first)) > first:
        start = line_start(fd, end, first)
        if start == first > 0:
            return
        yield start, end - start
        end = start


def _end_of_text(fd: int, end: int, first: int) -> int:
    """Return the offset after the last byte before `end` that is not blank, or `first` if all are blank."""
    while end > first:
        start = max(end - _STEP_BYTES, first)
        text = os.pread(fd, end - start, start).rstrip()
        if text:
            return start + len(text)
        end = start
    return first
