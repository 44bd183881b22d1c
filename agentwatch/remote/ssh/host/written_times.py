"""The arrival times of a recording as its writer notes them, in order and within bounds."""

from __future__ import annotations

import os
from pathlib import Path

from agentwatch.engine.chunk import Pair
from agentwatch.engine.limits import SEEN_PER_CHUNK
from agentwatch.recording import open_regular

_READ_BYTES = 1 << 16
_MOST_DIGITS = 16


class NewTimes:
    """Reads a file of times line by line, as far as the bytes need it."""

    def __init__(self, path: Path, start: int) -> None:
        """Open the file; a missing file means that there are no times.

        Args:
            path: The file `STEM.times`.
            start: Lines about bytes before this offset are passed over.
        """
        self._start = start
        self._held = b""
        self._at = 0
        self._next: tuple[bool, Pair] | None = None
        try:
            self._fd: int | None = open_regular(path)
        except OSError:
            self._fd = None

    @property
    def is_there(self) -> bool:
        """Whether there is a file of times."""
        return self._fd is not None

    def take(self, end: int) -> tuple[tuple[Pair, ...], tuple[Pair, ...], int]:
        """Return the times and the gaps of the bytes before an offset that no earlier call has returned.

        Args:
            end: The offset.

        Returns:
            The times, the gaps, and the offset up to which they reach: that of the next line if a chunk can
            hold no more of them, and `end` otherwise.
        """
        seen: list[Pair] = []
        gaps: list[Pair] = []
        while (found := self._peek()) is not None and found[1][0] < end:
            is_gap, pair = found
            if pair[0] >= self._start:
                if len(seen) + len(gaps) >= SEEN_PER_CHUNK and pair[0] > seen[-1][0]:
                    return tuple(seen), tuple(gaps), pair[0]
                (gaps if is_gap else seen).append(pair)
            self._next = None
        return tuple(seen[:SEEN_PER_CHUNK]), tuple(gaps[:SEEN_PER_CHUNK]), end

    def close(self) -> None:
        """Close the file."""
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None

    def _peek(self) -> tuple[bool, Pair] | None:
        """Return the next line, without taking it; None if no whole line is there."""
        while self._next is None:
            line, end, rest = self._held.partition(b"\n")
            if not end:
                if not self._read():
                    return None
                continue
            self._held = rest
            self._next = _parsed(line)
        return self._next

    def _read(self) -> bool:
        if self._fd is None:
            return False
        try:
            data = os.pread(self._fd, _READ_BYTES, self._at)
        except OSError:
            data = b""
        self._at += len(data)
        held = self._held + data
        self._held = held if len(held) <= 2 * _READ_BYTES else b"?"  # a line that does not end is no time
        return bool(data)


def _parsed(line: bytes) -> tuple[bool, Pair] | None:
    is_gap = line.startswith(b"gap ")
    first, _, second = line.removeprefix(b"gap ").partition(b" ")
    if not (first.isdigit() and second.isdigit() and max(len(first), len(second)) < _MOST_DIGITS):
        return None
    return is_gap, (int(first), int(second))
