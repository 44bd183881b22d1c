"""What an index must agree with: the program that wrote it, and the recording that it was made of."""

from __future__ import annotations

import os
import sys
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from agentwatch.recording import SessionFiles

_END_BYTES = 1 << 16
_SAMPLES = 64
_SAMPLE_BYTES = 1 << 12


@cache
def program() -> str:
    """Return a digest of the running program: Python, and the sizes and times of the package's files.

    It takes 5 ms.
    """
    root = Path(__file__).parents[2]
    digest = sha256(f"{sys.version} {sys.implementation.cache_tag} {root}".encode())
    for folder, folders, names in os.walk(root):
        folders.sort()
        for name in sorted(names):
            if name.endswith(".py"):
                status = os.stat(os.path.join(folder, name))
                digest.update(f"{folder}/{name} {status.st_size} {status.st_mtime_ns}\n".encode())
    return digest.hexdigest()


def contents(fd: int, size: int) -> str:
    """Return a digest of parts of the first `size` bytes of a recording: both ends, and 64 places between."""
    digest = sha256(os.pread(fd, min(size, _END_BYTES), 0))
    for number in range(1, _SAMPLES + 1):
        at = max(size - _SAMPLE_BYTES, 0) * number // _SAMPLES
        digest.update(os.pread(fd, min(_SAMPLE_BYTES, size - at), at))
    start = max(size - _END_BYTES, 0)
    digest.update(os.pread(fd, size - start, start))
    return digest.hexdigest()


def facts(recording: Path, fd: int, size: int, given: str | None) -> dict[str, Any]:
    """Return what an index of a recording notes about it.

    Args:
        recording: Its path.
        fd: Its descriptor.
        size: The number of bytes that are read.
        given: The format that the user named; None if it is detected.
    """
    status = os.fstat(fd)
    return {
        "program": program(),
        "given": given,
        "times": _times(recording),
        "size": size,
        "inode": status.st_ino,
        "mtime_ns": status.st_mtime_ns,
        "contents": contents(fd, size),
    }


def is_same(kept: dict[str, Any], recording: Path, fd: int, size: int, given: str | None) -> bool:
    """Return whether an index with these facts is that of the recording as it is now."""
    return kept == facts(recording, fd, size, given)


def has_grown(kept: dict[str, Any], recording: Path, fd: int, size: int, given: str | None) -> bool:
    """Return whether an index with these facts is that of the first bytes of the recording.

    Arrival times that were noted since belong to the bytes that were added.
    """
    before = kept.get("size")
    if type(before) is not int or not 0 <= before < size:
        return False
    now = facts(recording, fd, before, given)
    times, times_now = kept.get("times"), now["times"]
    if isinstance(times, list) and isinstance(times_now, list) and times[0] <= times_now[0]:
        now["times"] = times
    return kept == {**now, "mtime_ns": kept.get("mtime_ns")}


def _times(recording: Path) -> list[int] | None:
    """Return the size and the time of the file of arrival times; None without one."""
    try:
        status = os.stat(SessionFiles(recording).times, follow_symlinks=False)
    except OSError:
        return None
    return [status.st_size, status.st_mtime_ns]
