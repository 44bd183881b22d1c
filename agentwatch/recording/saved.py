"""Opens a saved recording, which is either complete or still being written by another process."""

from __future__ import annotations

import errno
import os
import threading
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from agentwatch.base.clock import now_ms
from agentwatch.recording.lines import LineReader
from agentwatch.recording.store import SessionFiles, nameless_file, open_own, open_regular
from agentwatch.recording.times import SavedTimes
from agentwatch.recording.write_lock import is_being_written, read_process

if TYPE_CHECKING:
    from agentwatch.recording.exchange import Files, Merged

_WRITER_SECONDS = 0.25
"""How often it is checked whether the writer is still there; the check takes 5 us, or 50 us without locks."""

_SILENT_SECONDS = 60.0
"""On a file system without locks, a recording of a pipe is followed until it has not grown for this time. A
file without arrival times is not one: it is not waited for."""


class SavedGrowth:
    """The growth of a saved file."""

    def __init__(
        self, path: Path, fd: int, times: SavedTimes, follow: bool, merged: Merged | None = None
    ) -> None:
        self.ended_by: str | None = None
        """Why following the file ended: `truncated`, or `replaced` by another file."""
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
        """Return the size of the file. If the file has no `.times` file beside it, new bytes get the present
        time as their arrival time."""
        if self._follow:
            with self._lock:
                if self._follow:
                    self._look()
        return self._size

    def has_ended(self) -> bool:
        """Return whether no more bytes are read: the file is not followed, was truncated, or was replaced. A
        file that was renamed is read to its end. Following continues while no other file has its name."""
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
        """Stop following the file; the recording ends where the file ended when its size was last read."""
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
    """Return whether what the agent was sent is recorded beside a recording."""
    name = os.fspath(path)
    return name.endswith(".ndjson") and os.path.exists(name.removesuffix(".ndjson") + ".sent")


def open_both(path: Path) -> Files | None:
    """Open the files of a recording with both directions; None if it has only one."""
    if not has_both_directions(path):
        return None
    from agentwatch.recording.exchange import Files

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
    """Open a file of lines of this user; of a recording with both directions, a nameless file with its lines.
    Raise `OSError` if a file cannot be opened or created, or belongs to another user."""
    fd = open_own(path)
    if (files := open_both(path)) is None:
        return fd
    from agentwatch.recording.exchange import Exchange

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
            from agentwatch.recording.exchange import Merged

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
