"""The folder of local copies, `AGENTWATCH_HOME/copies`: finds a copy again, and keeps the folder small."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from agentwatch.recording import SessionFiles, is_at, open_regular
from agentwatch.recording.saved_sessions.stems import is_stem, own_file
from agentwatch.recording.store import open_folder
from agentwatch.remote.copies.copy import SUFFIX, LocalCopy, new_copy, remove, used_copy
from agentwatch.remote.copies.origin import Origin, read_origin
from agentwatch.state_folder import state_folder

SESSION_BYTES = 1 << 28
"""The largest copy."""
_ALL_BYTES = 2 << 30
_FREE_BYTES = 1 << 30
"""A copy never takes the last GiB of a disk."""
_MOST_COPIES = 2000
"""The most copies. Finding one reads the origins of all: 30 ms for this number."""


class Limits(NamedTuple):
    """How much the copies may take, in bytes."""

    session: int = SESSION_BYTES
    all: int = _ALL_BYTES
    free: int = _FREE_BYTES


class Copies:
    """The copies of one user."""

    def __init__(self, environ: Mapping[str, str], limits: Limits | None = None) -> None:
        """Use the folder that an environment names; nothing is created yet.

        Args:
            environ: The environment.
            limits: How much they may take.
        """
        self.folder = state_folder(environ) / "copies"
        self.limits = limits or Limits()

    def known(self) -> list[tuple[Path, Origin]]:
        """Return the recordings of all copies and their origins, newest first; broken ones are left out."""
        found = []
        for path in self._paths():
            try:
                fd = open_regular(path.with_suffix(SUFFIX))
            except OSError:
                continue
            try:
                if (origin := read_origin(fd)) is not None:
                    found.append((path, origin))
            except OSError:
                pass
            finally:
                os.close(fd)
        return found

    def find(self, address: str, session: str) -> LocalCopy | None:
        """Open the copy of a session, a complete one before the largest; return None without a copy.

        A complete copy is read for it: one that was altered since is not used any more.

        Args:
            address: The engine or the host.
            session: The session there.
        """
        found = [
            (origin.is_complete, _size(path), path)
            for path, origin in self.known()
            if origin.is_of(address, session)
        ]
        for _, _, path in sorted(found, reverse=True):
            if (copy := used_copy(path)) is not None and not _is_given_up(copy):
                return copy
        return None

    def create(self, address: str, session: str, host: str = "") -> LocalCopy:
        """Create an empty copy of a session, after removing old ones if they are too many.

        Args:
            address: The engine or the host.
            session: The session there.
            host: The name of the machine, if it is known.

        Raises:
            OSError: It cannot be created.
        """
        with suppress(OSError):
            self.has_room(0)
        return new_copy(self.folder, address, session, host)

    def has_room(self, more: int) -> bool:
        """Return whether the copies may grow, after removing old ones that nobody uses if they must.

        Args:
            more: By how many bytes.

        Raises:
            OSError: The disk cannot be asked.
        """
        sizes = [(path, _whole_size(path)) for path in self._paths()]
        total, count = sum(size for _, size in sizes) + more, len(sizes)
        for path, size in reversed(sizes):
            if total <= self.limits.all and count < _MOST_COPIES:
                break
            if _removed(path):
                total, count = total - size, count - 1
        return total <= self.limits.all and self._free() >= self.limits.free + more

    def _free(self) -> int:
        status = os.statvfs(self.folder if self.folder.exists() else self.folder.parent)
        return status.f_bavail * status.f_frsize

    def _paths(self) -> Iterator[Path]:
        """Yield the recordings whose origin is a file of this user, newest first."""
        try:
            fd = open_folder(self.folder)
        except OSError:
            return
        try:
            names = sorted(
                (name for name in os.listdir(fd) if name.endswith(SUFFIX)),
                reverse=True,
            )
            for name in names:
                stem = name.removesuffix(SUFFIX)
                if is_stem(stem) and own_file(name, fd, None) is not None:
                    yield self.folder / f"{stem}.ndjson"
        finally:
            os.close(fd)


def _is_given_up(copy: LocalCopy) -> bool:
    """Return whether a copy was altered or cannot be read; it is closed then, and another one is made."""
    try:
        if not copy.is_altered():
            return False
        copy.note(copy.origin._replace(is_complete=False, differs=True))
    except OSError:
        pass
    copy.close()
    return True


def _removed(path: Path) -> bool:
    """Remove a copy that nobody uses; return whether it is removed."""
    try:
        fd = open_regular(path.with_suffix(SUFFIX))
    except OSError:
        return False
    try:
        return is_at(path.with_suffix(SUFFIX), fd) and remove(path, fd)
    except OSError:
        return False
    finally:
        os.close(fd)


def _size(path: Path) -> int:
    try:
        return path.stat(follow_symlinks=False).st_size
    except OSError:
        return 0


def _whole_size(path: Path) -> int:
    return sum(map(_size, SessionFiles(path).every))
