"""One local copy: its files, who uses it, and who fills it.

Everyone who uses a copy holds a shared lock on `STEM.origin`, so that it is not removed meanwhile. The one
that fills it also holds the lock on the recording that every writer of a recording holds.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from agentwatch.engine.chunk import Pair
from agentwatch.recording import SessionFiles, create_file, is_at, new_session_files, open_regular, release
from agentwatch.remote.copies.origin import Origin, read_origin, write_origin
from agentwatch.remote.copies.times import CopiedTimes

SUFFIX = ".origin"
_CHANGE = os.O_RDWR | os.O_APPEND | os.O_NONBLOCK | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)


class LocalCopy:
    """A copy that this process uses. Its thread alone fills it."""

    def __init__(self, path: Path, origin_fd: int, origin: Origin) -> None:
        """Use a copy whose lock is held; `new_copy` and `used_copy` do that.

        Args:
            path: The recording.
            origin_fd: The file of its origin, with a shared lock.
            origin: What the file contains.
        """
        self.path = path
        self._origin_fd = origin_fd
        self._fd: int | None = None
        self._times: CopiedTimes | None = None
        self.origin = self._borne_out(origin)

    @property
    def size(self) -> int:
        """The bytes in the copy.

        Raises:
            OSError: The copy is gone.
        """
        return (os.stat(self.path, follow_symlinks=False) if self._fd is None else os.fstat(self._fd)).st_size

    @property
    def have(self) -> int:
        """The offset in the recording of the first byte that the copy does not have."""
        return (self.origin.base or 0) + self.size

    @property
    def lost(self) -> int:
        """How many bytes the copy had once, and does not have now: its file was cut."""
        return max(self.origin.size - self.size, 0)

    @property
    def is_held(self) -> bool:
        """Whether this process fills the copy."""
        return self._fd is not None

    def hold(self) -> bool:
        """Become the one that fills the copy; return False if another process does.

        Raises:
            OSError: The files cannot be opened.
        """
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
            self._times = CopiedTimes(_opened_for_writing(SessionFiles(self.path).times))
        except OSError:
            os.close(fd)
            raise
        self._fd = fd
        self.refresh()
        return True

    def refresh(self) -> Origin:
        """Read the origin again, which another process may have changed, and return it."""
        with suppress(OSError):
            self.origin = self._borne_out(read_origin(self._origin_fd) or self.origin)
        return self.origin

    def is_altered(self) -> bool:
        """Return whether a complete copy has other bytes than when it was completed.

        Raises:
            OSError: It cannot be read.
        """
        return self.origin.is_complete and self.digest().hexdigest() != self.origin.sha256

    def begin_at(self, offset: int) -> None:
        """Note that the first byte of the copy is the one at an offset of the recording.

        Raises:
            OSError: It cannot be written.
        """
        self.note(self.origin._replace(base=offset))
        if offset and self._times is not None:
            self._times.write((), [(0, offset)])

    def append(self, data: bytes | memoryview, seen: Iterable[Pair], gaps: Iterable[Pair]) -> None:
        """Write arrival times, and then the bytes.

        Args:
            data: The bytes.
            seen: Offsets in the copy, and times in milliseconds since the epoch.
            gaps: Offsets in the copy, and numbers of bytes that are missing before them.

        Raises:
            OSError: They cannot be written; a part of them may be.
        """
        assert self._fd is not None
        assert self._times is not None
        self._times.write(seen, gaps)
        rest = memoryview(data)
        while rest:
            rest = rest[os.write(self._fd, rest) :]

    def digest(self) -> hashlib._Hash:
        """Return the SHA-256 of the copy.

        Raises:
            OSError: It cannot be read.
        """
        with open(self.path, "rb") as file:
            return hashlib.file_digest(file, "sha256")

    def sync(self) -> None:
        """Wait until the disk has the bytes and the times.

        Raises:
            OSError: The disk cannot write them.
        """
        assert self._fd is not None
        assert self._times is not None
        os.fsync(self._fd)
        self._times.sync()

    def note(self, origin: Origin) -> None:
        """Write what is known about the copy, and its size.

        Raises:
            OSError: It cannot be written.
        """
        origin = origin._replace(size=max(origin.size, self.size))
        write_origin(self._origin_fd, origin)
        self.origin = origin

    def release(self) -> None:
        """Stop to fill the copy; others that use it may go on."""
        if self._times is not None:
            self._times.close()
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
        """Return an origin as far as it is true: a copy that was cut is read on from its end."""
        if self.size >= origin.size:
            return origin
        return origin._replace(is_complete=False, sequence=0)


def new_copy(folder: Path, address: str, session: str, host: str = "") -> LocalCopy:
    """Create an empty copy in a private folder.

    Args:
        folder: The folder, which is created if necessary.
        address: The engine or the host.
        session: The session there.
        host: The name of the machine, if it is known.

    Raises:
        OSError: A file cannot be created.
    """
    files = new_session_files(folder)
    path = files.recording
    origin = Origin(address, session, host=host)
    for each in (path, files.times):
        os.close(create_file(each))
    fd = create_file(path.with_suffix(SUFFIX))
    os.close(fd)
    fd = os.open(path.with_suffix(SUFFIX), _CHANGE & ~os.O_APPEND)  # pwrite(2) on Linux would append
    fcntl.flock(fd, fcntl.LOCK_SH)
    write_origin(fd, origin)
    return LocalCopy(path, fd, origin)


def used_copy(path: Path) -> LocalCopy | None:
    """Use an existing copy; None if its files are broken, foreign, or are being removed.

    Args:
        path: Its recording.
    """
    try:
        origin_fd = os.open(path.with_suffix(SUFFIX), _CHANGE & ~os.O_APPEND)
    except OSError:
        return None
    try:
        fcntl.flock(origin_fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
        origin = read_origin(origin_fd)
        os.close(open_regular(path))
        if origin is not None and is_at(path.with_suffix(SUFFIX), origin_fd):
            return LocalCopy(path, origin_fd, origin)
    except OSError:
        pass
    os.close(origin_fd)
    return None


def remove(path: Path, origin_fd: int) -> bool:
    """Remove all files of a copy, unless somebody else uses it; return whether it is removed.

    Args:
        path: Its recording.
        origin_fd: The open file of its origin.

    Raises:
        OSError: A file cannot be removed.
    """
    try:
        fcntl.flock(origin_fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    for each in (path.with_suffix(SUFFIX), *SessionFiles(path).every):
        with suppress(FileNotFoundError):
            each.unlink()
    return True


def _opened_for_writing(path: Path) -> int:
    """Open a file of a copy for reading and appending.

    Raises:
        OSError: It cannot be opened, or is not a regular file that has this name alone.
    """
    import errno

    fd = os.open(path, _CHANGE)
    if not is_at(path, fd):
        os.close(fd)
        raise OSError(errno.EINVAL, "it was moved, replaced or linked", str(path))
    return fd
