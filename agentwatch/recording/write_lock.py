"""Whether a recording is still being written, by this or another process.

The writer holds a lock (flock(2)) on the recording. The lock belongs to the open file, so all processes that
have inherited its descriptor share the lock: it is held until the last of them has ended, however it ended.
Not every file system has such locks. Of an agent that `run` has started, the process itself is known too. Of
a pipe without a lock only its growth is known.
"""

from __future__ import annotations

import fcntl
import os
import time
from contextlib import suppress

from agentwatch.recording.saved_process import SavedProcess, is_alive

_FRESH_SECONDS = 600
"""Without a lock, a recording that has not grown for this time counts as ended if no process is known, or if
only its id is, and not its start: the id may belong to another process by now."""


def hold(fd: int) -> None:
    """Mark the new recording open at `fd` as being written."""
    with suppress(OSError):
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)


def release(fd: int) -> None:
    """Mark the recording open at `fd` as ended, for all processes that have inherited the descriptor."""
    with suppress(OSError):
        fcntl.flock(fd, fcntl.LOCK_UN)


def is_being_written(fd: int, process: SavedProcess | None, pipe_seconds: float = _FRESH_SECONDS) -> bool:
    """Return whether a recording is still being written.

    Args:
        fd: A descriptor that was opened for reading; not that of the writer, whose lock it would change.
        process: The process of the agent; None if it is not known.
        pipe_seconds: If there is neither a lock nor a process, how long the recording may not have grown.
    """
    if process is not None and process.exit_code is not None:
        return False
    locked = is_locked(fd)
    if locked:
        return True
    alive = locked if process is None else is_alive(process)
    if alive is None:
        silent_seconds = time.time() - os.fstat(fd).st_mtime
        return silent_seconds < (pipe_seconds if process is None else _FRESH_SECONDS)
    return alive


def is_locked(fd: int) -> bool | None:
    """Return whether a writer holds the lock of a recording; None on a file system without locks.

    Args:
        fd: A descriptor that was opened for reading; not that of the writer, whose lock it would change.
    """
    try:
        fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:  # ENOLCK, EOPNOTSUPP, EINVAL: NFS and some others
        return None
    release(fd)
    return False
