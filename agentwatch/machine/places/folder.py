"""A folder in which sessions lie, or folders of sessions, and the entries of it that matter."""

from __future__ import annotations

import math
import os
import stat
from collections.abc import Callable, Collection, Sequence
from itertools import islice
from operator import attrgetter
from typing import NamedTuple

from agentwatch.machine.found import Found

_MOST_ENTRIES = 100_000
"""Of a larger folder, the rest is not listed."""


class Stamp(NamedTuple):
    """What shows that a file has changed."""

    size: int
    changed_ns: int
    """The modification time, in nanoseconds since the epoch."""
    inode: int


class Spot(NamedTuple):
    """A file with a session, or with many of them, which is read for the first time or has changed."""

    folder: Folder
    name: str
    """The name of the file."""
    previous: Sequence[Found]
    """The sessions that were found in it so far."""
    changed: Collection[str]
    """The names of those files that belong to it, itself included, that are new, changed or gone."""

    @property
    def path(self) -> str:
        """The path of the file."""
        return os.path.join(self.folder.path, self.name)

    @property
    def stamp(self) -> Stamp | None:
        """The stamp of the file; None if it is gone."""
        return self.folder.files.get(self.name)


def _nothing(_: object) -> None:
    return None


def _no_names(_: object) -> tuple[str, ...]:
    return ()


_as_before: Callable[[Spot], Sequence[Found]] = attrgetter("previous")


class Kind(NamedTuple):
    """What an agent keeps in a folder."""

    agent: str
    owner: Callable[[str], str | None] = _nothing
    """Returns the name of the file with the session that a file belongs to; None for a file that does not
    matter. A file that describes a session beside it belongs to the file with the session."""
    read: Callable[[Spot], Sequence[Found]] = _as_before
    """Returns the sessions of an owner; none if it is no session."""
    beside: Callable[[str], tuple[str, ...]] = _no_names
    """Returns the names that files have which describe the session in a file."""
    below: Callable[[str], Kind | None] = _nothing
    """Returns what a folder in this one holds; None for a folder that does not matter."""
    cools_after_s: float = math.inf
    """A folder that has not changed for this time, in seconds, is looked at once a minute only: agents do not
    put a new session there."""
    is_polled: bool = False
    """Whether its files are compared at each look, because they change without the folder: databases."""

    @property
    def holds_sessions(self) -> bool:
        """Whether sessions lie directly in the folder."""
        return self.read is not _as_before


class Folder:
    """A folder, and what was in it when it was scanned last."""

    __slots__ = ("changed_ns", "files", "folders", "founds", "kind", "passed_at", "path")

    def __init__(self, path: str, kind: Kind) -> None:
        """Create a folder that was not scanned yet."""
        self.path = path
        self.kind = kind
        self.changed_ns = -1
        """Its modification time when it was scanned; -1 if it must be scanned again."""
        self.passed_at = -math.inf
        """The time of its last full pass, in seconds of the caller's clock."""
        self.files: dict[str, Stamp] = {}
        """The files that matter, by their names."""
        self.founds: dict[str, Sequence[Found]] = {}
        """The sessions, by the name of their owner."""
        self.folders: dict[str, Folder] = {}

    @property
    def name(self) -> str:
        """The last part of the path."""
        return os.path.basename(self.path)

    def parent(self, levels: int = 1) -> str:
        """Return the path of a folder above."""
        path = self.path
        for _ in range(levels):
            path = os.path.dirname(path)
        return path


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
