"""The size of a pipe's buffer, and of the reads that empty it."""

from __future__ import annotations

import fcntl

PIPE_BYTES = 1 << 20
READ_BYTES = 1 << 16
BURST_BYTES = 1 << 14
"""After a read below 16 KiB, a reader pauses so that bytes accumulate: fewer reads, fewer arrival times."""


def enlarge(fd: int) -> None:
    """Enlarge a pipe's buffer from 64 KiB to 1 MiB if the system allows it.

    A Node agent that exits after a burst loses the bytes that do not fit into the buffer. Only Linux has
    F_SETPIPE_SZ, and refuses it to a user who has 64 MiB of pipes.
    """
    if hasattr(fcntl, "F_SETPIPE_SZ"):
        try:
            fcntl.fcntl(fd, fcntl.F_SETPIPE_SZ, PIPE_BYTES)
        except OSError:
            return
