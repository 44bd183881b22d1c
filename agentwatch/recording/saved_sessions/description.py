"""Writes `STEM.json` in place, whoever else has it open.

`run` keeps the file open while the agent runs, and the user may give the session a name meanwhile. If the
file were replaced as a whole, what `run` writes into the one that it has open would be lost.
"""

from __future__ import annotations

import errno
import fcntl
import os
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

import orjson

from agentwatch.recording.saved_process import MOST_BYTES

NAME = "name"
"""The key of the name that the user has given the session; `run` writes all others."""
_LOCK_TRIES = 20
_LOCK_SECONDS = 0.005


def replace_object(fd: int, change: Callable[[dict[str, Any] | None], dict[str, Any]]) -> None:
    """Change the JSON object in a file, so that a reader finds the old one or the new one.

    Args:
        fd: The file, open for reading and writing.
        change: Returns the new object for the old one, which is None if the file contains something else. An
            empty file contains an empty object.

    Raises:
        OSError: The file is not a regular file, or cannot be written. What it contained is left in it.
    """
    status = os.fstat(fd)
    if not stat.S_ISREG(status.st_mode):
        raise OSError(errno.EINVAL, "it is not a regular file")
    with _locked(fd):
        before = os.pread(fd, MOST_BYTES + 1, 0)
        data = orjson.dumps(change(_parsed(before)), option=orjson.OPT_APPEND_NEWLINE)
        flags = fcntl.fcntl(fd, fcntl.F_GETFL)
        fcntl.fcntl(fd, fcntl.F_SETFL, flags & ~os.O_APPEND)  # with it, Linux ignores the offset of a write
        try:
            _write(fd, data.ljust(len(before)))  # JSON may end with spaces: it is complete before it is cut
        except OSError:
            with suppress(OSError):
                _write(fd, before)
                os.ftruncate(fd, len(before))
            raise
        os.ftruncate(fd, len(data))


def _parsed(data: bytes) -> dict[str, Any] | None:
    """Return the object in the content of a file; None if it is something else."""
    if not data.strip():
        return {}
    try:
        found = orjson.loads(data) if len(data) <= MOST_BYTES else None
    except ValueError:
        return None
    return found if isinstance(found, dict) else None


def _write(fd: int, data: bytes) -> None:
    at = 0
    while at < len(data):
        at += os.pwrite(fd, data[at:], at)


@contextmanager
def _locked(fd: int) -> Iterator[None]:
    """Keep other writers of the file waiting. Not every file system has locks.

    A writer that cannot get the lock for 100 ms goes on without it: it has hung, and holds no lock for long
    otherwise.
    """
    for _ in range(_LOCK_TRIES):
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            time.sleep(_LOCK_SECONDS)
        except OSError:
            break
        else:
            break
    try:
        yield
    finally:
        with suppress(OSError):
            fcntl.flock(fd, fcntl.LOCK_UN)
