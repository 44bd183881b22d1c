"""What is written reaches the disk: after a power loss at most the last second is missing."""

from __future__ import annotations

import os
import threading

from agentwatch.recording.lines import Growth

_SYNC_SECONDS = 1.0
_sync = getattr(os, "fdatasync", os.fsync)


class DiskSync:
    """Sends a growing recording to the disk each second, and when it ends, in a thread of its own."""

    def __init__(self, fd: int, growth: Growth) -> None:
        self.fault: OSError | None = None
        """Why it could not be sent; the system may have lost what was written."""
        self._fd = fd
        self._growth = growth
        self._hurry = threading.Event()
        self._thread = threading.Thread(target=self._run, name="disk sync", daemon=True)
        self._thread.start()

    def finish(self) -> None:
        """Send the rest of an ended recording, and wait until it is there."""
        self._hurry.set()
        self._thread.join()

    def _run(self) -> None:
        synced, has_ended = 0, False
        while not has_ended:
            has_ended = self._growth.has_ended() or self._hurry.wait(_SYNC_SECONDS)
            size = self._growth.size()
            if size == synced:
                continue
            try:
                _sync(self._fd)
            except OSError as error:
                self.fault = error
                return
            synced = size
