"""Writes the action log while its recording grows, without decoding the recording twice.

The log follows the live session of the screen. That session is not advanced while an editor has the terminal,
or while the terminal does not read, but the log must continue. A thread therefore monitors the screen's feed,
and reads the recording itself once the feed has left bytes unread for 3 s. Only then is every line decoded a
second time, which takes half a core at 10,000 lines a second.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Sequence
from itertools import islice
from queue import Empty, SimpleQueue

from agentwatch.feed import POLL_SECONDS, Agent, Feed
from agentwatch.outputs.action_log import ActionLog, follow_log
from agentwatch.recording import LineReader
from agentwatch.recording.alarms import Alarm
from agentwatch.writing import write_all

_POLL_SECONDS = 0.1
_CHECK_SECONDS = 1.0
"""How often the followed feed is checked for a stall."""
_STALL_SECONDS = 3.0
"""The log stops following after this time; a screen that is not blocked advances its feed every second."""


class LogWriter:
    """Writes an action log in a thread, so that a slow or full disk delays neither agent nor screen."""

    def __init__(
        self,
        reader: LineReader,
        log_fd: int,
        followed: Feed | None = None,
        agent: Agent | None = None,
        alarms: Sequence[Alarm] = (),
    ) -> None:
        """Start the thread.

        Args:
            reader: The reader of the recording that is logged; its own position stays unchanged.
            log_fd: The descriptor of the log; it is closed at the end.
            followed: The feed whose session is logged. It belongs to the calling thread, and must call
                `update`. None to read the recording instead.
            agent: The agent that wrote the recording; None to detect it.
            alarms: The rules that were hit when the recording was made.
        """
        self.fault: OSError | None = None
        """Why the log is incomplete; None while no write has failed."""
        self._reader = LineReader(reader.fd, reader.growth, reader.times)
        self._log_fd = log_fd
        self._followed = followed
        self._agent, self._alarms = agent, alarms
        self._log = None if followed is None else ActionLog(followed.session, alarms)
        self._owner = threading.get_ident()
        self._queue: SimpleQueue[list[str] | None] = SimpleQueue()
        """The lines of the followed session; no lines wake the thread; None after the last line."""
        self._updated = time.monotonic()
        self._finishing = threading.Event()
        self._thread = threading.Thread(target=self._run, name="log", daemon=True)
        self._thread.start()

    def update(self) -> None:
        """Queue the new lines of the followed session."""
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
        """Stop following the session; the rest of the log is read from the recording."""
        self._followed = None
        self._queue.put([])

    def finish(self) -> None:
        """Wait until the log of an ended recording is written.

        The screen may have been closed before it had read everything. The thread that owns the followed feed
        therefore advances it to its end here. In another thread, this does nothing until the feed is over.
        """
        while (followed := self._followed) is not None:
            if self._owner != threading.get_ident():
                return
            if not followed.advance(POLL_SECONDS):
                time.sleep(POLL_SECONDS)
        self._finishing.set()
        self._thread.join()

    def _run(self) -> None:
        try:
            written = self._write_followed()
            if written is not None:
                self._write_from_recording(written)
        except OSError as error:
            self.fault = error
        finally:
            os.close(self._log_fd)

    def _write_followed(self) -> int | None:
        """Write the queued lines of the followed session.

        Returns:
            The number of lines written when the session is no longer followed; None if the log is complete.
        """
        written = 0
        while True:
            is_followed = self._is_followed()
            try:
                lines = self._queue.get(block=is_followed, timeout=_CHECK_SECONDS)
            except Empty:
                if not is_followed:
                    return written
                continue
            if lines is None:
                return None
            write_all(self._log_fd, "".join(lines).encode())
            written += len(lines)

    def _is_followed(self) -> bool:
        """Return whether a session is followed; stop following one that has left bytes unread for 3 s."""
        followed = self._followed
        if followed is None:
            return False
        if time.monotonic() - self._updated > _STALL_SECONDS and followed.backlog():
            self.unfollow()
            return False
        return True

    def _write_from_recording(self, written: int) -> None:
        """Write the log from the recording, except its first `written` lines."""
        feed = Feed(self._reader, agent=self._agent)
        lines = follow_log(feed, lambda: self._finishing.wait(_POLL_SECONDS), self._alarms)
        for line in islice(lines, written, None):
            write_all(self._log_fd, f"{line}\n".encode())


class LoggedFeed(Feed):
    """A feed that writes an action log of its session."""

    def __init__(
        self,
        reader: LineReader,
        log_fd: int,
        agent: Agent | None = None,
        alarms: Sequence[Alarm] = (),
    ) -> None:
        """Create a feed.

        Args:
            reader: Reads the recording.
            log_fd: The descriptor of the log; it is closed at the end.
            agent: The agent that wrote the recording; None to detect it.
            alarms: The rules that were hit when the recording was made.
        """
        super().__init__(reader, agent=agent)
        self.log = LogWriter(reader, log_fd, self, agent, alarms)

    def advance(self, seconds: float | None = None) -> int:
        """Apply the lines that have arrived, log the calls that ended, and return the number of lines.

        Args:
            seconds: Stop after about this time; None is no limit.
        """
        try:
            applied = super().advance(seconds)
            self.log.update()
        except BaseException:  # the exception may have left the session or its log half updated
            self.log.unfollow()
            raise
        return applied
