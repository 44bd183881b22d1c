"""Flushes a growing recording to the disk, so that a power loss costs at most the last second."""

from __future__ import annotations

import os
import threading

from agentwatch.recording.lines import Growth

_SYNC_SECONDS = 1.0
_sync = getattr(os, "fdatasync", os.fsync)


class DiskSync:
    """Flushes a growing recording to the disk every second and at its end, in a thread of its own."""

    def __init__(self, fd: int, growth: Growth) -> None:
        self.fault: OSError | None = None
        """The error that ended the flushing. The system may have lost data that was already written."""
        self._fd = fd
        self._growth = growth
        self._finishing = threading.Event()
        self._thread = threading.Thread(target=self._run, name="disk sync", daemon=True)
        self._thread.start()

    def finish(self) -> None:
        """Flush the rest of a recording that has ended, and wait until it is on the disk."""
        self._finishing.set()
        self._thread.join()

    def _run(self) -> None:
        synced, has_ended = 0, False
        while not has_ended:
            has_ended = self._growth.has_ended() or self._finishing.wait(_SYNC_SECONDS)
            size = self._growth.size()
            if size == synced:
                continue
            try:
                _sync(self._fd)
            except OSError as error:
                self.fault = error
                return
            synced = size
