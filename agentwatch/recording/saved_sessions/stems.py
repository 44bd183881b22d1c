"""Which files in the folder of saved sessions belong to which session, and how large they are."""

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from agentwatch.recording.store import SessionFiles, open_folder, sessions_folder

_RECORDING = ".ndjson"
_HEX = frozenset("0123456789abcdef")


class SavedStem(NamedTuple):
    """The files of one saved session of this user."""

    recording: Path
    """The path of the recording. It may not exist: a traceback may be the only file."""
    size: int
    """The size of all files together, in bytes."""
    changed_ms: int
    """The last change of the recording, or without one of the newest file, in ms since the epoch."""


def saved_stems(uid: int | None = None) -> list[SavedStem]:
    """Return the saved sessions with the sizes of their files, newest first; none without a folder.

    Files with other names, links, and sessions whose recording belongs to another user are left out.

    Args:
        uid: The user; None for the user of this process.

    Raises:
        OSError: The folder cannot be read, or is a link.
    """
    found: dict[str, dict[str, os.stat_result]] = {}
    foreign = set()
    folder = sessions_folder()
    try:
        with opened_folder() as fd, os.scandir(fd) as entries:
            for entry in entries:
                stem, dot, ending = entry.name.partition(".")
                if not dot or not _is_of_a_session(stem, ending):
                    continue
                if (status := own_file(entry.name, fd, uid)) is not None:
                    found.setdefault(stem, {})[dot + ending] = status
                elif dot + ending == _RECORDING:
                    foreign.add(stem)
    except FileNotFoundError:
        return []
    stems = sorted(found.keys() - foreign, reverse=True)
    return [_saved_stem(folder / f"{stem}{_RECORDING}", found[stem]) for stem in stems]


def session_size(recording: Path) -> int:
    """Return the size of all files of a session of our own, in bytes; files that cannot be read count as 0.

    Args:
        recording: The path of the recording.
    """
    try:
        with opened_folder() as fd:
            found = (own_file(path.name, fd, None) for path in session_files(recording).every)
            return sum(status.st_size for status in found if status is not None)
    except OSError:
        return 0


def session_files(recording: Path) -> SessionFiles:
    """Return the files of a saved session that agentwatch has named itself.

    Args:
        recording: The path of the recording.

    Raises:
        OSError: The path is not one that agentwatch gives to a recording.
    """
    folder = sessions_folder()
    is_beside = recording.parent == folder or os.path.realpath(recording.parent) == os.path.realpath(folder)
    if not is_beside or recording.suffix != _RECORDING or not is_stem(recording.stem):
        raise OSError(errno.EINVAL, "it is not among the sessions that agentwatch has saved", str(recording))
    return SessionFiles(folder / recording.name)


def is_stem(name: str) -> bool:
    """Return whether a name is a stem that agentwatch gives: `20261120-140307-123abcdef`."""
    day, _, rest = name.partition("-")
    second, _, random = rest.partition("-")
    is_time = len(day) == 8 and len(second) == 6 and (day + second).isascii() and (day + second).isdigit()
    return is_time and 6 <= len(random) <= 16 and _HEX.issuperset(random)


def own_file(name: str, folder_fd: int, uid: int | None) -> os.stat_result | None:
    """Return the state of a regular file of this user; None for anything else.

    Args:
        name: The name of the file in the folder.
        folder_fd: The folder.
        uid: The user; None for the user of this process.
    """
    try:
        status = os.stat(name, dir_fd=folder_fd, follow_symlinks=False)
    except OSError:
        return None
    is_own = status.st_uid == (os.geteuid() if uid is None else uid)
    return status if is_own and stat.S_ISREG(status.st_mode) else None


@contextmanager
def opened_folder() -> Iterator[int]:
    """Open the folder of saved sessions.

    Raises:
        OSError: It does not exist, cannot be read, or is a link.
    """
    fd = open_folder(sessions_folder())
    try:
        yield fd
    finally:
        os.close(fd)


def _is_of_a_session(stem: str, ending: str) -> bool:
    return is_stem(stem) and f"{stem}.{ending}" in (
        path.name for path in SessionFiles(Path(f"{stem}{_RECORDING}")).every
    )


def _saved_stem(recording: Path, files: dict[str, os.stat_result]) -> SavedStem:
    dated = files.get(_RECORDING) or max(files.values(), key=lambda status: status.st_mtime_ns)
    size = sum(status.st_size for status in files.values())
    return SavedStem(recording, size, dated.st_mtime_ns // 10**6)
