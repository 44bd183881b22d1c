"""Whether a recording is still being written, by this or another process.

The writer holds a lock (flock(2)) on the recording. The lock belongs to the open file, so all processes that
have inherited its descriptor share the lock: it is held until the last of them has ended, however it ended.
Not every file system has such locks. If `run` has started the agent, its process is known
too. Only the growth of a pipe without a lock is known.
"""

import fcntl
import os
import time
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from agentwatch.base.clock import CLOCK, wall_ns
from agentwatch.recording.store import lock, open_regular, read_object

# `STEM.json` has the keys `command`, `cwd`, `pid`, `started_ms`, `ended_ms` and `exit_code`. The last two are
# null while the agent runs, and remain null if the monitor was killed or has left the agent running. The key
# `name` has the name that the user gave; without a process it is the only key.

MOST_BYTES = 4 << 20
"""A command may contain a prompt. Linux passes at most 2 MiB by default, and JSON escapes them."""
_MOST_ARGUMENTS = 64
_MOST_ARGUMENT = 300
_START_TOLERANCE_MS = 10_000
"""The clock may have been adjusted since the agent was started. A process id is not used again that soon."""
_START_TICKS = 19
"""The index of `starttime` in /proc/PID/stat after the name; see proc(5)."""


class SavedProcess(NamedTuple):
    pid: int
    started_ms: int
    exit_code: int | None
    """128 + n if signal n ended the process; None if its end is not known."""
    command: tuple[str, ...] = ()
    """Its first arguments, of which the first is the program."""


def read_process(path: Path) -> SavedProcess | None:
    """Return None if there is no such file, or it describes no process."""
    try:
        described = read_object(open_regular(path), MOST_BYTES)
    except OSError:
        return None
    command = described.get("command")
    if not isinstance(command, list):
        return None
    words = tuple(each[:_MOST_ARGUMENT] for each in command[:_MOST_ARGUMENTS] if isinstance(each, str))
    pid, started_ms, exit_code = (described.get(key) for key in ("pid", "started_ms", "exit_code"))
    if type(pid) is not int or type(started_ms) is not int or type(exit_code) not in (int, type(None)):
        return None
    return SavedProcess(pid, started_ms, exit_code, words) if 0 < pid < 1 << 31 else None


def is_alive(process: SavedProcess) -> bool | None:
    """Return None if a process has this id, and the system does not show when it was started."""
    if process.exit_code is not None:
        return False
    try:
        os.kill(process.pid, 0)
    except OSError:  # no such process, or one of another user
        return False
    started_ms = _started_ms(process.pid)
    return None if started_ms is None else abs(started_ms - process.started_ms) < _START_TOLERANCE_MS


def _started_ms(pid: int) -> int | None:
    """0 for a zombie, which has ended; None on a system without /proc."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            fields = file.read().rpartition(b")")[2].split()
        is_zombie, ticks = fields[0] == b"Z", int(fields[_START_TICKS])
    except (OSError, ValueError, IndexError):
        return None
    boot_ns = wall_ns() - time.clock_gettime_ns(CLOCK)
    return 0 if is_zombie else boot_ns // 10**6 + ticks * 1000 // os.sysconf("SC_CLK_TCK")


_FRESH_SECONDS = 600
"""Without a lock, a recording that has not grown for this time counts as ended if no process is known, or if
only its id is, and not its start: the id may belong to another process by now."""


def hold(fd: int) -> None:
    """Mark the new recording open at `fd` as being written."""
    lock(fd)


def release(fd: int) -> None:
    """Mark it as ended, for all processes that have inherited the descriptor."""
    with suppress(OSError):
        fcntl.flock(fd, fcntl.LOCK_UN)


def is_being_written(fd: int, process: SavedProcess | None, pipe_seconds: float = _FRESH_SECONDS) -> bool:
    """`fd` was opened for reading, and is not that of the writer, whose lock it would change. Without a lock
    and a `process`, a recording that has not grown for `pipe_seconds` is not being written."""
    if process is not None and process.exit_code is not None:
        return False
    locked = is_locked(fd)
    if locked:
        return True
    alive = locked if process is None else is_alive(process)
    if alive is None:
        silent_seconds = wall_ns() / 1e9 - os.fstat(fd).st_mtime
        return silent_seconds < (pipe_seconds if process is None else _FRESH_SECONDS)
    return alive


def is_locked(fd: int) -> bool | None:
    """Return None on a file system without locks. The `fd` of the writer would change its lock."""
    try:
        fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:  # ENOLCK, EOPNOTSUPP, EINVAL: NFS and some others
        return None
    release(fd)
    return False
