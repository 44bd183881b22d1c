"""Where indexes are kept, and the key that authenticates them."""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

from agentwatch.recording import SessionFiles, create_file, open_regular, private_folder, sessions_folder

_KEY_BYTES = 32
_MOST_BYTES = 1 << 30
"""The size of all indexes in the state folder; beyond it the oldest are removed."""
_SUFFIX = ".index"


def index_path(recording: Path) -> Path | None:
    """Return where the index of a recording is kept; None if nothing may be written for it.

    It is beside the recording. Folders with a hidden parent belong to agents and other programs, such as
    `~/.claude`: the indexes of their files are in `$AGENTWATCH_HOME/index`. Nothing is written for a
    recording in a folder that belongs to another user, or that cannot be written.
    """
    try:
        path = recording.resolve()
        status = path.parent.stat()
        sessions = sessions_folder().resolve()
    except (OSError, RuntimeError):
        return None
    if status.st_uid != os.geteuid() or not os.access(path.parent, os.W_OK):
        return None
    if path.parent != sessions and any(part.startswith(".") for part in path.parent.parts):
        name = sha256(os.fsencode(path)).hexdigest()[:32]
        return _state_folder() / f"{name}{_SUFFIX}"
    return SessionFiles(path).index_file


def make_room(path: Path, size: int) -> bool:
    """Prepare the folder of an index; return whether there is room for one of `size` bytes.

    Beside a recording there is room if the disk has twice as much. In the state folder, the oldest indexes
    are removed until all of them together have at most 1 GiB.

    Raises:
        OSError: The folder cannot be used.
    """
    if path.parent == _state_folder():
        if size > _MOST_BYTES:
            return False
        private_folder(path.parent)
        others = [(entry.stat(follow_symlinks=False), entry.path) for entry in os.scandir(path.parent)]
        others = [each for each in others if each[1].endswith(_SUFFIX) and each[1] != str(path)]
        total = size + sum(status.st_size for status, _ in others)
        for status, oldest in sorted(others, key=lambda each: each[0].st_mtime_ns):
            if total <= _MOST_BYTES:
                break
            os.unlink(oldest)
            total -= status.st_size
    disk = os.statvfs(path.parent)
    return disk.f_bavail * disk.f_frsize >= 2 * size


def remove_left(path: Path) -> None:
    """Remove the unfinished files that writers of an index have left: they were killed."""
    with suppress(OSError):
        for entry in os.scandir(path.parent):
            if (
                entry.name.startswith(f".{path.name}.")
                and entry.stat(follow_symlinks=False).st_uid == os.geteuid()
            ):
                os.unlink(entry.path)


def read_key() -> bytes | None:
    """Return the key of this user's indexes; None if no key was created, or if others can read it."""
    try:
        fd = open_regular(_state_folder() / "key")
    except OSError:
        return None
    try:
        status = os.fstat(fd)
        key = os.pread(fd, _KEY_BYTES + 1, 0) if is_private(status) else b""
    except OSError:
        return None
    finally:
        os.close(fd)
    return key if len(key) == _KEY_BYTES else None


def own_key() -> bytes:
    """Return the key of this user's indexes, which is created at the first use.

    Raises:
        OSError: It cannot be created, or what is in its place is not a key that only the user may read.
    """
    key = read_key()
    if key is None:
        private_folder(_state_folder())
        key = os.urandom(_KEY_BYTES)
        fd = create_file(_state_folder() / "key")
        try:
            os.write(fd, key)
        finally:
            os.close(fd)
    return key


def is_private(status: os.stat_result) -> bool:
    """Return whether a file belongs to this user, only the user may use it, and it has one name."""
    is_own = status.st_uid == os.geteuid() and status.st_nlink == 1
    return is_own and stat.S_ISREG(status.st_mode) and not status.st_mode & 0o077


def _state_folder() -> Path:
    return sessions_folder().parent / "index"
