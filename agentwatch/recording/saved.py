"""Opens a saved recording, which is either complete or still being written by another process."""

import errno
import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

from agentwatch.base.clock import now_ms
from agentwatch.base.files import write_all
from agentwatch.recording.appender import line_start
from agentwatch.recording.lines import LineReader
from agentwatch.recording.store import SessionFiles, nameless_file, open_own, open_regular
from agentwatch.recording.times import ArrivalTimes, SavedTimes, time_in
from agentwatch.recording.write_lock import is_being_written, read_process

_WROTE, _SENT = 0, 1
_READ_BYTES = 1 << 18
_TIMES_BYTES = 1 << 17
_WRITE_BYTES = 1 << 20
_TAIL_TIMES_BYTES = 1 << 16
"""The tail of a recording is searched in the last times: at least 1,400 pieces."""
_PREFIX = b"sent "
_UNKNOWN = -1


class Files(NamedTuple):
    """The open files of a recording with both directions."""

    wrote: int
    sent: int
    times: int

    def sizes(self) -> list[int]:
        """The sizes of what the agent wrote and of what it was sent, at one time."""
        while True:
            wrote, sent, again = (os.fstat(fd).st_size for fd in (self.wrote, self.sent, self.wrote))
            if wrote == again:
                return [wrote, sent]

    def close(self) -> None:
        for fd in self:
            os.close(fd)


class _Piece(NamedTuple):
    direction: int
    begin: int
    at_ms: int


class Exchange:
    """Merges both directions. It keeps how far they were read, but no file."""

    def __init__(self) -> None:
        self._begins = [0, 0]
        """The offset of the line that has not ended yet, in each direction."""
        self._read_to = [0, 0]
        self._at_ms: list[int | None] = [None, None]
        self._times_offset = 0
        self._skipped: list[_Piece] = []
        """The pieces before that offset, still to be read."""

    def read(self, files: Files, *, has_ended: bool = False) -> Iterator[tuple[int | None, bytes]]:
        """Yield the new lines as bytes, which joined are whole lines, with the time of their arrival. If it
        `has_ended`, a last line without a line end gets one."""
        sizes = files.sizes()  # first: a time is noted before its bytes are written
        pieces, self._skipped = self._skipped, []
        is_over, most = False, _TIMES_BYTES
        while not is_over:
            new = self._new_pieces(files.times, most)
            pieces, is_over = pieces + new, not new
            ends = [_UNKNOWN] * len(pieces)
            following = [*sizes] if is_over else [_UNKNOWN] * 2
            for index in range(len(pieces) - 1, -1, -1):
                way, begin, _ = pieces[index]
                ends[index], following[way] = following[way], min(begin, sizes[way])
            if _UNKNOWN in following:
                most *= 2  # one direction is silent for long
                continue
            for way in (_SENT, _WROTE):  # the rest of the last pieces
                yield from self._take(files, way, following[way])
            held = ends.index(_UNKNOWN) if not is_over else len(pieces)
            for index, ((way, begin, at_ms), end) in enumerate(zip(pieces[:held], ends, strict=False)):
                if end == sizes[way] <= begin and not has_ended:
                    self._skipped = pieces[index:]  # its bytes are not written yet: what follows has to wait
                    return
                self._at_ms[way] = at_ms
                # a full disk: the file was cut after its last line
                self._read_to[way] = min(self._read_to[way], max(begin, self._begins[way]))
                yield from self._take(files, way, end)
            pieces, most = pieces[held:], _TIMES_BYTES
        if has_ended:
            for way, size in enumerate(sizes):
                if self._begins[way] < size:
                    yield from self._copy(files, way, size)
                    yield self._at_ms[way], b"\n"

    def take(self, files: Files, fd: int, most_bytes: int | None = None) -> int:
        """Write the new lines to a file, and return their number of bytes. With `most_bytes`, the file is
        empty, and gets about that many, to the end of a line."""
        size = 0
        for _, data in self.read(files):
            write_all(fd, data)
            size += len(data)
            if most_bytes is not None and size >= most_bytes:
                size = line_start(fd, size)
                os.ftruncate(fd, size)
                break
        return size

    def skip(self, files: Files, most_bytes: int) -> None:
        """Continue `most_bytes` before the end, at the beginning of a line of each direction."""
        sizes = files.sizes()
        size = os.fstat(files.times).st_size
        start = max(size - _TAIL_TIMES_BYTES, 0)
        data = os.pread(files.times, size - start, start)
        data = data[data.find(b"\n") + 1 :] if start else data
        pieces, _ = _pieces_in(data)
        self._times_offset = size - len(data) + data.rfind(b"\n") + 1
        begins, first = list(sizes), len(pieces)
        for index in range(len(pieces) - 1, -1, -1):
            earlier = [*begins]
            earlier[pieces[index].direction] = min(pieces[index].begin, begins[pieces[index].direction])
            if sum(sizes) - sum(earlier) > most_bytes:
                break
            begins, first = earlier, index
        self._skipped = pieces[first:]
        for direction, begin in enumerate(begins):
            self._begins[direction] = self._read_to[direction] = line_start(files[direction], begin)

    def _new_pieces(self, times_fd: int, most: int) -> list[_Piece]:
        """The next pieces of at most `most` bytes; none after the last one."""
        pieces: list[_Piece] = []
        while not pieces and (data := os.pread(times_fd, most, self._times_offset)):
            pieces, end = _pieces_in(data)
            if not end and len(data) < most:
                break
            self._times_offset += end or len(data)  # a longer line is not one of times
        return pieces

    def _take(self, files: Files, direction: int, until: int) -> Iterator[tuple[int | None, bytes]]:
        at_ms, position, end = self._at_ms[direction], self._read_to[direction], 0
        while position < until:
            data = os.pread(files[direction], min(until - position, _READ_BYTES), position)
            if not data:
                break
            newline = data.rfind(b"\n") + 1
            if newline == len(data) and position == self._begins[direction]:  # as most pieces
                yield at_ms, data
                self._begins[direction] = position + newline
            elif newline:
                end = position + newline
            position += len(data)
            self._read_to[direction] = position
        if end > self._begins[direction]:
            yield from self._copy(files, direction, end)

    def _copy(self, files: Files, direction: int, end: int) -> Iterator[tuple[int | None, bytes]]:
        begin = self._begins[direction]
        while begin < end and (data := os.pread(files[direction], min(end - begin, _READ_BYTES), begin)):
            yield self._at_ms[direction], data
            begin += len(data)
        self._begins[direction] = end


def _pieces_in(data: bytes) -> tuple[list[_Piece], int]:
    end = data.rfind(b"\n") + 1
    lines = data[:end].split(b"\n")
    pairs = ((line.startswith(_PREFIX), time_in(line.removeprefix(_PREFIX))) for line in lines)
    return [_Piece(int(is_sent), *pair) for is_sent, pair in pairs if pair is not None], end


class Merged:
    """A nameless file with both directions of a recording of `acp`, in the order of arrival. `files`, those
    of the recording, are closed with it. Creating it raises `OSError`."""

    def __init__(self, files: Files) -> None:
        self.fd = nameless_file()
        self._files = files
        self._exchange = Exchange()
        self._lines = open(self.fd, "ab", _WRITE_BYTES, closefd=False)  # noqa: SIM115
        self._size = 0

    def __del__(self) -> None:
        self._files.close()

    def size(self, times: ArrivalTimes, *, has_ended: bool = False) -> int:
        """Append the lines that have arrived, note when, and return the size."""
        for at_ms, data in self._exchange.read(self._files, has_ended=has_ended):
            if at_ms is not None:
                times.note(self._size, at_ms)
            self._size += self._lines.write(data)
        self._lines.flush()
        return self._size


_WRITER_SECONDS = 0.25
"""How often the writer is looked for; the check takes 5 us, or 50 us without locks."""

_SILENT_SECONDS = 60.0
"""On a file system without locks, a recording of a pipe is followed until it has not grown for this time. A
file without arrival times is not one: it is not waited for."""


class SavedGrowth:
    def __init__(
        self, path: Path, fd: int, times: SavedTimes, follow: bool, merged: Merged | None = None
    ) -> None:
        self.ended_by: str | None = None
        """`truncated`, or `replaced` by another file."""
        self._path = path
        self.is_followed = follow
        """Whether the recording was read while it grew."""
        self._fd = fd
        self._times = times
        self._follow = follow
        self._files = SessionFiles(path)
        self._with_writer = False
        self._is_written: Callable[[], bool] | None = None
        self._check_at = 0.0
        self._is_timed = times.refresh()
        self._merged = merged
        self._size = os.fstat(fd).st_size if merged is None else merged.size(times)
        self._lock = threading.Lock()
        """A size must not be read by one thread while another one stops following."""

    def size(self) -> int:
        """Without a `.times` file beside it, new bytes get the present time as their arrival time."""
        if self._follow:
            with self._lock:
                if self._follow:
                    self._look()
        return self._size

    def has_ended(self) -> bool:
        """Whether no more bytes are read: the file is not followed, was truncated, or was replaced. A file
        that was renamed is read to its end, and followed while no other file has its name."""
        if self._follow and self.ended_by is None and self._is_replaced():
            self.ended_by = "replaced"
        if self._follow and self._with_writer and time.monotonic() >= self._check_at:
            self._check_at = time.monotonic() + _WRITER_SECONDS
            if not self._has_writer():
                self.size()  # what was written before the writer ended
                self.stop_following()
        return not self._follow or self.ended_by is not None

    def follow_writer(self) -> None:
        """Follow the file until its writer ends, if it is still being written."""
        self._follow = self._with_writer = self.is_followed = self._has_writer()

    def end_with_writer(self) -> None:
        """Stop following the file when its writer ends, if it is known to be written now."""
        self._with_writer = self._has_writer()

    def end_when_not(self, is_written: Callable[[], bool]) -> None:
        """Stop following the file when it is not written any more, as somebody says who knows it."""
        self._with_writer, self._is_written = True, is_written

    def stop_following(self) -> None:
        """The recording ends where the file ended when its size was last read."""
        with self._lock:
            self._follow = False
            if self._merged is not None:
                self._size = self._merged.size(self._times, has_ended=True)

    def _look(self) -> None:
        if self._merged is not None:
            self._size = self._merged.size(self._times)
            return
        size = os.fstat(self._fd).st_size
        if size > self._size:
            if self._is_timed:
                self._times.refresh()
            else:
                self._times.note(self._size, now_ms())
        elif size < self._size:
            self.ended_by = "truncated"
        self._size = size

    def _has_writer(self) -> bool:
        if self._is_written is not None:
            return self._is_written()
        pipe_seconds = _SILENT_SECONDS if self._is_timed else 0.0
        return is_being_written(self._fd, read_process(self._files.process), pipe_seconds)

    def _is_replaced(self) -> bool:
        try:
            return not os.path.samestat(os.stat(self._path), os.fstat(self._fd))
        except OSError:
            return False


def has_both_directions(path: Path) -> bool:
    """Whether what the agent was sent is recorded too."""
    name = os.fspath(path)
    return name.endswith(".ndjson") and os.path.exists(name.removesuffix(".ndjson") + ".sent")


def open_both(path: Path) -> Files | None:
    """Return None if the recording has only one direction."""
    if not has_both_directions(path):
        return None
    files = SessionFiles(path)
    try:
        sent_fd = open_regular(files.sent)
    except OSError:
        return None
    try:
        wrote_fd = open_regular(files.recording)
    except OSError:
        os.close(sent_fd)
        raise
    try:
        times_fd = open_regular(files.times)
    except OSError:  # they are optional
        times_fd = os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)
    return Files(wrote_fd, sent_fd, times_fd)


def open_lines(path: Path) -> int:
    """Open a file of this user; of a recording with both directions, a nameless file with its lines."""
    fd = open_own(path)
    if (files := open_both(path)) is None:
        return fd
    os.close(fd)
    with closing(files):
        fd = nameless_file()
        Exchange().take(files, fd)
    return fd


def _open(path: Path) -> int:
    return os.open(path, os.O_RDONLY | os.O_CLOEXEC)


def open_saved(
    path: Path, follow: bool | None = False, open_file: Callable[[Path], int] = _open
) -> LineReader:
    """Open a recording and the arrival times beside it. `follow` is None to keep reading until the writer
    ends, if one is known. Raise `OSError` if the file cannot be opened, or is a folder."""
    fd = open_file(path)
    merged = None
    try:
        if os.path.isdir(path):
            raise IsADirectoryError(errno.EISDIR, "it is a folder", str(path))
        if (both := open_both(path)) is not None:
            merged = Merged(both)
            os.close(fd)
            fd = both.wrote
        times = SavedTimes(SessionFiles(path).times if merged is None else None)
        growth = SavedGrowth(path, fd, times, follow is True, merged)
        if follow is None:
            growth.follow_writer()
        if merged is not None and not growth.is_followed:
            growth.stop_following()
        return LineReader(fd if merged is None else merged.fd, growth, times)
    except OSError:
        if merged is None:  # it closes its files itself
            os.close(fd)
        raise
