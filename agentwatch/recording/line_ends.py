"""Finds the ends of lines in a recording, in either direction."""

from __future__ import annotations

import os

_PIECE = 1 << 16


def line_end_before(fd: int, offset: int) -> int:
    """Return the offset after the last line end in the first `offset` bytes; 0 without one."""
    end = offset
    while end > 0:
        start = max(end - _PIECE, 0)
        found = os.pread(fd, end - start, start).rfind(b"\n")
        if found >= 0:
            return start + found + 1
        end = start
    return 0


def line_end_after(fd: int, offset: int, end: int) -> int:
    """Return the offset after the first line end from `offset` on; `end` if there is none before it."""
    while offset < end:
        piece = os.pread(fd, min(_PIECE, end - offset), offset)
        if not piece:
            break
        found = piece.find(b"\n")
        if found >= 0:
            return offset + found + 1
        offset += len(piece)
    return end
