"""Opens a saved recording, which is either complete or still being written by another process."""

from __future__ import annotations

import errno
import os
from pathlib import Path

from agentwatch.capture.clock import now_ms
from agentwatch.recording.lines import LineReader
from agentwatch.recording.store import SessionFiles
from agentwatch.recording.times import SavedTimes


class SavedGrowth:
    """The growth of a saved file."""

    def __init__(self, path: Path, fd: int, times: SavedTimes, follow: bool) -> None:
        self.ended_by: str | None = None
        """Why following the file ended: `truncated`, or `replaced` by another file."""
        self._path = path
        self._fd = fd
        self._times = times
        self._follow = follow
        self._is_timed = times.refresh()
        self._size = os.fstat(fd).st_size

    def size(self) -> int:
        """Return the size of the file.

        If the file has no `.times` file beside it, new bytes get the present time as their arrival time.
        """
        if self._follow:
            size = os.fstat(self._fd).st_size
            if size > self._size:
                if self._is_timed:
                    self._times.refresh()
                else:
                    self._times.note(self._size, now_ms())
            elif size < self._size:
                self.ended_by = "truncated"
            self._size = size
        return self._size

    def has_ended(self) -> bool:
        """Return whether no more bytes are read: the file is not followed, was truncated, or was replaced.

        A file that was renamed is read to its end. Following continues while no other file has its name.
        """
        if self._follow and self.ended_by is None and self._is_replaced():
            self.ended_by = "replaced"
        return not self._follow or self.ended_by is not None

    def stop_following(self) -> None:
        """Stop following the file; the recording ends where the file ended when its size was last read."""
        self._follow = False

    def _is_replaced(self) -> bool:
        try:
            return not os.path.samestat(os.stat(self._path), os.fstat(self._fd))
        except OSError:
            return False


def open_saved(path: Path, follow: bool = False) -> LineReader:
    """Open a recording and the arrival times beside it.

    Args:
        path: The recording.
        follow: Keep reading when the file grows.

    Raises:
        OSError: The file cannot be opened, or is a folder.
    """
    fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        if os.path.isdir(path):
            raise IsADirectoryError(errno.EISDIR, "it is a folder", str(path))
        times = SavedTimes(SessionFiles(path).times)
        return LineReader(fd, SavedGrowth(path, fd, times, follow), times)
    except OSError:
        os.close(fd)
        raise
