"""The files that agentwatch writes while it reads a recording, and the faults of these files."""

from __future__ import annotations

import errno
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from agentwatch.recording import DiskSync, LineReader, SessionFiles, is_at
from agentwatch.recording.alarms import Alarm
from agentwatch.text.safe import SafeText

END_SECONDS = 5.0
"""How long the end of a recording is waited for: its reader may hang on a disk that does not answer."""
_POLL_SECONDS = 0.01


class LogWriter(Protocol):
    """Writes the action log. It is attached by the front end, because this folder does not decode lines."""

    fault: OSError | None
    """Why the log is incomplete."""

    def finish(self) -> None:
        """Wait until the log of an ended recording is written."""


class News(Protocol):
    """A hit that is announced to the user."""

    @property
    def action(self) -> str:
        """What the rule does: `bell`, `note`, `pause` or `stop`."""

    @property
    def words(self) -> SafeText:
        """The rule and the call, in one line."""


class Judge(Protocol):
    """Watches the session with rules, and writes the alarms. It is attached by the front end."""

    @property
    def alarms(self) -> Sequence[Alarm]:
        """The rules that were hit so far."""

    @property
    def faults(self) -> Mapping[str, OSError | None]:
        """What does not work: a message for each, with its error if it occurred."""

    @property
    def stopped_by(self) -> str:
        """The rule that has stopped the agent; empty if none has."""

    def take_news(self) -> Sequence[News]:
        """Return the hits to announce since the last call."""

    def announce_by(self, announce: Callable[[News], object]) -> None:
        """Announce what is left and all later hits with this function, in another thread."""


class Publication(Protocol):
    """Publishes the recording on an engine."""

    @property
    def has_trouble(self) -> bool:
        """Whether the engine does not have everything."""

    def forms(self) -> tuple[str, ...]:
        """Return where it is published and what is missing, the longest form first."""


class WrittenFiles:
    """The recording, if agentwatch writes it, its arrival times and its action log."""

    def __init__(
        self, reader: LineReader, files: SessionFiles | None = None, log_fd: int | None = None
    ) -> None:
        self.files = files
        """The paths of the files; None if no recording is written, or only one without a name."""
        self.log_fd = log_fd
        """The descriptor of the action log; None for no log."""
        self.log: LogWriter | None = None
        """The writer of the action log; None until it is attached."""
        self.judge: Judge | None = None
        """The rules that watch the session; None if there are none."""
        self.publication: Publication | None = None
        """How the recording is published; None if it is not, or another process does it."""
        self._reader = reader
        self._sync = None if files is None else DiskSync(reader.fd, reader.growth)
        self._fault: OSError | None = None
        self._reported: set[str] = set()

    @property
    def fault(self) -> OSError | None:
        """Why the recording may be incomplete on the disk although all bytes were written to it."""
        return (self._sync and self._sync.fault) or self._fault

    @property
    def faults(self) -> dict[str, OSError | None]:
        """The possible faults of the log and the times: a message for each, with its error if it occurred."""
        return {
            "the action log is incomplete": None if self.log is None else self.log.fault,
            "the arrival times are incomplete": self._reader.times.fault,
            **({} if self.judge is None else self.judge.faults),
        }

    def unreported(self, faults: dict[str, OSError | None]) -> list[str]:
        """Return the faults that occurred and were not returned before, one sentence each."""
        new = {
            what: error for what, error in faults.items() if error is not None and what not in self._reported
        }
        self._reported |= set(new)
        return [f"{what}: {error.strerror}" for what, error in new.items()]

    def finish(self, seconds: float = END_SECONDS) -> None:
        """Wait for the end of the recording, finish all files, and check that the recording is at its path.

        Only a recording that has ended has a whole log. Without an end, nothing is finished.

        Args:
            seconds: The longest wait for the end of the recording.
        """
        growth, deadline = self._reader.growth, time.monotonic() + seconds
        while not growth.has_ended():
            if time.monotonic() >= deadline:
                self._fault = OSError(errno.ETIMEDOUT, "its end was not reached")
                return
            time.sleep(_POLL_SECONDS)
        if self.log is not None:
            self.log.finish()
        self._reader.times.close()
        if self._sync is not None:
            self._sync.finish()
        if self.files is not None and not is_at(self.files.recording, self._reader.fd):
            self._fault = OSError(errno.ESTALE, "the file was moved, replaced or linked while it was written")
