"""The name that the user gives a saved session, in its `STEM.json`, beside what `run` writes there."""

from __future__ import annotations

import errno
import os
from contextlib import suppress
from pathlib import Path
from typing import Any

from agentwatch.recording.saved_process import MOST_BYTES
from agentwatch.recording.saved_sessions.description import NAME, replace_object
from agentwatch.recording.saved_sessions.stems import session_files
from agentwatch.recording.store import create_file, open_regular, read_object

MOST_NAME = 200
"""Characters."""
_OPEN = os.O_RDWR | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC


def read_name(process: Path) -> str:
    """Return the name that the user has given a session; empty without a name. It is foreign text.

    Args:
        process: The path of its `STEM.json`.
    """
    try:
        name = read_object(open_regular(process), MOST_BYTES).get(NAME)
    except OSError:
        return ""
    return name[:MOST_NAME] if isinstance(name, str) else ""


def rename_session(recording: Path, name: str) -> None:
    """Give a saved session a name, which its recording and its files do not depend on.

    The other keys of `STEM.json` stay as they are, also while `run` writes them.

    Args:
        recording: The path of the recording.
        name: The name; an empty one removes the present one.

    Raises:
        OSError: The session was not saved by agentwatch, its recording is gone, `STEM.json` is not a file of
            this user, or it cannot be written.
    """
    files = session_files(recording)
    os.close(open_regular(files.recording))
    given = " ".join(name.encode("utf-8", "replace").decode().split())[:MOST_NAME]

    def named(described: dict[str, Any] | None) -> dict[str, Any]:
        if described is None:
            raise OSError(errno.EINVAL, "it does not describe a session", str(files.process))
        others = {key: value for key, value in described.items() if key != NAME}
        return others | {NAME: given} if given else others

    with suppress(FileExistsError):
        os.close(create_file(files.process))
    fd = os.open(files.process, _OPEN)
    try:
        if os.fstat(fd).st_uid != os.geteuid():
            raise PermissionError(errno.EPERM, "it belongs to another user", str(files.process))
        replace_object(fd, named)
    finally:
        os.close(fd)
