"""Whether a recording is still being written, by this or another process.

The writer holds a lock (flock(2)) on the recording. The lock belongs to the open file, so all processes that
have inherited its descriptor share the lock: it is held until the last of them has ended, however it ended.
Not every file system has such locks. Of an agent that `run` has started, the process itself is known too.
"""

from __future__ import annotations

import fcntl
import os
import time
from contextlib import suppress

from agentwatch.recording.saved_process import SavedProcess, is_alive

_FRESH_SECONDS = 600
"""If only the id of the agent's process is known, and not its start, a recording that has not grown for this
time counts as ended: the id may belong to another process by now."""


def hold(fd: int) -> None:
    """Mark the new recording open at `fd` as being written."""
    with suppress(OSError):
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)


def release(fd: int) -> None:
    """Mark the recording open at `fd` as ended, for all processes that have inherited the descriptor."""
    with suppress(OSError):
        fcntl.flock(fd, fcntl.LOCK_UN)


def is_being_written(fd: int, process: SavedProcess | None) -> bool:
    """Return whether a recording is still being written.

    Args:
        fd: A descriptor that was opened for reading; not that of the writer, whose lock it would change.
        process: The process of the agent; None if it is not known.
    """
    if process is not None and process.exit_code is not None:
        return False
    if _is_held(fd):
        return True
    alive = False if process is None else is_alive(process)
    if alive is None:
        return time.time() - os.fstat(fd).st_mtime < _FRESH_SECONDS
    return alive


def _is_held(fd: int) -> bool:
    try:
        fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    release(fd)
    return False
