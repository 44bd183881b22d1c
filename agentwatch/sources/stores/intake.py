"""The source that shows a session from a store."""

from __future__ import annotations

import os
import threading
import time
from pathlib import Path

from agentwatch.base.clock import now_ms
from agentwatch.recording.appender import Appender
from agentwatch.recording.lines import LineReader
from agentwatch.recording.times import ArrivalTimes
from agentwatch.sources.source import WithoutAgent, WrittenFiles
from agentwatch.sources.stores.lines import Store

_POLL_SECONDS = 0.1
"""The time between two readings of a store that has no `poll_seconds`."""
_LARGEST_SHARE = 0.1
"""The largest part of the time that is spent on reading a store again."""
_PAUSES = 2
"""The pause after a batch of a large store, by the time that it took: the screen is opening."""
_UNREADABLE_SECONDS = 5.0
"""How long reading may fail before it is reported: a file is rewritten, a database is locked."""


class StoreIntake:
    """The growth of a recording that a store fills, whose lines have no arrivals, but the agent's clock."""

    def __init__(self, store: Store, recording_fd: int, *, follow: bool, waits: bool = True) -> None:
        """To follow the store, a thread reads it again and again, and closes it at the end. `recording_fd` is
        in append mode. `waits` reads the whole store at once; otherwise the first batch is read, and the
        thread reads the others, so that the screen of a large session opens before."""
        self.unreadable: OSError | None = None
        """Why reading has failed for the last 5 s."""
        self._store = store
        self._poll_seconds: float = getattr(store, "poll_seconds", None) or _POLL_SECONDS
        self._appender = Appender(recording_fd, None, now_ms)
        self._leaving = threading.Event()
        self._has_ended = False
        self.is_filling = True
        """Whether a part of what the store contained at first is not read yet."""
        self._is_followed = follow
        try:
            has_more = self._read(None if waits else 1)
            if self._appender.fault is not None:
                raise self._appender.fault
        except OSError:
            store.close()
            raise
        self._thread: threading.Thread | None = None
        if follow or has_more:
            self._thread = threading.Thread(target=self._read_on, name="store", daemon=True)
            self._thread.start()
        else:
            self._has_ended, self.is_filling = True, False
            store.close()

    @property
    def fault(self) -> OSError | None:
        return self._appender.fault

    def size(self) -> int:
        return self._appender.size

    def has_ended(self) -> bool:
        return self._has_ended

    def stop(self) -> None:
        """Ask the thread to stop reading the store; it then ends the recording."""
        self._leaving.set()

    def close(self) -> None:
        """Wait until nothing is written to the recording any more."""
        self.stop()
        if self._thread is not None:
            self._thread.join()

    def _read(self, most: int | None = None) -> bool:
        """Append at most `most` batches; return whether there may be more."""
        batches = 0
        while not self._leaving.is_set() and (lines := self._store.new_lines()):
            self._appender.append(b"".join(lines))
            batches += 1
            if batches == most:
                return True
        return False

    def _read_on(self) -> None:
        try:
            self._read_rest()
            self.is_filling = False
            if self._is_followed:
                self._follow()
        finally:
            self._has_ended, self.is_filling = True, False
            self._store.close()

    def _read_rest(self) -> None:
        """If reading what the first batch has left fails, a store that is followed is read again."""
        try:
            has_more = True
            while has_more:
                began = time.monotonic()
                has_more = self._read(1)
                self._leaving.wait(_PAUSES * (time.monotonic() - began))
        except OSError as error:
            self.unreadable = None if self._is_followed else error

    def _follow(self) -> None:
        took, failing_since = 0.0, None
        while not self._leaving.wait(max(self._poll_seconds, took / _LARGEST_SHARE)):
            began = time.monotonic()
            try:
                self._read()
                self.unreadable = failing_since = None
            except OSError as error:
                failing_since = failing_since or began
                if began - failing_since >= _UNREADABLE_SECONDS:
                    self.unreadable = error
            took = time.monotonic() - began


class StoreSource(WithoutAgent):
    """agentwatch only reads the store. `recording_fd` has no name; `log_fd` is None for no log."""

    wakeup = None
    is_live = False
    outlasts_screen = False
    ended_by = None
    bookmarks_path = None

    def __init__(
        self, recording_fd: int, intake: StoreIntake, log_fd: int | None = None, path: Path | None = None
    ) -> None:
        self.path = path
        self.reader = LineReader(recording_fd, intake, ArrivalTimes())
        self.written = WrittenFiles(self.reader, log_fd=log_fd)
        self._intake = intake

    @property
    def is_filling(self) -> bool:
        return self._intake.is_filling

    @property
    def fault(self) -> OSError | None:
        return self._intake.fault

    @property
    def faults(self) -> dict[str, OSError | None]:
        return {
            "the recording is incomplete": self.fault,
            "the session cannot be read any more": self._intake.unreadable,
            **self.written.faults,
        }

    def leave(self) -> None:
        """The recording ends with what was read."""
        self._intake.stop()

    def close(self) -> None:
        """Remove the recording too. Nothing may read the session any more."""
        self._intake.close()
        os.close(self.reader.fd)
