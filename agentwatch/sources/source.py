"""The interface of all sources, and the files that a source writes beside its recording. Front ends query
properties such as `is_live` and `runs_agent`, never the kind of source.
"""

from __future__ import annotations

import errno
import os
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

from agentwatch.recording.lines import Growth, LineReader
from agentwatch.recording.store import SessionFiles, is_at
from agentwatch.session.agent_process import NO_FACTS, AgentFacts

if TYPE_CHECKING:
    from pathlib import Path

    from agentwatch.recording.alarms import Alarm
    from agentwatch.recording.times import Wakeup
    from agentwatch.sources.agent_processes import Pausing, Survivor
    from agentwatch.text.safe import SafeText


class Elsewhere(Protocol):
    """A session of another machine, of which the recording is a copy."""

    address: str

    @property
    def host(self) -> str:
        """The name of the machine, which is foreign text; empty if it is unknown."""

    @property
    def exit_code(self) -> int | None:
        """The exit code of the agent; None while it runs, or if it is unknown."""

    @property
    def problem(self) -> str:
        """Why the copy does not have all bytes, in one line of foreign text; empty if it has."""

    @property
    def beginning(self) -> int:
        """How many bytes of the beginning are not kept any more."""


class Source(Protocol):
    """Where a session comes from: a saved file, a pipe, or an agent that agentwatch started."""

    reader: LineReader
    """Reads the recording from its beginning; the front end's feed uses it."""
    written: WrittenFiles
    stream: str
    """What the user calls the pipe that is recorded: `stdin`; empty for another source."""
    path: Path | None
    """The recording, or the path of the store, by which commands can open it; None for one without a name."""

    elsewhere: Elsewhere | None
    """The other machine on which the session runs; None for this one."""
    pausing: Pausing | None
    """Pauses the started agent; None if agentwatch started no agent."""

    @property
    def is_filling(self) -> bool:
        """Whether the recording lacks a part of what the session contained when it was opened."""

    @property
    def bookmarks_path(self) -> Path | None:
        """Return where the user's bookmarks are kept; None if nothing is written beside it."""

    @property
    def wakeup(self) -> Wakeup | None:
        """Wakes a reader that waits for the recording to grow; None if the reader must poll."""

    @property
    def is_live(self) -> bool:
        """Whether an agent is feeding the recording through agentwatch now."""

    @property
    def outlasts_screen(self) -> bool:
        """Whether agentwatch must keep recording after the user quits the screen, as no other process can."""

    @property
    def ended_by(self) -> str | None:
        """How following a file ended: it was `truncated` or `replaced`; None otherwise."""

    @property
    def faults(self) -> dict[str, OSError | None]:
        """The possible faults of the written files: a message for each, with its error if it occurred."""

    @property
    def fault(self) -> OSError | None:
        """Why the recording is incomplete; None while it is complete."""

    def new_faults(self) -> list[str]:
        """Return the faults that occurred since the last call, one sentence each."""

    @property
    def is_interrupted(self) -> bool:
        """Whether the user has interrupted the started agent."""

    def act(self, act: str, by: str) -> str:
        """Interrupt or stop the started agent, and return why that was not done; empty if it was. `by` is
        where the user acted: `list` or `session`."""

    @property
    def runs_agent(self) -> bool:
        """Whether an agent that agentwatch started is running."""

    @property
    def agent_pid(self) -> int | None:
        """The process id of the started agent, also after its end; None if agentwatch started no agent."""

    @property
    def agent_exit_code(self) -> int | None:
        """The exit code of the started agent; None while it runs, or if agentwatch started no agent."""

    def agent_facts(self) -> AgentFacts:
        """Return what is known about the agent's process; cheap enough to be called for every frame."""

    def outlives(self, result_ms: int | None) -> bool:
        """Return whether the started agent still runs 30 s after its result. Call it whenever the run has
        ended: an agent that has exited is not followed beyond its result, even if a process that it left
        behind still holds its stdout."""

    def quiet_ms(self) -> int:
        """Return for how long nothing was written since the started agent has exited, in milliseconds. It is
        0 unless the source is live and only a process that the agent left behind can still write."""

    def survivors(self) -> list[Survivor]:
        """Return the processes started by the agent that outlived it."""

    def new_stderr(self) -> list[str]:
        """Return the complete lines that the started agent wrote to stderr since the last call."""

    def last_stderr(self, count: int) -> list[str]:
        """Return the last non-blank lines of the started agent's stderr, at most `count`."""

    def leave(self) -> None:
        """Stop following the started agent, the file or the store; the recording ends soon."""

    def stop(self) -> None:
        """Stop the started agent and its processes, or stop reading the pipe; the recording ends soon."""

    def finish(self) -> None:
        """Wait for the end of a recording that was stopped or left, and until all its files are written."""


class WithoutAgent:
    """The members that are the same for all sources whose agent was not started by agentwatch."""

    runs_agent = is_interrupted = False
    continued_in: Path | None = None
    """The recording of the run that continues the session, if the user goes there."""
    stream = ""
    pausing: Pausing | None = None
    elsewhere: Elsewhere | None = None
    agent_pid: int | None = None
    agent_exit_code: int | None = None
    facts: AgentFacts = NO_FACTS
    written: WrittenFiles

    @property
    def faults(self) -> dict[str, OSError | None]:
        return self.written.faults

    def new_faults(self) -> list[str]:
        return self.written.unreported(self.faults)

    @property
    def is_filling(self) -> bool:
        return False

    def agent_facts(self) -> AgentFacts:
        """What the list of sessions knows; without it, no facts."""
        return self.facts

    def outlives(self, result_ms: int | None) -> bool:
        """Return whether processes outlive the agent; that is not known when the agent exits."""
        return False

    def quiet_ms(self) -> int:
        return 0

    def act(self, act: str, by: str) -> str:
        return "agentwatch has not started this agent"

    def survivors(self) -> list[Survivor]:
        return []

    def new_stderr(self) -> list[str]:
        """The agent's stderr is not recorded."""
        return []

    def last_stderr(self, count: int) -> list[str]:
        return []

    def leave(self) -> None:
        """Do nothing."""

    def stop(self) -> None:
        """Do nothing, because agentwatch did not start the program that writes the session."""

    def finish(self) -> None:
        self.written.finish()


END_SECONDS = 5.0
"""How long the end of a recording is waited for: its reader may hang on a disk that does not answer."""
_POLL_SECONDS = 0.01


class LogWriter(Protocol):
    """Writes the action log. It is attached by the front end, because this folder does not decode lines."""

    fault: OSError | None

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


class AlarmWatch(Protocol):
    """Watches the session with rules, and writes the alarms. It is attached by the front end."""

    @property
    def alarms(self) -> Sequence[Alarm]:
        """The rules that were hit so far."""

    @property
    def faults(self) -> Mapping[str, OSError | None]:
        """What does not work: a message for each, with its error if it occurred."""

    @property
    def has_rules(self) -> bool:
        """Whether calls or the run may hit a rule."""

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
        """It is None if no recording is written, or only one without a name."""
        self.log_fd = log_fd
        self.log: LogWriter | None = None
        """It is None until it is attached."""
        self.watch: AlarmWatch | None = None
        self.publication: Publication | None = None
        """It is None if the recording is not published, or another process does it."""
        self._reader = reader
        self._sync: DiskSync | None = None
        if files is not None:
            self._sync = DiskSync(reader.fd, reader.growth)
        self._fault: OSError | None = None
        self._reported: set[str] = set()

    @property
    def fault(self) -> OSError | None:
        """Why the recording may be incomplete on the disk although all bytes were written to it."""
        return (self._sync and self._sync.fault) or self._fault

    @property
    def faults(self) -> dict[str, OSError | None]:
        return {
            "the action log is incomplete": None if self.log is None else self.log.fault,
            "the arrival times are incomplete": self._reader.times.fault,
            **({} if self.watch is None else self.watch.faults),
        }

    def unreported(self, faults: dict[str, OSError | None]) -> list[str]:
        """Return the faults that occurred and were not returned before, one sentence each."""
        new = {
            what: error for what, error in faults.items() if error is not None and what not in self._reported
        }
        self._reported |= set(new)
        return [f"{what}: {error.strerror}" for what, error in new.items()]

    def finish(self, seconds: float = END_SECONDS) -> None:
        """Wait for the end of the recording, at most `seconds`, finish all files, and check that it is at its
        path. Only a recording that has ended has a whole log: without an end, nothing is finished."""
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
