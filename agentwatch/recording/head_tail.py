"""Reads the first and last lines of a file, and finds the lines around an offset, without what lies between:
for previews, digests of a list, ids, and rules that join a session at its end.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from agentwatch.recording.appender import line_start
from agentwatch.recording.lines import KEPT_BYTES, split_lines
from agentwatch.recording.store import open_regular
from agentwatch.recording.times import time_in

HEAD_BYTES = 1 << 16
"""Its first lines name the agent, the working directory and the first prompt."""
COMPARED_BYTES = 64
"""Compared before an offset, to notice that a file was rewritten."""
_STEP_BYTES = 1 << 16
_FIRST_STEP_BYTES = 1 << 12
"""Most lines are shorter. Reading 4 KiB takes 1 µs; 64 KiB take 12 µs."""
_TIMES_BYTES = 256
"""The first and the last arrival time are searched in these; a line takes at most 45."""
_MOST_MS = 10**15
_BOM = b"\xef\xbb\xbf"
_ITEM_STARTS = (b"{", b"[", b'"', b"-", *(b"%d" % digit for digit in range(10)))


def first_bytes(path: str | Path, most_bytes: int, *, follow_links: bool = False) -> bytes:
    """Return the first bytes of a file; none of one that cannot be read, or is not regular."""
    try:
        fd = open_regular(path, follow_links=follow_links)
    except (OSError, ValueError):
        return b""
    try:
        return os.pread(fd, most_bytes, 0)
    except OSError:
        return b""
    finally:
        os.close(fd)


def lines_between(fd: int, begin: int, end: int) -> tuple[list[bytes], bytes]:
    """Return the whole lines with their line ends, and the bytes after the last one. The file may end before
    `end`. Raise `OSError`."""
    data = os.pread(fd, end - begin, begin) if end > begin else b""
    return split_lines(data) if data else ([], b"")


def first_lines(fd: int, most_bytes: int = HEAD_BYTES) -> list[bytes]:
    """A line that does not end within `most_bytes` is left out. Raise `OSError` if it cannot be read."""
    return lines_between(fd, 0, most_bytes)[0]


def last_lines(fd: int, most_bytes: int) -> list[bytes]:
    """Line ends are removed. The first line may have begun before `most_bytes`. Raise `OSError`."""
    start = max(os.fstat(fd).st_size - most_bytes, 0)
    return os.pread(fd, most_bytes, start).split(b"\n")


def arrivals_ms(times: Path) -> tuple[int, int] | None:
    """Return when the first and the last bytes of a recording arrived; None if unknown."""
    try:
        fd = open_regular(times)
    except OSError:
        return None
    try:
        first = os.pread(fd, _TIMES_BYTES, 0).split(b"\n")[:-1]
        *last, _ = last_lines(fd, _TIMES_BYTES)
    except OSError:
        return None
    finally:
        os.close(fd)
    known = [pair[1] for pair in map(time_in, (*first, *last)) if pair is not None and pair[1] < _MOST_MS]
    return (known[0], known[-1]) if known else None


def lines_from_end(fd: int, most_bytes: int) -> Iterator[tuple[int, int]]:
    """Yield offset and length of each line that is not blank, last first, within `most_bytes` of the end."""
    end = os.fstat(fd).st_size
    first = max(end - most_bytes, 0)
    while (end := _end_of_text(fd, end, first)) > first:
        start = line_start(fd, end, first)
        if start == first > 0:
            return
        yield start, end - start
        end = start


def ends_of_line(fd: int, start: int, length: int) -> tuple[bytes, bytes]:
    """The first and the last 64 KiB of an oversize line."""
    return os.pread(fd, KEPT_BYTES, start), os.pread(fd, KEPT_BYTES, start + length - KEPT_BYTES)


def line_end_after(fd: int, offset: int, end: int) -> int:
    """The offset after the first line end from `offset` on; `end` without one before it."""
    most = _FIRST_STEP_BYTES
    while offset < end:
        piece, most = os.pread(fd, min(most, end - offset), offset), _STEP_BYTES
        if not piece:
            break
        found = piece.find(b"\n")
        if found >= 0:
            return offset + found + 1
        offset += len(piece)
    return end


def bytes_before(fd: int, offset: int) -> bytes:
    """The last 64 bytes before an offset: a file that was rewritten since has other ones."""
    start = max(offset - COMPARED_BYTES, 0)
    return os.pread(fd, offset - start, start)


def is_one_document(fd: int) -> bool:
    """Whether a file begins like one JSON document over many lines, as `jq` or an editor writes it: with only
    `{` or `[`, and then a member or an item. An agent's event is an object on one line. A file that cannot be
    read at an offset is not a document."""
    try:
        lines = (line.removeprefix(_BOM).strip() for line in first_lines(fd))
    except OSError:
        return False
    present = filter(None, lines)
    opening, following = next(present, b""), next(present, b"")
    if opening == b"{":
        return following.startswith(b'"')
    return opening == b"[" and following[:1] in _ITEM_STARTS and not following.endswith(b"}")


def _end_of_text(fd: int, end: int, first: int) -> int:
    """The offset after the last byte before `end` that is not blank, or `first`."""
    while end > first:
        start = max(end - _STEP_BYTES, first)
        text = os.pread(fd, end - start, start).rstrip()
        if text:
            return start + len(text)
        end = start
    return first
