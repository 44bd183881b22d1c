"""The paths of recordings, and the creation of their files.

A file is always new, only the user may read it, and no link is followed.
"""

from __future__ import annotations

import errno
import os
import time
from pathlib import Path
from typing import NamedTuple

_CREATE = (
    os.O_CREAT
    | os.O_EXCL
    | os.O_RDWR
    | os.O_APPEND
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_CLOEXEC", 0)
)
_SUFFIXES = (".times", ".log", ".stderr", ".crash", ".json")


class SessionFiles(NamedTuple):
    """The files of one session, which share a stem and differ in their suffix."""

    recording: Path

    @property
    def times(self) -> Path:
        """The arrival times."""
        return self._beside(".times")

    @property
    def log(self) -> Path:
        """The action log."""
        return self._beside(".log")

    @property
    def stderr(self) -> Path:
        """The standard error of the agent."""
        return self._beside(".stderr")

    @property
    def crash(self) -> Path:
        """The traceback of an internal error."""
        return self._beside(".crash")

    @property
    def process(self) -> Path:
        """The agent's command, working directory, process id, times and exit code, as JSON."""
        return self._beside(".json")

    def _beside(self, suffix: str) -> Path:
        """Return the path beside the recording with another suffix.

        The suffix is appended if the recording itself has one of these suffixes, so that nothing overwrites
        it.
        """
        path = self.recording
        return path.with_name(path.name + suffix) if path.suffix in _SUFFIXES else path.with_suffix(suffix)


def sessions_folder() -> Path:
    """Return the folder of saved sessions, which may not exist yet."""
    home = os.environ.get("AGENTWATCH_HOME")
    if home:
        return Path(home) / "sessions"
    from platformdirs import user_state_path

    return user_state_path("agentwatch", appauthor=False) / "sessions"


def new_session_files() -> SessionFiles:
    """Return paths for a new session in the private sessions folder, which is created if necessary.

    The stem consists of the local time and random bits.

    Raises:
        OSError: The folder cannot be created, or belongs to another user.
    """
    folder = sessions_folder()
    for parent in reversed([folder, *folder.parents]):
        parent.mkdir(mode=0o700, exist_ok=True)  # `parents=True` would ignore `mode` for the parents
    status = folder.stat()
    if status.st_uid != os.geteuid():
        raise PermissionError(errno.EPERM, "it belongs to another user", str(folder))
    if status.st_mode & 0o077:
        folder.chmod(0o700)
    now_ns = time.time_ns()
    second = time.strftime("%Y%m%d-%H%M%S", time.localtime(now_ns // 10**9))
    stem = f"{second}-{now_ns // 10**6 % 1000:03}{os.urandom(3).hex()}"
    return SessionFiles(folder / f"{stem}.ndjson")


def saved_recordings() -> list[Path]:
    """Return the saved recordings, newest first."""
    try:
        found = list(sessions_folder().glob("*.ndjson"))
    except OSError:
        return []
    return sorted(found, reverse=True)


def create_file(path: Path) -> int:
    """Create a file that only the user may read, and return its descriptor, which is in append mode.

    Raises:
        OSError: The path exists, even as a dangling link, or the file cannot be created.
    """
    return os.open(path, _CREATE, 0o600)


def is_at(path: Path, fd: int) -> bool:
    """Return whether `path` is the only name of the file open at `fd`.

    The agent may write in the same folder and may have replaced, moved or linked the file.
    """
    try:
        named, opened = os.stat(path, follow_symlinks=False), os.fstat(fd)
    except OSError:
        return False
    return os.path.samestat(named, opened) and opened.st_nlink == 1


def nameless_file() -> int:
    """Create a file without a name, and return its descriptor, which is in append mode.

    Closing the descriptor removes the file.

    Raises:
        OSError: No file can be created in the temporary folder.
    """
    import tempfile

    fd, name = tempfile.mkstemp(prefix="agentwatch-")
    os.close(fd)
    try:
        return os.open(name, os.O_RDWR | os.O_APPEND | getattr(os, "O_CLOEXEC", 0))
    finally:
        os.unlink(name)
