"""Reads the head and the tail of a large recording, which are shown while the middle is still being read."""

from __future__ import annotations

import os
from collections.abc import Callable
from itertools import takewhile

from agentwatch.capture.appender import line_start
from agentwatch.recording.lines import MOST_LINE_BYTES, LineReader, Lines, split_lines

_HEAD_BYTES = 1 << 16
_TAIL_BYTES = 1 << 18
_BOM = b"\xef\xbb\xbf"
_ITEM_STARTS = (b"{", b"[", b'"', b"-", *(b"%d" % digit for digit in range(10)))


def first_lines(fd: int, most_bytes: int) -> list[bytes]:
    """Return the whole lines in the first bytes of a file, with their line ends.

    Args:
        fd: The file.
        most_bytes: The number of bytes to read; a line that does not end within them is left out.

    Raises:
        OSError: The file cannot be read.
    """
    data = os.pread(fd, most_bytes, 0)
    return split_lines(data)[0] if data else []


def is_one_document(fd: int) -> bool:
    """Return whether a file begins like one JSON document over many lines, as `jq` or an editor writes it.

    Its first line is only `{` or `[`, and its second line is the beginning of a member or an item. The event
    of an agent is an object on one line.

    Args:
        fd: The file. One that cannot be read at an offset is no document.
    """
    try:
        lines = (line.removeprefix(_BOM).strip() for line in first_lines(fd, _HEAD_BYTES))
    except OSError:
        return False
    present = filter(None, lines)
    opening, following = next(present, b""), next(present, b"")
    if opening == b"{":
        return following.startswith(b'"')
    return opening == b"[" and following[:1] in _ITEM_STARTS and not following.endswith(b"}")


def last_lines(fd: int, most_bytes: int) -> list[bytes]:
    """Return the lines in the last bytes of a file, without their line ends.

    Args:
        fd: The file.
        most_bytes: The number of bytes to read; the first line may have begun before them.

    Raises:
        OSError: The file cannot be read.
    """
    start = max(os.fstat(fd).st_size - most_bytes, 0)
    return os.pread(fd, most_bytes, start).split(b"\n")


class HeadTailReader:
    """Reads the first and the last lines of a recording, and skips the lines between them.

    The head consists of the lines that begin the run. The tail is 256 KiB and starts with a tool call if it
    contains one. Otherwise it could start in the middle of a text segment, and the flush that repeats the
    whole segment would be taken for new text.
    """

    def __init__(
        self, reader: LineReader, starts_run: Callable[[bytes], bool], is_call: Callable[[bytes], bool]
    ) -> None:
        """Read the recording of `reader`, whose own position stays unchanged.

        Args:
            reader: The reader of the whole recording.
            starts_run: Whether a line belongs to the start of a run.
            is_call: Whether a line belongs to a tool call.
        """
        self._starts_run = starts_run
        self._is_call = is_call
        self.fd = reader.fd
        self.growth = reader.growth
        self._size = reader.growth.size()
        self._times = reader.times
        self._pending = [self._head(), *self._tail()]

    def read(self) -> Lines:
        """Return the next lines, or no lines after the last."""
        return self._pending.pop(0) if self._pending else Lines(self._size, [], self._times)

    def is_at_end(self) -> bool:
        """Return whether all lines of the head and the tail were returned, and the recording has ended."""
        return not self._pending and self.growth.has_ended()

    def line_at(self, offset: int, length: int) -> bytes:
        """Return the bytes of a line that was returned before."""
        return os.pread(self.fd, length, offset)

    def _head(self) -> Lines:
        first, *others = first_lines(self.fd, _HEAD_BYTES) or [b""]
        return Lines(0, [first, *takewhile(self._starts_run, others)], self._times)

    def _tail(self) -> list[Lines]:
        """Return the last lines, an oversize line by itself.

        The very last line may be a large result. It does not count towards the 256 KiB.
        """
        end = self._size - (self.line_at(self._size - 1, 1) == b"\n")
        found: list[Lines] = []
        budget = _TAIL_BYTES
        while end > _HEAD_BYTES and budget > 0:
            start = line_start(self.fd, end)
            if end - start > MOST_LINE_BYTES:
                head, tail = self.line_at(start, _HEAD_BYTES), self.line_at(end - _HEAD_BYTES, _HEAD_BYTES)
                found.insert(0, Lines(start, [head], self._times, tail, end - start))
            else:
                budget -= end - start if found else 0
                found.insert(0, Lines(start, [self.line_at(start, end - start)], self._times))
            end = start - 1
        first_call = (at for at, lines in enumerate(found) if self._is_call(lines.data[0]))
        return found[next(first_call, 0) :]
