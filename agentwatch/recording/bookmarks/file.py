"""The file of bookmarks, `STEM.bookmarks.json`.

It is one JSON object: `{"version":1,"bookmarks":[{"offset":…,"time_ms":…,"name":"…","created_ms":…}]}`. An
agent may write in the same folder, so the file is read as foreign data. It is replaced as a whole.
"""

from __future__ import annotations

import errno
import fcntl
import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path
from typing import NamedTuple

import orjson

from agentwatch.recording.store import create_file, open_regular

_VERSION = 1
MOST_BOOKMARKS = 1000
MOST_NAME = 100
"""Characters. With them, the largest file has 700 KB."""
_MOST_BYTES = 1 << 20
_TOO_LARGE = 1 << 62
_LOCK_TRIES = 20
_LOCK_SECONDS = 0.005


class Bookmark(NamedTuple):
    """A moment that the user has marked."""

    offset: int
    """The moment: the number of bytes of the recording before it."""
    ms: int | None
    """The recorded time of the moment, in milliseconds since the epoch; None if unknown."""
    name: str
    """Foreign text, because others can write the file; at most 100 characters. Empty if it has no name."""
    created_ms: int
    """When the bookmark was set, in milliseconds since the epoch."""


def read_bookmarks(path: Path) -> dict[int, Bookmark]:
    """Return the bookmarks in a file by their offsets; none if the file does not exist or is empty.

    Entries with fields of a wrong type are ignored. Of two entries with the same offset, the last counts.

    Raises:
        OSError: The file is a link, is not a regular file, belongs to another user, or is not a file of
            bookmarks that this version knows.
    """
    try:
        fd = open_regular(path)
    except FileNotFoundError:
        return {}
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise OSError(errno.ELOOP, "it is a link, which is not followed", str(path)) from None
        raise
    try:
        if os.fstat(fd).st_uid != os.geteuid():
            raise PermissionError(errno.EPERM, "it belongs to another user", str(path))
        data = os.pread(fd, _MOST_BYTES + 1, 0)
    finally:
        os.close(fd)
    if len(data) > _MOST_BYTES:
        raise OSError(errno.EFBIG, "it is larger than 1 MiB", str(path))
    return _parsed(data, path) if data else {}


def replace_bookmarks(
    path: Path, change: Callable[[dict[int, Bookmark]], Mapping[int, Bookmark]]
) -> dict[int, Bookmark]:
    """Read the file, change its bookmarks, and write them as a new file in its place.

    Another viewer of the recording waits, for up to 100 ms, so that its bookmarks are read too.

    Args:
        path: The file; it may not exist yet.
        change: Returns what is to be written for what was read.

    Returns:
        What was written.

    Raises:
        OSError: The file cannot be used, as with `read_bookmarks`, or cannot be written.
    """
    with _locked(path.parent):
        kept = dict(sorted(change(read_bookmarks(path)).items())[:MOST_BOOKMARKS])
        new = path.with_name(f".{path.name}.{os.urandom(6).hex()}")
        fd = create_file(new)
        try:
            try:
                _write(fd, _formatted(kept))
            finally:
                os.close(fd)
            new.replace(path)
        except OSError:
            with suppress(OSError):
                new.unlink()
            raise
    return kept


def _parsed(data: bytes, path: Path) -> dict[int, Bookmark]:
    """Return the bookmarks in the content of a file."""
    try:
        found = orjson.loads(data)
    except ValueError:
        found = None
    version = found.get("version") if isinstance(found, dict) else None
    entries = found.get("bookmarks") if isinstance(found, dict) else None
    if type(version) is int and version > _VERSION:
        raise OSError(errno.EINVAL, "a newer version of agentwatch has written it", str(path))
    if version != _VERSION or type(version) is not int or not isinstance(entries, list):
        raise OSError(errno.EINVAL, "it is not a file of bookmarks", str(path))
    bookmarks: dict[int, Bookmark] = {}
    for entry in entries[:MOST_BOOKMARKS]:
        if (bookmark := _bookmark(entry)) is not None:
            bookmarks[bookmark.offset] = bookmark
    return bookmarks


def _bookmark(entry: object) -> Bookmark | None:
    """Return the bookmark that an entry describes; None if it describes none."""
    if not isinstance(entry, dict) or (offset := _natural(entry.get("offset"))) is None:
        return None
    name = entry.get("name")
    shown = name[:MOST_NAME] if isinstance(name, str) else ""
    return Bookmark(offset, _natural(entry.get("time_ms")), shown, _natural(entry.get("created_ms")) or 0)


def _natural(value: object) -> int | None:
    """Return a value that is a number from 0 to 2⁶²; None for others."""
    return value if type(value) is int and 0 <= value < _TOO_LARGE else None


def _formatted(bookmarks: Mapping[int, Bookmark]) -> bytes:
    entries = [
        {"offset": each.offset, "time_ms": each.ms, "name": each.name, "created_ms": each.created_ms}
        for each in bookmarks.values()
    ]
    return orjson.dumps({"version": _VERSION, "bookmarks": entries}, option=orjson.OPT_APPEND_NEWLINE)


def _write(fd: int, data: bytes) -> None:
    left = memoryview(data)
    while left:
        left = left[os.write(fd, left) :]


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Keep other viewers from writing bookmarks in a folder. Not every file system has locks.

    Raises:
        OSError: The folder cannot be opened, or was locked for 100 ms.
    """
    fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | getattr(os, "O_CLOEXEC", 0))
    try:
        for tries in count(1):
            try:
                fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if tries == _LOCK_TRIES:
                    raise OSError(
                        errno.EAGAIN, "another program has locked its folder", str(folder)
                    ) from None
                time.sleep(_LOCK_SECONDS)
            except OSError:
                break
        yield
    finally:
        os.close(fd)
