"""The saved sessions on disk: their files and sizes, their names, and how they are deleted."""

from __future__ import annotations

import errno
import fcntl
import os
import stat
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from agentwatch.base.json_fields import object_of
from agentwatch.recording.bookmarks import read_bookmarks
from agentwatch.recording.store import (
    SessionFiles,
    create_file,
    lock,
    open_folder,
    open_regular,
    sessions_folder,
)
from agentwatch.recording.write_lock import MOST_BYTES, is_being_written, read_process, release

_RECORDING = ".ndjson"
_HEX = frozenset("0123456789abcdef")


class SavedStem(NamedTuple):
    recording: Path
    """The recording, which may not exist: a traceback may be the only file."""
    size: int
    """The bytes of all files together."""
    changed_ms: int
    """The last change of the recording, or without one of the newest file."""


def saved_stems(uid: int | None = None) -> list[SavedStem]:
    """The sessions of `uid` (None for the own user), newest first; none without a folder. Files with other
    names, links, and recordings of another user are left out. Raise `OSError` if the folder cannot be read,
    or is a link."""
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
    """The bytes of all files of a session of our own; those that cannot be read count as 0."""
    try:
        with opened_folder() as fd:
            found = (own_file(path.name, fd, None) for path in session_files(recording).every)
            return sum(status.st_size for status in found if status is not None)
    except OSError:
        return 0


def session_files(recording: Path) -> SessionFiles:
    """Raise `OSError` if the path is not one that agentwatch gives to a recording."""
    folder = sessions_folder()
    is_beside = recording.parent == folder or os.path.realpath(recording.parent) == os.path.realpath(folder)
    if not is_beside or recording.suffix != _RECORDING or not is_stem(recording.stem):
        raise OSError(errno.EINVAL, "it is not among the sessions that agentwatch has saved", str(recording))
    return SessionFiles(folder / recording.name)


def is_stem(name: str) -> bool:
    """`20261120-140307-123abcdef`."""
    day, _, rest = name.partition("-")
    second, _, random = rest.partition("-")
    is_time = len(day) == 8 and len(second) == 6 and (day + second).isascii() and (day + second).isdigit()
    return is_time and 6 <= len(random) <= 16 and _HEX.issuperset(random)


def own_file(name: str, folder_fd: int, uid: int | None) -> os.stat_result | None:
    """Return None for anything else than a regular file of `uid`, by default the own user."""
    try:
        status = os.stat(name, dir_fd=folder_fd, follow_symlinks=False)
    except OSError:
        return None
    is_own = status.st_uid == (os.geteuid() if uid is None else uid)
    return status if is_own and stat.S_ISREG(status.st_mode) else None


@contextmanager
def opened_folder() -> Iterator[int]:
    """Raise `OSError` if the folder does not exist, cannot be read, or is a link."""
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


def delete_session(recording: Path, uid: int | None = None) -> int:
    """Delete all files of a session, and return their size: the recording first, so that no session is left
    without its times or bookmarks. What somebody else has deleted meanwhile is not an error; what is not a
    regular file of `uid`, None for the own user, is left. Raise `OSError` if it is still being recorded, was
    not saved by agentwatch, belongs to another user, or cannot be deleted."""
    files = session_files(recording)
    with opened_folder() as fd:
        _check(files, fd, uid)
        freed = 0
        problem: OSError | None = None
        for path in files.every:
            if (status := own_file(path.name, fd, uid)) is None:
                continue
            try:
                os.unlink(path.name, dir_fd=fd)
            except FileNotFoundError:
                continue
            except OSError as error:
                if path == files.recording:
                    raise
                problem = problem or error
            else:
                freed += status.st_size
    if problem is not None:
        raise problem
    return freed


def is_recorded(files: SessionFiles) -> bool:
    """Return True if that cannot be checked, False without a recording."""
    try:
        fd = open_regular(files.recording)
    except OSError as error:
        return not isinstance(error, FileNotFoundError)
    try:
        return is_being_written(fd, read_process(files.process))
    finally:
        os.close(fd)


def _check(files: SessionFiles, folder_fd: int, uid: int | None) -> None:
    path = str(files.recording)
    try:
        os.stat(files.recording.name, dir_fd=folder_fd, follow_symlinks=False)
    except FileNotFoundError:
        return  # files without a recording
    if own_file(files.recording.name, folder_fd, uid) is None:
        raise PermissionError(errno.EPERM, "not a regular file of this user", path)
    if is_recorded(files):
        raise OSError(errno.EBUSY, "it is still being recorded", path)


# `STEM.json` is written in place: `run` keeps it open while the agent runs. If the file were replaced when
# the user names the session, later writes of `run` would be lost.

NAME = "name"
"""The key of the user's name of the session; `run` writes all others."""
_LOCK_TRIES = 20
_LOCK_SECONDS = 0.005


def replace_object(fd: int, change: Callable[[dict[str, Any] | None], dict[str, Any]]) -> None:
    """Change the JSON object in a file, so that a reader finds the old one or the new one. `fd` is open for
    reading and writing. `change` gets the old one: None for something else, an empty object for an empty
    file."""
    status = os.fstat(fd)
    if not stat.S_ISREG(status.st_mode):
        raise OSError(errno.EINVAL, "not a regular file")
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
    if not data.strip():
        return {}
    return object_of(data) if len(data) <= MOST_BYTES else None


def _write(fd: int, data: bytes) -> None:
    at = 0
    while at < len(data):
        at += os.pwrite(fd, data[at:], at)


@contextmanager
def _locked(fd: int) -> Iterator[None]:
    """Keep other writers of the file waiting. One that cannot get the lock for 100 ms, or on a file system
    without locks, continues without it: writers hold it briefly, so its owner hangs."""
    for _ in range(_LOCK_TRIES):
        if lock(fd) is not False:
            break
        time.sleep(_LOCK_SECONDS)
    try:
        yield
    finally:
        release(fd)


def describe_process(
    fd: int,
    command: Sequence[str],
    cwd: str | None,
    pid: int,
    started_ms: int,
    ended_ms: int | None = None,
    exit_code: int | None = None,
) -> None:
    r"""Write them as one JSON object, in which a byte that is not UTF-8 is `\xNN`. A name that the user has
    given the session is kept. A file that cannot be written stays as it is. `fd` is open for reading and
    writing. `cwd` is None if it did not exist any more, `ended_ms` and `exit_code` while the agent runs."""
    process = {
        "command": [_as_text(argument) for argument in command],
        "cwd": None if cwd is None else _as_text(cwd),
        "pid": pid,
        "started_ms": started_ms,
        "ended_ms": ended_ms,
        "exit_code": exit_code,
    }
    with suppress(OSError):
        replace_object(fd, lambda old: process | ({NAME: old[NAME]} if old and NAME in old else {}))


def _as_text(argument: str) -> str:
    return os.fsencode(argument).decode("utf-8", "backslashreplace")


def working_folder() -> str | None:
    """Return None if it was deleted."""
    try:
        return os.getcwd()
    except OSError:
        return None


MOST_NAME = 200
_OPEN = os.O_RDWR | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC


def rename_session(recording: Path, name: str) -> None:
    """Give a saved session a name; an empty one removes it. The other keys of `STEM.json` stay as they are,
    also while `run` writes them. Raise `OSError` if the session was not saved by agentwatch, its recording
    does not exist, or `STEM.json` is not a file of this user, or cannot be written."""
    files = session_files(recording)
    os.close(open_regular(files.recording))
    given = " ".join(name.encode("utf-8", "replace").decode().split())[:MOST_NAME]

    def named(described: dict[str, Any] | None) -> dict[str, Any]:
        if described is None:
            raise OSError(errno.EINVAL, "it does not describe a session", str(files.process))
        others = {key: value for key, value in described.items() if key != NAME}
        return others | {NAME: given} if given else others

    with suppress(FileExistsError):
        os.close(create_file(files.process))
    fd = os.open(files.process, _OPEN)
    try:
        if os.fstat(fd).st_uid != os.geteuid():
            raise PermissionError(errno.EPERM, "it belongs to another user", str(files.process))
        replace_object(fd, named)
    finally:
        os.close(fd)


class Prunable(NamedTuple):
    """What may be deleted, and how many old sessions are kept."""

    sessions: list[SavedStem]
    bookmarked: int = 0
    """Old sessions that are kept because they have bookmarks."""
    recorded: int = 0
    """Old sessions that are still being recorded."""

    @property
    def size(self) -> int:
        """The bytes of all files to be deleted."""
        return sum(stem.size for stem in self.sessions)


def prunable(before_ms: int, *, keep_bookmarked: bool = False, uid: int | None = None) -> Prunable:
    """Return the saved sessions that were started and last written before a time. `keep_bookmarked` keeps
    sessions with bookmarks, or with a file of them that cannot be read. `uid` is None for the own user. Raise
    `OSError` if the folder cannot be read, or is a link."""
    sessions = []
    bookmarked = recorded = 0
    for stem in saved_stems(uid):
        if max(stem.changed_ms, _started_ms(stem.recording)) >= before_ms:
            continue
        files = SessionFiles(stem.recording)
        if is_recorded(files):
            recorded += 1
        elif keep_bookmarked and _has_bookmarks(files.bookmarks):
            bookmarked += 1
        else:
            sessions.append(stem)
    return Prunable(sessions, bookmarked, recorded)


def _started_ms(recording: Path) -> int:
    """The time in a stem; 0 if it is not a time."""
    try:
        return int(time.mktime(time.strptime(recording.stem[:15], "%Y%m%d-%H%M%S"))) * 1000
    except (ValueError, OverflowError):
        return 0


def _has_bookmarks(path: Path) -> bool:
    try:
        return bool(read_bookmarks(path))
    except OSError:
        return True
