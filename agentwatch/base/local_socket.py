"""The socket on which an open list is asked, and who is at its other end.

A hook imports this module when an agent waits, so it imports only what a socket needs.
"""

from __future__ import annotations

import _socket  # built in; `socket` takes as long to import as Python to start
import os
import stat
import struct

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


def require_private(folder: str) -> None:
    """Check that only this user can use a folder, and that it is not a link.

    Raises:
        OSError: It does not exist, or is open to others.
    """
    status = os.lstat(folder)
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.geteuid() or status.st_mode & 0o077:
        raise PermissionError(1, "other users can write in it, or it is a link", folder)


def connect(folder: str) -> _socket.socket:
    """Return a connection to the open list, once the list has greeted.

    Args:
        folder: The folder of the socket, which becomes the working directory. A path of over 100 bytes does
            not fit into the address of a socket.

    Raises:
        OSError: No list is open, or it hangs, is not one of this user, or has another version.
    """
    require_private(folder)
    os.chdir(folder)
    connection = _socket.socket(_socket.AF_UNIX)
    try:
        connection.settimeout(_GREETING_SECONDS)
        connection.connect(NAME)
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
    """Return the user at the other end of a socket; None if the system does not say it."""
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
    """Return whether the process at the other end of a socket is one of this user."""
    return peer_uid(connection) == os.geteuid()
