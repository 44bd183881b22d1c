"""The socket on which an open list is asked, and who is at its other end.

A hook imports this module when an agent waits, so it imports only what a socket needs.
"""

from __future__ import annotations

import os
import socket
import stat
import struct

NAME = "list.sock"
"""The name of the socket in its folder."""
BEAT_SECONDS = 0.5
"""How often the list shows that it works, by a line feed to each client and by the time of the socket."""
MOST_SILENT_SECONDS = 3.0
"""A list that was silent for longer hangs."""
MOST_BYTES = 50 << 20
"""A longer line is not read. Each byte of an input may take six in JSON."""
VERSION = 1
"""The version of the messages, which the first line of the list names."""
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


def peer_uid(connection: socket.socket) -> int | None:
    """Return the user at the other end of a socket; None if the system does not say it."""
    try:
        if hasattr(socket, "SO_PEERCRED"):
            size = struct.calcsize("3i")
            _, uid, _ = struct.unpack(
                "3i", connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, size)
            )
            return int(uid)
        version, uid = struct.unpack_from(_XUCRED, connection.getsockopt(0, _LOCAL_PEERCRED, 128))
    except (OSError, struct.error):
        return None
    return None if version else int(uid)


def is_own_peer(connection: socket.socket) -> bool:
    """Return whether the process at the other end of a socket is one of this user."""
    return peer_uid(connection) == os.geteuid()
