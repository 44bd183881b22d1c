"""Reads the files of a folder that have changed since they were last read."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from agentwatch.base.clock import wall_ns
from agentwatch.recording.store import open_own

_MOST_ENTRIES = 100_000
_FRESH_NS = 20_000_000
"""The time of a file advances in steps of up to 10 ms. A file of this age may change again without a change
of its time."""


class FileState(NamedTuple):
    """What shows that a file has changed."""

    inode: int
    size: int
    changed_ns: int

    @property
    def is_settled(self) -> bool:
        """Whether the next change will also change the time of the file."""
        return not 0 <= wall_ns() - self.changed_ns < _FRESH_NS


def own_files(folder: str | Path, uid: int, wanted: Callable[[str], bool]) -> Iterator[tuple[str, FileState]]:
    """Yield the name and the state of the regular files of a user; none if the folder cannot be read. Only
    the files whose name is `wanted` are asked for their state."""
    try:
        if not stat.S_ISDIR(os.lstat(folder).st_mode):
            return
        with os.scandir(folder) as entries:
            for entry in islice(entries, _MOST_ENTRIES):
                if wanted(entry.name) and (state := _state_of(entry, uid)):
                    yield entry.name, state
    except OSError:  # it does not exist, or has just been removed
        return


def file_state(path: str | Path, uid: int) -> FileState | None:
    """Return the state of a regular file of a user; None for anything else."""
    try:
        found = os.lstat(path)
    except OSError:
        return None
    return _checked(found, uid)


def _state_of(entry: os.DirEntry[str], uid: int) -> FileState | None:
    try:
        return _checked(entry.stat(follow_symlinks=False), uid)
    except OSError:  # it was removed
        return None


def _checked(found: os.stat_result, uid: int) -> FileState | None:
    if not stat.S_ISREG(found.st_mode) or found.st_uid != uid:
        return None
    return FileState(found.st_ino, found.st_size, found.st_mtime_ns)


# Reads a small file that an agent of this user has written.


def own_object(path: Path, most_bytes: int) -> dict[str, Any]:
    """Return the JSON object in a small file of this user; {} if it contains none.

    An agent that cuts a title inside an emoji writes half a surrogate pair, which U+FFFD replaces. Only the
    first `most_bytes` are read; a longer object counts as none. Raise `OSError` if it cannot be read, or is
    not a regular file of this user.
    """
    fd = open_own(path)
    from agentwatch.agents.json_line import parse  # orjson takes 20 ms

    try:
        value = parse(os.pread(fd, most_bytes, 0))
    except ValueError:
        return {}
    finally:
        os.close(fd)
    return value if isinstance(value, dict) else {}
