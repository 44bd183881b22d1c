"""Which of the own recordings are being written, by their lock and by `STEM.json`."""

from __future__ import annotations

import os
from pathlib import Path

from agentwatch.machine.process import Life, Said
from agentwatch.recording import SessionFiles, is_being_written, is_locked, open_regular, read_process
from agentwatch.wire.found import Key
from agentwatch.wire.small_files import FileState, file_state, own_files

AGENT = "agentwatch"
_ENDING = ".ndjson"
_FULL_SECONDS = 60.0
"""The time between two readings of the folder if its time has not changed. A recording may have been read
after it was created and before it was locked."""
_MOST_NEW = 200
"""How many recordings are read at once, the newest first: reading one takes 50 us."""


class OwnRecordings:
    """Finds the recordings that are being written. Of the others nothing is said."""

    def __init__(self, folder: Path, uid: int) -> None:
        """Create it without recordings.

        Args:
            folder: The folder of the recordings.
            uid: The user whose files count.
        """
        self._folder = folder
        self._uid = uid
        self._changed_ns = -1
        self._unread: list[str] = []
        """The stems that are not read yet, the oldest first."""
        self._ended: dict[str, FileState] = {}
        """The recordings that have ended, as they were then."""
        self._full_due = 0.0
        self.said: dict[Key, Said] = {}

    def refresh(self, now: float) -> bool:
        """Read what may have changed, and return whether something new is said.

        Args:
            now: The time, in seconds since the epoch.
        """
        self._list(now)
        said = {}
        due = [stem for _, stem in self.said]
        due += reversed(self._unread[-_MOST_NEW:])
        del self._unread[-_MOST_NEW:]
        for stem in due:
            files = SessionFiles(self._folder / f"{stem}{_ENDING}")
            state = file_state(files.recording, self._uid)
            if state is None:
                continue
            found = _writer(files, stem)
            if found is None:
                self._ended[stem] = state
            else:
                said[AGENT, stem] = found
        has_changed = said != self.said
        self.said = said
        return has_changed

    def _list(self, now: float) -> None:
        """Find the recordings that are new, or have changed since they had ended."""
        try:
            changed_ns = os.lstat(self._folder).st_mtime_ns
        except OSError:
            changed_ns = 0
        if changed_ns == self._changed_ns and 0 <= self._full_due - now <= _FULL_SECONDS:
            return
        self._full_due = now + _FULL_SECONDS
        self._changed_ns = changed_ns if FileState(0, 0, changed_ns).is_settled else -1
        states = {
            name.removesuffix(_ENDING): state
            for name, state in own_files(self._folder, self._uid, lambda name: name.endswith(_ENDING))
        }
        for gone in self._ended.keys() - states.keys():
            del self._ended[gone]
        self._unread = sorted(
            stem
            for stem, state in states.items()
            if self._ended.get(stem) != state and (AGENT, stem) not in self.said
        )


def _writer(files: SessionFiles, stem: str) -> Said | None:
    """Return what is said of a recording that is being written; None if it has ended."""
    process = read_process(files.process)
    try:
        fd = open_regular(files.recording)
    except OSError:
        return None
    try:
        if not is_being_written(fd, process):
            return None
        has_locks = is_locked(fd) is not None
    finally:
        os.close(fd)
    if process is None:
        return Said(AGENT, stem, Life.LIVE if has_locks else Life.UNKNOWN)
    return Said(AGENT, stem, Life.LIVE, process.pid, began_ms=process.started_ms)
