"""Opens files that an agent of this user has written."""

from __future__ import annotations

import errno
import os
from pathlib import Path

from agentwatch.recording import open_regular


def open_own(path: Path) -> int:
    """Open a regular file of this user for reading.

    Raises:
        OSError: It cannot be opened, is a link or no regular file, or belongs to another user.
    """
    fd = open_regular(path)
    if hasattr(os, "geteuid") and os.fstat(fd).st_uid != os.geteuid():
        os.close(fd)
        raise PermissionError(errno.EPERM, "it belongs to another user", str(path))
    return fd
