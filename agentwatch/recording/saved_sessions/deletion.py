"""Deletes a saved session of our own."""

from __future__ import annotations

import errno
import os
from pathlib import Path

from agentwatch.recording.saved_process import read_process
from agentwatch.recording.saved_sessions.stems import opened_folder, own_file, session_files
from agentwatch.recording.store import SessionFiles, open_regular
from agentwatch.recording.write_lock import is_being_written


def delete_session(recording: Path, uid: int | None = None) -> int:
    """Delete all files of a saved session, and return their size in bytes.

    The recording is deleted first, so that no session is left without its times or its bookmarks. A file that
    somebody else has deleted meanwhile is no error. What is not a regular file of this user is left.

    Args:
        recording: The path of the recording.
        uid: The user; None for the user of this process.

    Raises:
        OSError: The session is still being recorded, was not saved by agentwatch, belongs to another user, or
            cannot be deleted.
    """
    files = session_files(recording)
    with opened_folder() as fd:
        _check(files, fd, uid)
        freed = 0
        problem: OSError | None = None
        for path in files.every:
            if (status := own_file(path.name, fd, uid)) is None:
                continue
            try:
                os.unlink(path.name, dir_fd=fd)
            except FileNotFoundError:
                continue
            except OSError as error:
                if path == files.recording:
                    raise
                problem = problem or error
            else:
                freed += status.st_size
    if problem is not None:
        raise problem
    return freed


def is_recorded(files: SessionFiles) -> bool:
    """Return whether a session is still being recorded; True if that cannot be checked.

    Raises:
        FileNotFoundError: It has no recording.
    """
    try:
        fd = open_regular(files.recording)
    except FileNotFoundError:
        raise
    except OSError:
        return True
    try:
        return is_being_written(fd, read_process(files.process))
    finally:
        os.close(fd)


def _check(files: SessionFiles, folder_fd: int, uid: int | None) -> None:
    """Check that a session may be deleted.

    Raises:
        OSError: It may not.
    """
    path = str(files.recording)
    try:
        os.stat(files.recording.name, dir_fd=folder_fd, follow_symlinks=False)
    except FileNotFoundError:
        return  # files without a recording
    if own_file(files.recording.name, folder_fd, uid) is None:
        raise PermissionError(errno.EPERM, "it is not a regular file of this user", path)
    try:
        if is_recorded(files):
            raise OSError(errno.EBUSY, "it is still being recorded", path)
    except FileNotFoundError:
        return
