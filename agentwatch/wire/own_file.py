"""Opens files that an agent of this user has written, and reads the small ones."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Any

from agentwatch.recording import open_regular
from agentwatch.wire.json_line import parse


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


def own_object(path: Path, most_bytes: int) -> dict[str, Any]:
    """Return the JSON object in a small file of this user; {} if it contains none.

    An agent that cuts a title inside an emoji writes half a surrogate pair, which U+FFFD replaces.

    Args:
        path: The file.
        most_bytes: Only the first bytes are read; an object that is longer counts as none.

    Raises:
        OSError: It cannot be read, or is not a regular file of this user.
    """
    fd = open_own(path)
    try:
        value = parse(os.pread(fd, most_bytes, 0))
    except ValueError:
        return {}
    finally:
        os.close(fd)
    return value if isinstance(value, dict) else {}
