"""The local copies of remote sessions, in the folder `AGENTWATCH_HOME/copies`.

Everyone who uses a copy holds a shared lock on `STEM.origin`, so that it is not removed meanwhile. The
process that fills it also holds the lock on the recording that every writer of a recording holds.
"""

from __future__ import annotations

import errno
import fcntl
import hashlib
import os
import stat
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from enum import Enum
from pathlib import Path
from typing import NamedTuple

import orjson

from agentwatch.base.files import state_folder, write_all
from agentwatch.base.json_fields import Field, object_of, values_in, values_of
from agentwatch.recording.appender import line_start
from agentwatch.recording.saved_sessions import is_stem, own_file
from agentwatch.recording.store import (
    SessionFiles,
    create_file,
    is_at,
    new_session_files,
    open_folder,
    open_regular,
    read_object,
)
from agentwatch.recording.write_lock import release
from agentwatch.remote.chunk import LARGEST_NUMBER, MESSAGE_BYTES, Chunk, Ended, Pair

SIZE = 2048
_TEXTS = {"address": 400, "session": 400, "sha256": 64, "host": 80}
_FIELDS = (
    *(Field(name, str, most, "") for name, most in _TEXTS.items()),
    *(Field(name, bool, empty=False) for name in ("is_complete", "differs", "is_left")),
    *(Field(name, int, LARGEST_NUMBER, 0) for name in ("missing", "size", "seen_ms", "sequence")),
    Field("base", int, LARGEST_NUMBER),
    Field("exit_code", int, 256),
)


class Origin(NamedTuple):
    """The origin of a copy, and which bytes of the session are in it. The file `STEM.origin` is one JSON
    object of these fields, padded with blanks to 2 KiB. Its length never changes, so that a reader finds the
    old object or the new one, in one read."""

    address: str
    """The engine or the host: `nats://team`."""
    session: str
    base: int | None = None
    """The offset of its first byte in the recording; None while it has no byte."""
    is_complete: bool = False
    """Whether the copy has all bytes of an ended recording."""
    differs: bool = False
    """Whether the bytes are not those of the recording, by its digest."""
    is_left: bool = False
    """Whether a newer copy has the rest of the session."""
    missing: int = 0
    """The number of bytes before the next piece that will never arrive."""
    size: int = 0
    """The bytes that the copy had; it was cut if it has fewer."""
    sha256: str = ""
    """The digest of a complete copy."""
    exit_code: int | None = None
    host: str = ""
    seen_ms: int = 0
    """The last time at which the copy had all bytes that existed."""
    sequence: int = 0
    """The sequence of the last piece on the engine, from which reading can continue."""

    def is_of(self, address: str, session: str) -> bool:
        """Return whether it is the copy in which a session can be read on."""
        return (self.address, self.session) == (address, session) and not (self.differs or self.is_left)


def _write_origin(fd: int, origin: Origin) -> None:
    os.pwrite(fd, orjson.dumps(values_of(_FIELDS, origin)).ljust(SIZE), 0)


def _read_origin(fd: int) -> Origin | None:
    """Return the origin in an open file, which stays open; None without one, or in another user's file."""
    status = os.fstat(fd)
    if not stat.S_ISREG(status.st_mode) or status.st_uid != os.geteuid():
        return None
    given = read_object(os.dup(fd), SIZE)
    found = Origin(**values_in(_FIELDS, given))
    is_whole = all(given.get(name) == getattr(found, name) for name in _TEXTS)  # none was cut
    return found if is_whole and found.address and found.session else None


_TAIL_BYTES = 1 << 12
"""A line of times has at most 38 bytes; the last of them is among these bytes, unless all are gaps."""
_MOST_DIGITS = 16
LARGEST_MS = 253_402_300_800_000
"""The end of the year 9999: a later time is not a time of day."""


class _CopiedTimes:
    """The open `.times` file of a copy. Offsets increase in it, and times never decrease."""

    def __init__(self, fd: int) -> None:
        """Continue a file, which another process may have left within a line. `fd` is open for reading and in
        append mode. Raise `OSError` if it cannot be read or cut."""
        self.fd = fd
        self._last = -1, 0
        size = os.fstat(fd).st_size
        whole = line_start(fd, size, max(size - _TAIL_BYTES, 0))
        if whole < size:
            os.ftruncate(fd, whole)
        start = max(whole - _TAIL_BYTES, 0)
        for line in os.pread(fd, whole - start, start).split(b"\n")[1 if start else 0 :]:
            offset, _, epoch_ms = line.partition(b" ")
            if offset.isdigit() and epoch_ms.isdigit() and max(len(offset), len(epoch_ms)) <= _MOST_DIGITS:
                self._last = int(offset), int(epoch_ms)

    def write(self, seen: Iterable[Pair], gaps: Iterable[Pair] = ()) -> None:
        """Write arrival times (offset in the copy, ms since the epoch); those out of order or out of range
        are left out. `gaps` has offsets, and the number of missing bytes before each."""
        lines = [b"gap %d %d\n" % gap for gap in gaps]
        last = self._last
        for offset, epoch_ms in seen:
            if offset > last[0] and max(last[1], 1) <= epoch_ms < LARGEST_MS:
                last = offset, epoch_ms
                lines.append(b"%d %d\n" % last)
        data = b"".join(lines)
        if data and os.write(self.fd, data) < len(data):
            size = os.fstat(self.fd).st_size
            os.ftruncate(self.fd, line_start(self.fd, size, max(size - _TAIL_BYTES, 0)))
        self._last = last


SUFFIX = ".origin"
_CHANGE = os.O_RDWR | os.O_APPEND | os.O_NONBLOCK | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)


class LocalCopy:
    """A copy that this process uses. Its thread alone fills it."""

    def __init__(self, path: Path, origin_fd: int, origin: Origin) -> None:
        """Use a copy whose lock is held; `origin_fd` is the file of its origin, with a shared lock."""
        self.path = path
        self._origin_fd = origin_fd
        self._fd: int | None = None
        self._times: _CopiedTimes | None = None
        self.origin = self._borne_out(origin)

    @property
    def size(self) -> int:
        """The bytes in the copy. Raise `OSError` if the copy no longer exists."""
        return (os.stat(self.path, follow_symlinks=False) if self._fd is None else os.fstat(self._fd)).st_size

    @property
    def have(self) -> int:
        """The offset in the recording of the first byte that the copy does not have."""
        return (self.origin.base or 0) + self.size

    @property
    def lost(self) -> int:
        """The number of bytes that the copy has lost because its file was cut."""
        return max(self.origin.size - self.size, 0)

    def hold(self) -> bool:
        """Become or stay the one that fills the copy; return False if another process does."""
        if self._fd is not None:
            return True
        fd = _opened_for_writing(self.path)
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(fd)
            return False
        except OSError:  # a file system without locks: two copies of the same bytes would be mixed
            os.close(fd)
            raise
        try:
            self._times = _CopiedTimes(_opened_for_writing(SessionFiles(self.path).times))
        except OSError:
            os.close(fd)
            raise
        self._fd = fd
        self.refresh()
        return True

    def refresh(self) -> Origin:
        """Read the origin again, which another process may have changed, and return it."""
        with suppress(OSError):
            self.origin = self._borne_out(_read_origin(self._origin_fd) or self.origin)
        return self.origin

    def is_altered(self) -> bool:
        """Return whether a complete copy has other bytes than when it was completed."""
        return self.origin.is_complete and self.digest().hexdigest() != self.origin.sha256

    def begin_at(self, offset: int) -> None:
        """Note that the first byte of the copy is the one at an offset of the recording."""
        self.note(self.origin._replace(base=offset))
        if offset and self._times is not None:
            self._times.write((), [(0, offset)])

    def append(self, data: bytes | memoryview, seen: Iterable[Pair], gaps: Iterable[Pair]) -> None:
        """Write arrival times (offset in the copy, ms since the epoch), gaps (offset, missing bytes) and then
        the bytes. Raise `OSError` if not all can be written."""
        assert self._fd is not None
        assert self._times is not None
        self._times.write(seen, gaps)
        write_all(self._fd, data)

    def digest(self) -> hashlib._Hash:
        """Return the SHA-256 of the copy. Raise `OSError` if it cannot be read."""
        with open(self.path, "rb") as file:
            return hashlib.file_digest(file, "sha256")

    def sync(self) -> None:
        assert self._fd is not None
        assert self._times is not None
        os.fsync(self._fd)
        os.fsync(self._times.fd)

    def note(self, origin: Origin) -> None:
        origin = origin._replace(size=max(origin.size, self.size))
        _write_origin(self._origin_fd, origin)
        self.origin = origin

    def release(self) -> None:
        """Stop to fill the copy; others that use it may continue."""
        if self._times is not None:
            os.close(self._times.fd)
            self._times = None
        if self._fd is not None:
            release(self._fd)
            os.close(self._fd)
            self._fd = None

    def close(self) -> None:
        """Stop to use the copy, and remove it if it has no bytes."""
        self.release()
        with suppress(OSError):
            if not self.origin.is_complete and self.size == 0:
                remove(self.path, self._origin_fd)
        os.close(self._origin_fd)

    def _borne_out(self, origin: Origin) -> Origin:
        """Return the part of an origin that is true: a copy that was cut is read on from its end."""
        if self.size >= origin.size:
            return origin
        return origin._replace(is_complete=False, sequence=0)


def new_copy(folder: Path, address: str, session: str, host: str = "") -> LocalCopy:
    """Create an empty copy in a private folder, which is created if necessary."""
    files = new_session_files(folder)
    path = files.recording
    origin = Origin(address, session, host=host)
    for each in (path, files.times):
        os.close(create_file(each))
    fd = create_file(path.with_suffix(SUFFIX))
    os.close(fd)
    fd = os.open(path.with_suffix(SUFFIX), _CHANGE & ~os.O_APPEND)  # pwrite(2) on Linux would append
    fcntl.flock(fd, fcntl.LOCK_SH)
    _write_origin(fd, origin)
    return LocalCopy(path, fd, origin)


def used_copy(path: Path) -> LocalCopy | None:
    try:
        origin_fd = os.open(path.with_suffix(SUFFIX), _CHANGE & ~os.O_APPEND)
    except OSError:
        return None
    try:
        fcntl.flock(origin_fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
        origin = _read_origin(origin_fd)
        os.close(open_regular(path))
        if origin is not None and is_at(path.with_suffix(SUFFIX), origin_fd):
            return LocalCopy(path, origin_fd, origin)
    except OSError:
        pass
    os.close(origin_fd)
    return None


def remove(path: Path, origin_fd: int) -> bool:
    """Remove all files of a copy, unless somebody else uses it; return whether it is removed."""
    try:
        fcntl.flock(origin_fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    for each in (path.with_suffix(SUFFIX), *SessionFiles(path).every):
        with suppress(FileNotFoundError):
            each.unlink()
    return True


def _opened_for_writing(path: Path) -> int:
    fd = os.open(path, _CHANGE)
    if not is_at(path, fd):
        os.close(fd)
        raise OSError(errno.EINVAL, "it was moved, replaced or linked", str(path))
    return fd


SESSION_BYTES = 1 << 28
_ALL_BYTES = 2 << 30
_FREE_BYTES = 1 << 30
"""A copy never takes the last GiB of a disk."""
_MOST_COPIES = 2000
"""The most copies. Finding one reads the origins of all: 30 ms for this number."""


class Limits(NamedTuple):
    session: int = SESSION_BYTES
    all: int = _ALL_BYTES
    free: int = _FREE_BYTES


class Copies:
    def __init__(self, environ: Mapping[str, str], limits: Limits | None = None) -> None:
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
                if (origin := _read_origin(fd)) is not None:
                    found.append((path, origin))
            except OSError:
                pass
            finally:
                os.close(fd)
        return found

    def find(self, address: str, session: str) -> LocalCopy | None:
        """Open a copy of a session that was not altered: a complete or else the largest one; None without
        one."""
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
        """Create an empty copy of a session, after removing old ones if they are too many."""
        with suppress(OSError):
            self.has_room(0)
        return new_copy(self.folder, address, session, host)

    def has_room(self, more: int) -> bool:
        """Return whether the copies may grow by `more` bytes, after removing unused old ones if they must."""
        sizes = [(path, sum(map(_size, SessionFiles(path).every))) for path in self._paths()]
        total, count = sum(size for _, size in sizes) + more, len(sizes)
        for path, size in reversed(sizes):
            if total <= self.limits.all and count < _MOST_COPIES:
                break
            if _removed(path):
                total, count = total - size, count - 1
        disk = os.statvfs(self.folder if self.folder.exists() else self.folder.parent)
        return total <= self.limits.all and disk.f_bavail * disk.f_frsize >= self.limits.free + more

    def _paths(self) -> Iterator[Path]:
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


# A piece is taken if it begins at or before the end of the copy and reaches beyond it. All others are
# ignored, so repeated or reordered pieces do no harm.


class Step(Enum):
    TAKEN = "taken"
    PASSED = "passed"
    """The copy has all of its bytes, or it can be of no use."""
    AHEAD = "ahead"
    TOO_LARGE = "too large"
    """The copy would be larger than a session may be."""
    COMPLETE = "complete"
    DIFFERENT = "different"
    """The recording has ended, and the copy has other bytes."""


class Rule:
    """Puts the pieces of one session into a copy that this process fills."""

    def __init__(self, copy: LocalCopy, most_bytes: int) -> None:
        self.missing = 0
        """The number of missing bytes before the last piece that was ahead."""
        self._copy = copy
        self._most_bytes = most_bytes
        self._line_start = 0
        """The beginning of a line behind one whose own beginning is not kept; 0 if no such place is known."""

    def take(self, chunk: Chunk) -> Step:
        """Put the bytes of a chunk that the copy does not have into it, with their arrival times. Raise
        `OSError` if they cannot be written; a part of them may be."""
        if not (
            0 < len(chunk.payload) <= MESSAGE_BYTES and 0 <= chunk.offset < LARGEST_NUMBER - MESSAGE_BYTES
        ):
            return Step.PASSED
        if self._copy.origin.base is None:
            start = self._first(chunk)
            if start is None:
                return Step.PASSED
            self._copy.begin_at(chunk.offset + start)
        have, base = self._copy.have, self._copy.origin.base or 0
        if chunk.offset > have:
            self.missing = chunk.offset - have
            return Step.AHEAD
        if chunk.end <= have:
            return Step.PASSED
        if chunk.end - base > self._most_bytes:
            return Step.TOO_LARGE
        data = memoryview(chunk.payload)[have - chunk.offset :]
        self._copy.append(data, _seen(chunk, have, base), _within(chunk.gaps, have, chunk.end, base))
        return Step.TAKEN

    def end(self, ended: Ended) -> Step:
        """Compare the copy with the ended recording. Raise `OSError` if it cannot be read or synced."""
        copy, have = self._copy, self._copy.have
        if ended.size > have:
            self.missing = ended.size - have
            return Step.AHEAD
        if copy.origin.base is None:
            copy.begin_at(0)
        digest, is_whole = copy.digest().hexdigest(), not copy.origin.base
        known = copy.origin._replace(sha256=digest, exit_code=ended.exit_code)
        if ended.size < have or (is_whole and digest != ended.sha256):
            copy.note(known._replace(differs=True))
            return Step.DIFFERENT
        copy.sync()  # after a power loss, a complete copy must have its bytes
        copy.note(known._replace(is_complete=True))
        return Step.COMPLETE

    def _first(self, chunk: Chunk) -> int | None:
        """Return where the copy begins in a first chunk; None if no line is known to be whole. The beginning
        of the recording may not be kept, so that the first chunk begins within a line."""
        if chunk.offset in (0, self._line_start):
            return 0
        line, newline, rest = chunk.payload.partition(b"\n")
        if newline and object_of(line) is not None:  # the rest of a line never is one
            return 0
        if rest:
            return len(line) + 1
        self._line_start = chunk.end if newline else 0
        return None


def _seen(chunk: Chunk, have: int, base: int) -> list[Pair]:
    """Return the arrival times of the bytes from `have` on, by their offsets in the copy."""
    seen = _within(chunk.seen, have, chunk.end, base)
    if have == base and not (seen and seen[0][0] == 0):
        before = [epoch_ms for offset, epoch_ms in chunk.seen if offset < have]
        return [(0, before[-1]), *seen] if before else seen
    return seen


def _within(pairs: tuple[Pair, ...], have: int, end: int, base: int) -> list[Pair]:
    return [(offset - base, number) for offset, number in pairs if have <= offset < end]
