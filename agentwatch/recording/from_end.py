"""Finds the last lines of a file without reading what lies before them."""

from __future__ import annotations

import os
from collections.abc import Iterator

_FIRST_STEP_BYTES = 1 << 16
_STEP_BYTES = 1 << 20
"""A line is searched in a small step first: most lines are short."""


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
        start = _start_of_line(fd, end, first)
        if start == first > 0:
            return
        yield start, end - start
        end = start


def _start_of_line(fd: int, end: int, first: int) -> int:
    """Return the offset after the last line end before `end`; `first` if there is none after that offset."""
    step = _FIRST_STEP_BYTES
    while end > first:
        start = max(end - step, first)
        newline = os.pread(fd, end - start, start).rfind(b"\n")
        if newline >= 0:
            return start + newline + 1
        end, step = start, _STEP_BYTES
    return first


def _end_of_text(fd: int, end: int, first: int) -> int:
    """Return the offset after the last byte before `end` that is not blank; `first` if there is none."""
    while end > first:
        start = max(end - _FIRST_STEP_BYTES, first)
        text = os.pread(fd, end - start, start).rstrip()
        if text:
            return start + len(text)
        end = start
    return first
