"""Which saved sessions are old enough to be deleted, if the user asks for it."""

from __future__ import annotations

import time
from pathlib import Path
from typing import NamedTuple

from agentwatch.recording.bookmarks.file import read_bookmarks
from agentwatch.recording.saved_sessions.deletion import is_recorded
from agentwatch.recording.saved_sessions.stems import SavedStem, saved_stems
from agentwatch.recording.store import SessionFiles


class Prunable(NamedTuple):
    """What may be deleted, and how many old sessions are kept."""

    sessions: list[SavedStem]
    """The sessions that are old enough, newest first."""
    bookmarked: int = 0
    """The number of old sessions that are kept because they have bookmarks."""
    recorded: int = 0
    """The number of old sessions that are still being recorded."""

    @property
    def size(self) -> int:
        """The size of all files to be deleted, in bytes."""
        return sum(stem.size for stem in self.sessions)


def prunable(before_ms: int, *, keep_bookmarked: bool = False, uid: int | None = None) -> Prunable:
    """Return the saved sessions whose recording was started and last written before a time.

    Args:
        before_ms: The time, in milliseconds since the epoch.
        keep_bookmarked: Whether sessions with bookmarks are kept. If the file of bookmarks cannot be read,
            the session is kept too.
        uid: The user; None for the user of this process.

    Raises:
        OSError: The folder of saved sessions cannot be read, or is a link.
    """
    sessions = []
    bookmarked = recorded = 0
    for stem in saved_stems(uid):
        if max(stem.changed_ms, _started_ms(stem.recording)) >= before_ms:
            continue
        files = SessionFiles(stem.recording)
        if _is_recorded(files):
            recorded += 1
        elif keep_bookmarked and _has_bookmarks(files.bookmarks):
            bookmarked += 1
        else:
            sessions.append(stem)
    return Prunable(sessions, bookmarked, recorded)


def _started_ms(recording: Path) -> int:
    """Return the time in a stem, in milliseconds since the epoch; 0 if it is no time."""
    try:
        return int(time.mktime(time.strptime(recording.stem[:15], "%Y%m%d-%H%M%S"))) * 1000
    except (ValueError, OverflowError):
        return 0


def _is_recorded(files: SessionFiles) -> bool:
    try:
        return is_recorded(files)
    except FileNotFoundError:
        return False


def _has_bookmarks(path: Path) -> bool:
    try:
        return bool(read_bookmarks(path))
    except OSError:
        return True
