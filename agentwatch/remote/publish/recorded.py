"""Reads a recording and its arrival times for an engine: what may be sent, and whether it has ended."""

from __future__ import annotations

import hashlib
import os
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from agentwatch.recording.appender import line_start
from agentwatch.recording.head_tail import COMPARED_BYTES, bytes_before
from agentwatch.recording.store import SessionFiles, open_regular
from agentwatch.recording.write_lock import SavedProcess, is_being_written, read_process
from agentwatch.remote.chunk import (
    HEADER_BYTES,
    LARGEST_NUMBER,
    SEEN_PER_CHUNK,
    SESSION_BYTES,
    Chunk,
    Ended,
    Pair,
)

_READ_BYTES = 1 << 16
_MOST_AHEAD = 4 * SEEN_PER_CHUNK
"""Lines that are read ahead. A chunk has at most 512."""
_OTHER_HEADERS = 512
"""The bytes of a chunk's headers without the times."""
_MOST_DIGITS = 16


class Noted(NamedTuple):
    end: int
    """The offset at which the chunk must end, so that its times and gaps fit into its headers."""
    seen: tuple[Pair, ...] = ()
    gaps: tuple[Pair, ...] = ()


class TimesAhead:
    """The lines of a file of arrival times that are not shipped yet, in the order of their offsets. Without
    such a file, there are none. A line that is not in this order is foreign; the later one counts."""

    def __init__(self, path: Path) -> None:
        """Prepare to read the times of a recording; another process may still write to the file."""
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
        """Return the lines up to `end` that fit into the headers; at the recording's end also a gap there."""
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
                self._read_to += len(whole or added)  # what has no end within 64 KiB is not a line of times
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


_LONG_LINE_BYTES = 1 << 20
"""A line is sent before it has ended if it is longer."""
_WRITER_SECONDS = 0.25
"""The interval at which it is checked whether the writer still runs; the check takes 50 us."""
_EXIT_CODE_SECONDS = 2.0
"""How long the exit code of an agent is awaited after the recording ended: `run` writes it last."""


class Unreadable(Exception):
    """A recording cannot be read; the message is one line for the user."""


@contextmanager
def _reading() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise Unreadable(f"the recording cannot be read: {(error.strerror or str(error)).lower()}") from None


class Recorded:
    def __init__(self, path: Path, clock: Callable[[], float] = time.monotonic) -> None:
        """Open a recording, or raise `OSError` if it is not a regular file. `clock` never goes backwards."""
        self.path = path
        self._clock = clock
        self.files = SessionFiles(path)
        self.offset = 0
        """The offset of the first byte that the engine does not have."""
        self.size = 0
        self.changed_ns = 0
        """The time of its last change, in nanoseconds since the epoch."""
        self.has_begun = False
        """Whether it is known from which offset on it is shipped."""
        self.has_ended = False
        """Whether nothing more is written. It is set by `check`."""
        self.is_deleted = False
        """Whether the file has no name any more. It is set by `check`."""
        self._fd = open_regular(path)
        self._times = TimesAhead(self.files.times)
        self._before = b""
        self._searched = 0
        """Up to here, line ends were searched."""
        self._line_end = 0
        """The offset after the last line end before that."""
        self._writer_due = 0.0
        self._exit_code_due: float | None = None
        self._digest: tuple[int, str] = (-1, "")

    def start_at(self, offset: int) -> str:
        """Begin at the offset that the engine names, and return why that is not possible; empty if it is."""
        self.size = os.fstat(self._fd).st_size
        if offset > self.size:
            return "the recording is shorter than what the engine has of it"
        self.has_begun = True
        self.offset = self._searched = self._line_end = offset
        self._times.start_at(offset)
        with _reading():
            self._before = bytes_before(self._fd, self.offset)
        return ""

    def is_complete(self) -> bool:
        return self.has_ended and self.offset == self.size

    @_reading()
    def check(self) -> str:
        """Check the file; return why shipping has to stop, or nothing; raise `Unreadable` if the file cannot
        be read. A renamed file is read to its end, unless another file has its name."""
        before = self.size
        status = os.fstat(self._fd)
        now = self._clock()
        self.is_deleted = status.st_nlink == 0
        if self.is_deleted:
            return "the recording was deleted"
        if status.st_size == before and not self.has_ended and now >= self._writer_due:
            self._writer_due = now + _WRITER_SECONDS
            if self._is_replaced():
                return "the recording was replaced by another file"
            self.has_ended = not is_being_written(self._fd, self.process())
            status = os.fstat(self._fd)  # what was written before the writer ended
        self.size, self.changed_ns = status.st_size, status.st_mtime_ns
        if self.size < before:  # after a full disk it is cut back to its last whole line
            self._searched = self._line_end = self.offset
        if self.size < self.offset or (
            self.size != before and bytes_before(self._fd, self.offset) != self._before
        ):
            return "the recording was cut back"
        return ""

    @property
    def pending(self) -> int:
        """The number of bytes that may be sent. Raise `Unreadable` if the file cannot be read."""
        end = min(self.size, SESSION_BYTES)
        if not self.has_ended:
            with _reading():
                self._search()
            if self.size - self._line_end <= _LONG_LINE_BYTES:
                end = min(self._line_end, end)
        return max(end - self.offset, 0)

    @property
    def is_over_limit(self) -> bool:
        """Whether the engine has as much of it as it takes of a session, and there is more."""
        return self.offset >= SESSION_BYTES and self.size > SESSION_BYTES

    def next_chunk(self, most: int) -> Chunk:
        """Return the next bytes that may be sent; fewer if their arrival times need it."""
        with _reading():
            data = os.pread(self._fd, min(self.pending, most), self.offset)
        if not data:
            raise Unreadable("the recording was cut back")
        end = self.offset + len(data)
        noted = self._times.within(end, is_last=self.has_ended and end == self.size)
        return Chunk(self.offset, data[: noted.end - self.offset], noted.seen, noted.gaps)

    def note_stored(self, chunk: Chunk) -> None:
        self.offset = chunk.end
        self._before = (self._before + chunk.payload[-COMPARED_BYTES:])[-COMPARED_BYTES:]
        self._times.start_at(chunk.end)

    def awaits_exit_code(self) -> bool:
        """Return whether the exit code of the agent, which has just ended, may still be written."""
        process = self.process()
        if process is None or process.exit_code is not None:
            return False
        now = self._clock()
        self._exit_code_due = self._exit_code_due or now + _EXIT_CODE_SECONDS
        return now < self._exit_code_due

    def end(self) -> Ended:
        process = self.process()
        code = None if process is None else process.exit_code
        with _reading():
            return Ended(self.size, code if code is None or 0 <= code < 256 else None, self._sha256())

    def process(self) -> SavedProcess | None:
        return read_process(self.files.process)

    def close(self) -> None:
        os.close(self._fd)

    def _search(self) -> None:
        end, first = self.size, self._searched
        self._searched = max(end, first)
        found = line_start(self._fd, end, first)
        if found > first:
            self._line_end = found

    def _is_replaced(self) -> bool:
        try:
            return not os.path.samestat(os.stat(self.path), os.fstat(self._fd))
        except OSError:
            return False

    def _sha256(self) -> str:
        if self._digest[0] != self.size:
            self._digest = self.size, digest_of(self._fd, self.size)
        return self._digest[1]


def digest_of(fd: int, size: int) -> str:
    """Return the hexadecimal SHA-256 of the first bytes of a file, or of all of a shorter file."""
    digest, at = hashlib.sha256(), 0
    while at < size and (data := os.pread(fd, min(size - at, 1 << 20), at)):
        digest.update(data)
        at += len(data)
    return digest.hexdigest()
