"""Disk space reserved ahead of the recording of a started agent.

On a full disk the relay loses what the agent writes; without a relay the write fails in the agent, and a Node
agent crashes. With 64 MiB reserved, that much more is recorded while the user sees a warning.
"""

from __future__ import annotations

import errno
import os
import sys
from contextlib import suppress

_RESERVED_BYTES = 64 << 20
_MIN_BYTES = 1 << 16
_KEEP_SIZE = 1
"""FALLOC_FL_KEEP_SIZE in linux/falloc.h: reserving does not change the size of the file."""


class Reserve:
    """Reserves disk space beyond the end of a growing file; Linux only, if the file system supports it."""

    def __init__(self, fd: int) -> None:
        """Make the first reservation for the file open at `fd`."""
        self.fault: OSError | None = None
        """Why less space is reserved than intended: the disk is full, or nearly full."""
        self._fd = fd
        self._end = 0
        self._can_reserve = sys.platform == "linux"
        self.keep_ahead(0)

    def keep_ahead(self, size: int) -> None:
        """Reserve more space once half of the reservation is used up.

        Args:
            size: The present size of the file, in bytes.
        """
        if not self._can_reserve or size + _RESERVED_BYTES // 2 < self._end:
            return
        try:
            disk = os.fstatvfs(self._fd)
        except OSError:
            self._can_reserve = False
            return
        length = min(
            disk.f_bavail * disk.f_frsize // 2, _RESERVED_BYTES
        )  # the log and the arrival times need space too
        error = _allocate(self._fd, size, length) if length >= _MIN_BYTES else _full()
        if error is None:
            self.fault, self._end = None, max(self._end, size + length)
        elif error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
            self.fault = error
        else:
            self._can_reserve = False

    def is_used_up(self, size: int) -> bool:
        """Return whether the disk is full and a file of `size` bytes has used up the reservation.

        Bytes written after that are lost.
        """
        return self.fault is not None and size >= self._end

    def forget(self) -> None:
        """Reserve again when the file grows: it was truncated, which releases what was reserved."""
        self._end = 0

    def release(self) -> None:
        """Release the unused part of the reservation; no process may still be writing the file."""
        if self._end:
            with suppress(OSError):
                os.ftruncate(self._fd, os.fstat(self._fd).st_size)


def _full() -> OSError:
    return OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def _allocate(fd: int, offset: int, length: int) -> OSError | None:
    import ctypes  # takes 1.5 ms, and only a started agent needs it

    libc = ctypes.CDLL(None, use_errno=True)
    arguments = (ctypes.c_int(fd), ctypes.c_int(_KEEP_SIZE), ctypes.c_int64(offset), ctypes.c_int64(length))
    if libc.fallocate(*arguments) == 0:
        return None
    number = ctypes.get_errno()
    return OSError(number, os.strerror(number))
