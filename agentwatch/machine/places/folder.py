"""The entries of a folder in which sessions lie."""

from __future__ import annotations

import os
import stat
from itertools import islice
from typing import NamedTuple

from agentwatch.wire.places import Folder, Kind, Stamp

_MOST_ENTRIES = 100_000
"""Of a larger folder, the rest is not listed."""


class Entries(NamedTuple):
    """The entries of a folder that matter."""

    files: dict[str, Stamp]
    folders: dict[str, Kind]


def entries_of(folder: Folder, uid: int) -> Entries:
    """Return the entries that matter: regular files and folders, no links.

    A name with a character that cannot be printed is left out: no agent writes one, and it could be neither
    shown nor typed. Files of another user are left out.

    Raises:
        OSError: The folder cannot be read.
    """
    files: dict[str, Stamp] = {}
    folders: dict[str, Kind] = {}
    owner, below = folder.kind.owner, folder.kind.below
    with os.scandir(folder.path) as entries:
        for entry in islice(entries, _MOST_ENTRIES):
            name = entry.name
            if not name.isprintable():
                continue
            if owner(name) is not None:
                status = _status_of(entry)
                if status is not None and stat.S_ISREG(status.st_mode) and status.st_uid == uid:
                    files[name] = stamp_of(status)
            elif (kind := below(name)) is not None and entry.is_dir(follow_symlinks=False):
                folders[name] = kind
    return Entries(files, folders)


def stamp_of(status: os.stat_result) -> Stamp:
    """Return the stamp of a file."""
    return Stamp(status.st_size, status.st_mtime_ns, status.st_ino)


def regular_file(path: str, uid: int) -> Stamp | None:
    """Return the stamp of the user's own regular file; None if it is gone, or is something else."""
    try:
        status = os.lstat(path)
    except (OSError, ValueError):
        return None
    return stamp_of(status) if stat.S_ISREG(status.st_mode) and status.st_uid == uid else None


def own_folder(path: str, uid: int) -> int | None:
    """Return the modification time of the user's own folder, in ns; None if it is not such a folder."""
    try:
        status = os.lstat(path)
    except (OSError, ValueError):
        return None
    return status.st_mtime_ns if stat.S_ISDIR(status.st_mode) and status.st_uid == uid else None


def _status_of(entry: os.DirEntry[str]) -> os.stat_result | None:
    """Return the status of an entry; None if it has vanished."""
    try:
        return entry.stat(follow_symlinks=False)
    except OSError:
        return None
