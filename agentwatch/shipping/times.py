"""Reads the file of arrival times ahead of the bytes that are shipped; `recording.times` has its format."""

from __future__ import annotations

import os
from collections import deque
from pathlib import Path
from typing import NamedTuple

from agentwatch.engine.chunk import Pair
from agentwatch.engine.limits import HEADER_BYTES, LARGEST_NUMBER, SEEN_PER_CHUNK
from agentwatch.recording import open_regular

_READ_BYTES = 1 << 16
_MOST_AHEAD = 4 * SEEN_PER_CHUNK
"""Lines that are read ahead. A chunk has at most 512."""
_OTHER_HEADERS = 512
"""What the headers of a chunk take beside the times."""
_MOST_DIGITS = 16


class Noted(NamedTuple):
    """The arrival times and gaps of a chunk."""

    end: int
    """Where the chunk must end, so that they fit into its headers."""
    seen: tuple[Pair, ...] = ()
    gaps: tuple[Pair, ...] = ()


class TimesAhead:
    """The lines of a file of arrival times that are not shipped yet, in the order of their offsets.

    Without such a file, there are none. A line that is not in this order is foreign; the later one counts.
    """

    def __init__(self, path: Path) -> None:
        """Read the times of a recording when they are asked for.

        Args:
            path: The file, to which another process may still write.
        """
        self._path = path
        self._ahead: deque[tuple[int, int, bool]] = deque()
        """The offset, the time or the number of bytes, and whether it is a gap."""
        self._done = 0
        self._read_to = 0

    def start_at(self, offset: int) -> None:
        """Begin with the lines of an offset; those before it are shipped."""
        if offset < self._done:
            self._ahead.clear()
            self._read_to = 0
        self._done = offset
        while self._ahead and self._ahead[0][0] < offset:
            self._ahead.popleft()

    def within(self, end: int, *, is_last: bool = False) -> Noted:
        """Return the lines from the present offset up to `end`, or up to as many as headers can hold.

        Args:
            end: Where the chunk shall end.
            is_last: The recording ends there, so a gap at its end belongs to the chunk too.
        """
        self._read(end)
        seen: dict[int, int] = {}
        gaps: dict[int, int] = {}
        room = HEADER_BYTES - _OTHER_HEADERS
        for offset, number, is_gap in self._ahead:
            if offset > end or (offset == end and not (is_last and is_gap)):
                break
            room -= len(f"{offset} {number};")
            if room < 0 or len(seen) + len(gaps) >= SEEN_PER_CHUNK:
                end = max(offset, self._done + 1)
                break
            (gaps if is_gap else seen)[offset] = number
        return Noted(end, tuple(seen.items()), tuple(gaps.items()))

    def _read(self, end: int) -> None:
        """Read until a line belongs to a later chunk, or enough lines for this one are known."""
        if self._has_enough(end):
            return
        try:
            fd = open_regular(self._path)
        except OSError:
            return
        try:
            while not self._has_enough(end) and (added := os.pread(fd, _READ_BYTES, self._read_to)):
                whole = added[: added.rfind(b"\n") + 1]
                if not whole and len(added) < _READ_BYTES:
                    break
                self._read_to += len(whole or added)  # what has no end within 64 KiB is no line of times
                for line in whole.split(b"\n"):
                    self._take(line)
        except OSError:
            return
        finally:
            os.close(fd)

    def _has_enough(self, end: int) -> bool:
        ahead = self._ahead
        return bool(ahead) and (ahead[-1][0] > end or len(ahead) >= _MOST_AHEAD)

    def _take(self, line: bytes) -> None:
        is_gap = line.startswith(b"gap ")
        first, _, second = line.removeprefix(b"gap ").partition(b" ")
        if not (_is_number(first) and _is_number(second)):
            return
        offset, number = int(first), int(second)
        if offset < self._done or max(offset, number) >= LARGEST_NUMBER:
            return
        while self._ahead and (
            self._ahead[-1][0] > offset or (self._ahead[-1][0] == offset and self._ahead[-1][2] == is_gap)
        ):
            self._ahead.pop()
        self._ahead.append((offset, number, is_gap))


def _is_number(digits: bytes) -> bool:
    return digits.isdigit() and len(digits) <= _MOST_DIGITS
