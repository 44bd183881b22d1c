"""Room on the disk ahead of a recording that the agent writes itself.

A full disk meets the writer: a Node agent dies of it. With 64 MiB reserved ahead it writes on for as
long, and the user is told meanwhile.
"""

from __future__ import annotations

import errno
import os
import sys
from contextlib import suppress

_RESERVED_BYTES = 64 << 20
_LEAST_BYTES = 1 << 16
_KEEP_SIZE = 1
"""FALLOC_FL_KEEP_SIZE of linux/falloc.h: the file's size stays what was written."""


class Reserve:
    """Keeps room ahead of the end of a growing file, on Linux, where the file system can."""

    def __init__(self, fd: int) -> None:
        """Reserve the first room ahead of the file open at `fd`."""
        self.fault: OSError | None = None
        """Why there is less room ahead than there should be: the disk is full, or nearly."""
        self._fd = fd
        self._end = 0
        self._can_reserve = sys.platform == "linux"
        self.keep_ahead(0)

    def keep_ahead(self, size: int) -> None:
        """Reserve more when half of the room is used up; the file has `size` bytes by now."""
        if not self._can_reserve or size + _RESERVED_BYTES // 2 < self._end:
            return
        try:
            room = os.fstatvfs(self._fd)
        except OSError:
            self._can_reserve = False
            return
        length = min(room.f_bavail * room.f_frsize // 2, _RESERVED_BYTES)  # log and times need room as well
        error = _allocate(self._fd, size, length) if length >= _LEAST_BYTES else _full()
        if error is None:
            self.fault, self._end = None, max(self._end, size + length)
        elif error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
            self.fault = error
        else:
            self._can_reserve = False

    def is_used_up(self, size: int) -> bool:
        """Return whether a file of `size` bytes has met the full disk: what came then is lost."""
        return self.fault is not None and size >= self._end

    def give_back(self) -> None:
        """Give back what was not used; nobody may write any more."""
        if self._end:
            with suppress(OSError):
                os.ftruncate(self._fd, os.fstat(self._fd).st_size)


def _full() -> OSError:
    return OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def _allocate(fd: int, offset: int, length: int) -> OSError | None:
    import ctypes  # 1.5 ms, for an agent of ours alone

    libc = ctypes.CDLL(None, use_errno=True)
    arguments = (ctypes.c_int(fd), ctypes.c_int(_KEEP_SIZE), ctypes.c_int64(offset), ctypes.c_int64(length))
    if libc.fallocate(*arguments) == 0:
        return None
    number = ctypes.get_errno()
    return OSError(number, os.strerror(number))
