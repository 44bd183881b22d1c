"""Writing the action log while its recording grows, without decoding the recording twice.

The log follows the session that the screen shows. That session stands still while the view is frozen,
while an editor has the terminal, and while the terminal reads nothing; the log must not. So a thread
watches the screen's feed, and reads the recording itself once the feed leaves bytes unread for 3 s. The
second decoding, half a core at 10,000 lines a second, is paid only then. Keeping the screen's feed
running instead would move a frozen view, and could not help where the whole event loop waits.
"""

from __future__ import annotations

import os
import threading
import time
from itertools import islice
from queue import Empty, SimpleQueue

from agentwatch.feed import POLL_SECONDS, Feed
from agentwatch.outputs.action_log import ActionLog, follow_log
from agentwatch.outputs.writing import write_all
from agentwatch.recording import LineReader

_POLL_SECONDS = 0.1
_STALL_SECONDS = 3.0
"""A running session is advanced at least once a second, whatever else the screen does."""


class LogWriter:
    """Writes an action log in a thread; a disk that is slow or full delays nobody else."""

    def __init__(self, reader: LineReader, log_fd: int, followed: Feed | None = None) -> None:
        """Begin to write.

        Args:
            reader: Whose recording is logged; its own place stays where it is.
            log_fd: Where the log is written; closed at the end.
            followed: The feed whose session is logged. It belongs to the calling thread, and calls `update`.
                None to read the recording instead.
        """
        self.fault: OSError | None = None
        """Why the log is incomplete."""
        self._reader = LineReader(reader.fd, reader.growth, reader.times)
        self._log_fd = log_fd
        self._followed = followed
        self._log = None if followed is None else ActionLog(followed.session)
        self._owner = threading.get_ident()
        self._queue: SimpleQueue[list[str] | None] = SimpleQueue()
        """Lines of the followed session; None behind its last line."""
        self._updated = time.monotonic()
        self._hurry = threading.Event()
        self._thread = threading.Thread(target=self._run, name="log", daemon=True)
        self._thread.start()

    def update(self) -> None:
        """Queue the lines that are new in the followed session."""
        followed, log = self._followed, self._log
        if followed is None or log is None:
            return
        self._updated = time.monotonic()
        if lines := [f"{line}\n" for line in log.new_lines(followed.is_over)]:
            self._queue.put(lines)
        if followed.is_over:
            self._queue.put(None)
            self.unfollow()

    def unfollow(self) -> None:
        """Follow the session no more; what it did not log is read from the recording."""
        self._followed = None

    def finish(self) -> None:
        """Wait until the log of an ended recording is written.

        The thread that owns the followed feed reads the rest into it here: the screen may have been quit
        before it showed everything. From another thread this does nothing until the feed is over.
        """
        while (followed := self._followed) is not None:
            if self._owner != threading.get_ident():
                return
            if not followed.advance(POLL_SECONDS):
                time.sleep(POLL_SECONDS)
        self._hurry.set()
        self._thread.join()

    def _run(self) -> None:
        try:
            written = self._write_followed()
            if written is not None:
                self._write_own(written)
        except OSError as error:
            self.fault = error
        finally:
            os.close(self._log_fd)

    def _write_followed(self) -> int | None:
        """Write what is queued; return how many lines that were when no more come, None after the last."""
        written = 0
        while True:
            is_followed = self._is_followed()
            try:
                while (lines := self._queue.get(block=is_followed, timeout=_POLL_SECONDS)) is not None:
                    write_all(self._log_fd, "".join(lines).encode())
                    written += len(lines)
            except Empty:
                if not is_followed:
                    return written
            else:
                return None

    def _is_followed(self) -> bool:
        """Return whether a session is followed; one that leaves bytes unread for too long is no more."""
        followed = self._followed
        if followed is None:
            return False
        if time.monotonic() - self._updated > _STALL_SECONDS and followed.backlog():
            self.unfollow()
            return False
        return True

    def _write_own(self, written: int) -> None:
        """Write the log from the recording, but for its first lines, which are written."""
        lines = follow_log(Feed(self._reader), lambda: self._hurry.wait(_POLL_SECONDS))
        for line in islice(lines, written, None):
            write_all(self._log_fd, f"{line}\n".encode())


class LoggedFeed(Feed):
    """A feed that keeps an action log up to date with its session."""

    def __init__(self, reader: LineReader, log_fd: int) -> None:
        """Read by `reader`, and log to a descriptor."""
        super().__init__(reader)
        self.log = LogWriter(reader, log_fd, self)

    def advance(self, seconds: float | None = None) -> int:
        """Apply the lines that are there, for about `seconds` at most, and log them; return how many."""
        try:
            applied = super().advance(seconds)
            self.log.update()
        except BaseException:  # a signal or a fault may have left the session, or its log, half updated
            self.log.unfollow()
            raise
        return applied
