"""Reads and copies files with hooks: never a link, never another user's file, never in part."""

from __future__ import annotations

import errno
import os
import stat
import time
from contextlib import suppress
from pathlib import Path

from agentwatch.base.clock import wall_ns
from agentwatch.base.files import write_all
from agentwatch.recording.store import create_file, open_regular

_MOST_COPIES = 100


def own_bytes(path: Path, most_bytes: int) -> bytes | None:
    """Return the contents of a file of this user; None if it does not exist. Raise `OSError` if it is a link,
    no regular file, has another name too, belongs to another user, is larger, or cannot be read."""
    if path.is_symlink():
        raise OSError(errno.ELOOP, "it is a link", str(path))
    try:
        fd = open_regular(path)
    except FileNotFoundError:
        return None
    try:
        status = os.fstat(fd)
        if status.st_uid != os.geteuid():
            raise PermissionError(errno.EPERM, "it belongs to another user", str(path))
        if status.st_nlink > 1:
            raise OSError(errno.EMLINK, "it has another name too", str(path))
        if status.st_size > most_bytes:
            raise OSError(errno.EFBIG, "it is too large", str(path))
        return os.pread(fd, most_bytes, 0)
    finally:
        os.close(fd)


def mode_of(path: Path) -> int | None:
    """Return the permissions of a file; None if it does not exist."""
    try:
        return stat.S_IMODE(os.lstat(path).st_mode)
    except FileNotFoundError:
        return None


def keep_copy(path: Path, data: bytes, mode: int) -> Path:
    """Write a dated copy of a file beside it, which overwrites nothing, and return its path. Raise `OSError`
    if it cannot be written."""
    name = f"{path.name}.{time.strftime('%Y%m%d-%H%M%S', time.localtime(wall_ns() // 10**9))}"
    for number in range(_MOST_COPIES):
        copy = path.with_name(f"{name}-{number}" if number else name)
        with suppress(FileExistsError):
            fd = create_file(copy)
            try:
                os.fchmod(fd, mode)
                write_all(fd, data)
                os.fsync(fd)
            finally:
                os.close(fd)
            return copy
    raise FileExistsError(errno.EEXIST, "there are too many copies", str(path))


def copies_of(path: Path) -> list[Path]:
    """Return the dated copies of a file, the newest first."""
    try:
        names = os.listdir(path.parent)
    except OSError:
        return []
    found = [path.with_name(name) for name in names if name.startswith(f"{path.name}.2")]
    return sorted(found, reverse=True)[:_MOST_COPIES]
