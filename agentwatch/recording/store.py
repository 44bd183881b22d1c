"""The paths of recordings, the creation and opening of their files, and the replacing of small ones. A file
is always new, only the user may read it, and no link is followed.
"""

import errno
import fcntl
import os
import re
import stat
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from agentwatch.base.clock import wall_ns
from agentwatch.base.files import state_folder, write_all
from agentwatch.base.json_fields import object_of

_CREATE = (
    os.O_CREAT
    | os.O_EXCL
    | os.O_RDWR
    | os.O_APPEND
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_CLOEXEC", 0)
)
_OPEN = os.O_RDONLY | os.O_NONBLOCK | getattr(os, "O_NOCTTY", 0) | getattr(os, "O_CLOEXEC", 0)
"""O_NONBLOCK: opening a FIFO would wait for a writer. It has no effect on a regular file."""
_TOO_LARGE = 1 << 62
_ID = re.compile(r"[A-Za-z0-9_-]{1,255}")
_SUFFIXES = (".times", ".log", ".stderr", ".crash", ".json", ".index", ".ship", ".alarms", ".acts", ".sent")


class SessionFiles(NamedTuple):
    """They share a stem and differ in their suffix."""

    recording: Path

    @property
    def times(self) -> Path:
        return self._beside(".times")

    @property
    def sent(self) -> Path:
        """What `acp` recorded of the other direction: what the agent was sent."""
        return self._beside(".sent")

    @property
    def log(self) -> Path:
        return self._beside(".log")

    @property
    def stderr(self) -> Path:
        return self._beside(".stderr")

    @property
    def crash(self) -> Path:
        return self._beside(".crash")

    @property
    def process(self) -> Path:
        """The agent's command, working directory, process id, times and exit code, as JSON."""
        return self._beside(".json")

    @property
    def old_index(self) -> Path:
        """What version 0.2.0 kept of a large recording. Nothing reads it; it is deleted with the session."""
        return self._beside(".index")

    @property
    def bookmarks(self) -> Path:
        return self._beside(".bookmarks.json")

    @property
    def alarms(self) -> Path:
        return self._beside(".alarms")

    @property
    def acts(self) -> Path:
        """What the user did to the session through agentwatch."""
        return self._beside(".acts")

    @property
    def shipped(self) -> Path:
        """How much of the recording an engine has, as JSON."""
        return self._beside(".ship")

    @property
    def every(self) -> tuple[Path, ...]:
        """The recording first."""
        return (
            *(self.recording, self.sent, self.times, self.log, self.stderr),
            *(self.crash, self.process, self.old_index, self.bookmarks, self.shipped, self.alarms, self.acts),
        )

    def _beside(self, suffix: str) -> Path:
        """Append the suffix if the recording itself has one of them, so that nothing overwrites it."""
        path = self.recording
        return path.with_name(path.name + suffix) if path.suffix in _SUFFIXES else path.with_suffix(suffix)


def sessions_folder(environ: Mapping[str, str] = os.environ) -> Path:
    """Return the folder, which may not exist yet. AGENTWATCH_HOME in `environ` may name its parent."""
    return state_folder(environ) / "sessions"


def new_session_files(folder: Path | None = None) -> SessionFiles:
    """Name files in a private folder, by default that of saved sessions, by the time and random bits."""
    folder = folder or sessions_folder()
    private_folder(folder)
    now_ns = wall_ns()
    second = time.strftime("%Y%m%d-%H%M%S", time.localtime(now_ns // 10**9))
    stem = f"{second}-{now_ns // 10**6 % 1000:03}{os.urandom(3).hex()}"
    return SessionFiles(folder / f"{stem}.ndjson")


def private_folder(folder: Path) -> None:
    """Create it if necessary. Raise `OSError` if it is a link, or belongs to another user."""
    for parent in reversed([folder, *folder.parents]):
        try:
            parent.mkdir(mode=0o700, exist_ok=True)  # `parents=True` would ignore `mode` for the parents
        except FileExistsError:
            raise _not_a_folder(parent) from None
    fd = open_folder(folder)
    try:
        status = os.fstat(fd)
        if status.st_uid != os.geteuid():
            raise PermissionError(errno.EPERM, "it belongs to another user", str(folder))
        if status.st_mode & 0o077:
            os.fchmod(fd, 0o700)
    finally:
        os.close(fd)


def saved_recordings() -> list[Path]:
    """Newest first; none if their folder does not exist."""
    folder = sessions_folder()
    try:
        fd = open_folder(folder)
    except FileNotFoundError:
        return []
    try:
        names = os.listdir(fd)
    finally:
        os.close(fd)
    return [folder / name for name in sorted(names, reverse=True) if name.endswith(".ndjson")]


def open_regular(
    path: str | Path, *, follow_links: bool = False, is_own: bool = False, folder_fd: int | None = None
) -> int:
    """Open a path that the user has not named: opening a FIFO could wait for ever, and a device could be read
    without end. `follow_links` allows a link to a regular file, `is_own` only a file of this user. Raise
    `OSError` for anything else."""
    fd = os.open(path, _OPEN | (0 if follow_links else getattr(os, "O_NOFOLLOW", 0)), dir_fd=folder_fd)
    found = os.fstat(fd)
    if not stat.S_ISREG(found.st_mode):
        os.close(fd)
        raise OSError(errno.EINVAL, "not a regular file", str(path))
    if is_own and hasattr(os, "geteuid") and found.st_uid != os.geteuid():
        os.close(fd)
        raise PermissionError(errno.EPERM, "it belongs to another user", str(path))
    return fd


def open_own(path: Path, *, folder_fd: int | None = None) -> int:
    return open_regular(path, is_own=True, folder_fd=folder_fd)


def is_foreign_id(name: str) -> bool:
    """Whether a name in a file of another program has the form of an id, and no meaning in a path."""
    return _ID.fullmatch(name) is not None


def within(root: Path, *names: str) -> Path | None:
    """A path of names that a file of another program contains. None if one is not that of an entry of a
    folder, or a link leads out of the folder."""
    path = root.joinpath(*names)
    is_plain = all(name not in ("", ".", "..") and "/" not in name for name in names)
    try:
        is_inside = Path(os.path.realpath(path)).is_relative_to(os.path.realpath(root))
    except ValueError:  # a NUL, or half a surrogate pair
        return None
    return path if is_plain and is_inside else None


def version_at(path: Path) -> tuple[int, ...] | None:
    """What differs once the file has changed; None if it does not exist."""
    try:
        found = os.stat(path, follow_symlinks=False)
    except OSError:
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns


def read_object(fd: int, most_bytes: int) -> dict[str, Any]:
    """The object in a file, which is closed; {} if it contains none within `most_bytes`."""
    try:
        return object_of(os.pread(fd, most_bytes, 0)) or {}
    except OSError:
        return {}
    finally:
        os.close(fd)


def own_objects(path: Path, most_bytes: int, *, newest: bool = False) -> Iterator[dict[str, Any]]:
    """Yield the object of each line of a file of this user; none if it cannot be read. Other lines are
    ignored. Only the first `most_bytes` are read, or the last ones for `newest`."""
    try:
        fd = open_own(path)
    except OSError:
        return
    try:
        begin = max(os.fstat(fd).st_size - most_bytes, 0) if newest else 0
        data = os.pread(fd, most_bytes, begin)
    except OSError:
        return
    finally:
        os.close(fd)
    yield from (value for value in map(object_of, data.split(b"\n")) if value is not None)


def natural(value: object) -> int | None:
    """An integer in foreign JSON from 0 to 62 bits; None for anything else."""
    return value if type(value) is int and 0 <= value < _TOO_LARGE else None


def writable(text: str, most: int) -> str:
    """Cut a text, and remove lone surrogates, which JSON does not have."""
    return text[:most].encode("utf-8", "replace").decode()


def create_file(path: Path) -> int:
    """Open a new file in append mode. Raise `OSError` if the path exists, even as a dangling link."""
    return os.open(path, _CREATE, 0o600)


def is_at(path: Path, fd: int) -> bool:
    """Whether `path` is the only name of the file, which the agent may have replaced, moved or linked."""
    try:
        named, opened = os.stat(path, follow_symlinks=False), os.fstat(fd)
    except OSError:
        return False
    return os.path.samestat(named, opened) and opened.st_nlink == 1


_MOST_SECONDS = 0.5
_RETRY_SECONDS = 0.005
_LEFT_NS = 60 * 10**9
"""On a file system without locks, an unfinished file of this age was left by a killed process."""


def replace_file(
    path: Path, content: Callable[[], bytes], mode: int = 0o600, *, is_lasting: bool = True
) -> None:
    """Replace a small file as a whole, while no other process of ours does the same. The unfinished file
    `.NAME.agentwatch` is the lock; the next change removes one that a killed process has left. `content`,
    called under it, can read what another process has just written. If others hold it for half a second, an
    OSError says so. With `is_lasting`, a power cut leaves the old file or the new one."""
    new = path.with_name(f".{path.name}.agentwatch")
    fd = _unfinished(new)
    try:
        os.fchmod(fd, mode)
        write_all(fd, content())
        if is_lasting:
            os.fsync(fd)
        new.replace(path)
    except BaseException:  # also a signal: the unfinished file is the lock; it is raised again
        with suppress(OSError):
            new.unlink()
        raise
    finally:
        os.close(fd)
    if is_lasting:
        with suppress(OSError):  # some file systems cannot sync a folder
            folder_fd = os.open(path.parent, _OPEN)
            try:
                os.fsync(folder_fd)
            finally:
                os.close(folder_fd)


def _unfinished(path: Path) -> int:
    """Open the unfinished file, once no other process has one."""
    until = time.monotonic() + _MOST_SECONDS
    while True:
        with suppress(FileExistsError):
            fd = create_file(path)
            if lock(fd) is not False and is_at(path, fd):
                return fd
            os.close(fd)  # another process took it for one that was left
        with suppress(FileNotFoundError):
            fd = open_regular(path)
            try:
                is_left = lock(fd)
                if is_left is None:
                    is_left = abs(wall_ns() - os.fstat(fd).st_mtime_ns) > _LEFT_NS
                if is_left and is_at(path, fd):
                    path.unlink()
                    continue
            finally:
                os.close(fd)
        if time.monotonic() > until:
            raise OSError(errno.EAGAIN, "another program is changing it", str(path))
        time.sleep(_RETRY_SECONDS)


def lock(fd: int) -> bool | None:
    """Return False if another process has locked the file, None if it cannot be locked."""
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # ENOLCK, EOPNOTSUPP, EBADF: NFS and some others
        return None
    return True


def nameless_file() -> int:
    """Open a file without a name in append mode; closing it removes the file. On Linux it is in memory if no
    folder can be written, as in a container with a read-only root. Raise `OSError` if it can be created
    neither there nor in a temporary folder."""
    import tempfile

    try:
        fd, name = tempfile.mkstemp(prefix="agentwatch-")
    except OSError:
        if not hasattr(os, "memfd_create"):
            raise
        fd = os.memfd_create("agentwatch")
        fcntl.fcntl(fd, fcntl.F_SETFL, os.O_APPEND)
        return fd
    os.close(fd)
    try:
        return os.open(name, os.O_RDWR | os.O_APPEND | getattr(os, "O_CLOEXEC", 0))
    finally:
        os.unlink(name)


def open_folder(folder: Path) -> int:
    """Raise `OSError` if it does not exist, cannot be opened, is a link, or is not a folder."""
    if folder.is_symlink():
        raise _not_a_folder(folder)
    try:
        return os.open(folder, _OPEN | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_NOFOLLOW", 0))
    except NotADirectoryError:
        raise _not_a_folder(folder) from None


def _not_a_folder(path: Path) -> OSError:
    if path.is_symlink():
        return OSError(errno.ELOOP, "it is a link, which is not followed", str(path))
    return NotADirectoryError(errno.ENOTDIR, "it is a file, not a folder", str(path))
