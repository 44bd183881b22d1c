"""Unix sockets whose paths have any length, who is at their other end, and the one of an open list.

The address of a socket has room for 103 bytes. A longer path is reached through a link with a short path, in
a private folder that exists only during the system call. The socket itself stays at its path. Every system
has links, and the working directory, which the threads of a process share, is not changed.

A hook imports this module when an agent waits, so it imports only what a socket needs.
"""

from __future__ import annotations

import _socket  # built in; `socket` takes as long to import as Python to start
import errno
import os
import stat
import struct

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

NAME = "list.sock"
"""The name of the socket in its folder."""
BEAT_SECONDS = 0.5
"""How often the list shows that it works, by a line feed to each client."""
MOST_SILENT_SECONDS = 3.0
"""A list that was silent for longer hangs."""
MOST_BYTES = 50 << 20
"""A longer line is not read. Each byte of an input may take six in JSON."""
GREETING = b'{"agentwatch":1}\n'
"""The first line of the list. It names the version of the messages."""
_GREETING_SECONDS = 0.04
"""A list that has not greeted for longer hangs, and the hook of an agent ends within 0.05 s."""
_XUCRED = "=II"
"""The beginning of `struct xucred` of macOS and the BSDs: version and user; getpeereid reads the same."""
_LOCAL_PEERCRED = 1
_MOST_PATH = 103
"""The longest path in the address of a socket on macOS, before its final NUL; Linux allows 107 bytes."""
_MOST_PLACE = 60
"""The longest path of a folder for short paths: 20 bytes of our folder follow it, and 20 of a socket."""


def reach(connection: _socket.socket, path: str) -> None:
    """Raise `OSError` if no process listens there."""
    _with_short_path(path, 0, connection.connect)


def listen(listener: _socket.socket, path: str, most: int) -> None:
    """Listen where only this user may connect; a file that is there is replaced. The socket is made under
    another name, so it listens as soon as it is at the path. Raise `OSError` if it or a folder with a short
    path cannot be made."""
    folder = os.path.dirname(path) or "."
    name = f".{os.urandom(8).hex()}"
    made = f"{folder}/{name}"
    _with_short_path(folder, len(name) + 1, lambda short: listener.bind(f"{short}/{name}"))
    try:
        os.chmod(made, 0o600)
        listener.listen(most)
        os.rename(made, path)
    except OSError:
        _remove(made, os.unlink)
        raise


def short_folder() -> str:
    """Make a folder in TMPDIR or /tmp that only this user may use. Nobody can guess its name or move it.
    Raise `OSError`."""
    for place in (os.environ.get("TMPDIR", ""), "/tmp"):  # noqa: S108 - the name in it cannot be guessed
        if not place.startswith("/") or len(os.fsencode(place)) > _MOST_PLACE:
            continue
        folder = f"{place}/aw-{os.urandom(8).hex()}"
        try:
            if _is_safe(os.stat(place)):
                os.mkdir(folder, 0o700)
                return folder
        except OSError:
            continue
    reason = "its socket needs a folder with a short path: set TMPDIR to one of yours, of at most 60 bytes"
    raise OSError(errno.ENAMETOOLONG, reason)


def _with_short_path(path: str, more: int, use: Callable[[str], object]) -> None:
    """Use a path that has room for `more` bytes: this one, or a link to it."""
    if len(os.fsencode(path)) + more <= _MOST_PATH:
        use(path)
        return
    target = path if path.startswith("/") else f"{os.getcwd()}/{path}"
    folder = short_folder()
    link = f"{folder}/s"
    try:
        os.symlink(target, link)
        use(link)
    finally:
        _remove(link, os.unlink)
        _remove(folder, os.rmdir)


def _is_safe(place: os.stat_result) -> bool:
    """Whether nobody but root can move or replace what this user makes in a folder."""
    is_shared = place.st_mode & (stat.S_IWGRP | stat.S_IWOTH) and not place.st_mode & stat.S_ISVTX
    return place.st_uid in (0, os.geteuid()) and not is_shared


def _remove(path: str, remove: Callable[[str], None]) -> None:
    """Unless somebody else has."""
    try:  # noqa: SIM105 - contextlib takes longer to import than all that a hook needs
        remove(path)
    except OSError:
        pass


def require_private(folder: str) -> None:
    """Raise `OSError` unless a folder exists, only this user can use it, and it is not a link."""
    status = os.lstat(folder)
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.geteuid() or status.st_mode & 0o077:
        raise PermissionError(1, "other users can write in it, or it is a link", folder)


def connect(folder: str) -> _socket.socket:
    """Connect once the list has greeted. Raise `OSError` if none is open, or it hangs, is another user's, or
    has another version."""
    require_private(folder)
    connection = _socket.socket(_socket.AF_UNIX)
    try:
        connection.settimeout(_GREETING_SECONDS)
        reach(connection, f"{folder}/{NAME}")
        if not is_own_peer(connection):
            raise PermissionError(1, "the list is one of another user", folder)
        if connection.recv(len(GREETING)) != GREETING:
            raise ConnectionError("the list has ended, or has another version")
        connection.settimeout(MOST_SILENT_SECONDS)
    except OSError:
        connection.close()
        raise
    return connection


def peer_uid(connection: _socket.socket) -> int | None:
    """Return None if the system does not say it."""
    try:
        if hasattr(_socket, "SO_PEERCRED"):
            size = struct.calcsize("3i")
            _, uid, _ = struct.unpack(
                "3i", connection.getsockopt(_socket.SOL_SOCKET, _socket.SO_PEERCRED, size)
            )
            return int(uid)
        version, uid = struct.unpack_from(_XUCRED, connection.getsockopt(0, _LOCAL_PEERCRED, 128))
    except (OSError, struct.error):
        return None
    return None if version else int(uid)


def is_own_peer(connection: _socket.socket) -> bool:
    return peer_uid(connection) == os.geteuid()
