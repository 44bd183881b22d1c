"""Where the bytes come from: a saved file, the pipe on stdin, or an agent that we start.

Each gives a reader of a recording; whoever reads it need not know which it is.
"""

from __future__ import annotations

import errno
import os
from contextlib import suppress
from typing import TYPE_CHECKING

import orjson

from agentwatch.agent_facts import LATE_EXIT_MS
from agentwatch.events import Outcome
from agentwatch.faults import INCOMPLETE_RECORDING
from agentwatch.recording import DiskSync, LineReader, SavedGrowth, SessionFiles, Wakeup, is_at, now_ms
from agentwatch.session import Session

if TYPE_CHECKING:
    from agentwatch.outputs.action_log import LogWriter
    from agentwatch.sources.pipe import PipeIntake
    from agentwatch.sources.process import AgentProcess


class Source:
    """A recording that is read, what feeds it, and the log that is written of it."""

    def __init__(
        self,
        reader: LineReader,
        files: SessionFiles | None = None,
        pipe: PipeIntake | None = None,
        agent: AgentProcess | None = None,
        log_fd: int | None = None,
        process_fd: int | None = None,
    ) -> None:
        self.reader = reader
        self.files = files
        """The files that are written; None when no recording is kept."""
        self.pipe = pipe
        self.agent = agent
        self._process_fd = process_fd
        self._told: set[str] = set()
        self._displaced: OSError | None = None
        self._sync = None if files is None else DiskSync(reader.fd, reader.growth)
        self._log: LogWriter | None = None
        if log_fd is not None:
            from agentwatch.outputs.action_log import LogWriter

            self._log = LogWriter(self.another_reader(), log_fd)

    @property
    def wakeup(self) -> Wakeup | None:
        """What wakes who waits for the recording to grow; None of a saved one."""
        intake = self.pipe or self.agent
        return None if intake is None else intake.wakeup

    @property
    def is_live(self) -> bool:
        """Whether an agent feeds it now."""
        intake = self.pipe or self.agent
        return intake is not None and not intake.has_ended()

    @property
    def ended_by(self) -> str | None:
        """What ended a file that was followed before its time: it was `truncated` or `replaced`."""
        growth = self.reader.growth
        return growth.ended_by if isinstance(growth, SavedGrowth) else None

    @property
    def fault(self) -> OSError | None:
        """Why the recording is not complete; None while it is."""
        intake = self.pipe or self.agent
        return (intake and intake.fault) or (self._sync and self._sync.fault) or self._displaced

    @property
    def faults(self) -> dict[str, OSError | None]:
        """What can go wrong with the files that are written, in words, and why it did where it did."""
        return {
            "the disk is full, the recording lives on its reserve": self.agent.room_fault
            if self.agent
            else None,
            "the recording is not complete": self.fault,
            "the action log is not complete": self._log.fault if self._log else None,
            "the arrival times are not complete": self.reader.times.fault,
        }

    def new_faults(self) -> list[str]:
        """Return what went wrong since the last time, in words."""
        found = {what: why for what, why in self.faults.items() if why is not None and what not in self._told}
        self._told |= set(found)
        return [f"{what}: {why.strerror}" for what, why in found.items()]

    def another_reader(self) -> LineReader:
        """Return a second reader of the same recording, from its beginning."""
        return LineReader(self.reader.fd, self.reader.growth, self.reader.times)

    def outlives(self, session: Session) -> bool:
        """Whether our agent still runs though its result came 30 s ago."""
        ended = session.run.ended
        if self.agent is None or not self.is_live or ended is None or ended.seen_ms is None:
            return False
        return now_ms() - ended.seen_ms > LATE_EXIT_MS

    def agent_name(self) -> str:
        """Return what to call our agent: by its process."""
        return f"the agent, process {self.agent.pid}," if self.agent is not None else "the agent"

    def leave(self) -> None:
        """Follow our agent no longer."""
        if self.agent is not None:
            self.agent.leave()

    def stop(self) -> None:
        """Stop the agent that we started; take no more from a pipe."""
        if self.agent is not None:
            self.agent.stop()
        if self.pipe is not None:
            self.pipe.stop()

    def finish(self) -> None:
        """Wait for the log of an ended recording, and close its times."""
        if self._log is not None:
            self._log.finish()
        if not self.is_live:
            self.reader.times.close()
            if self._sync is not None:
                self._sync.finish()
        if self.files is not None and not is_at(self.files.recording, self.reader.fd):
            self._displaced = OSError(errno.ESTALE, "it was moved, replaced or linked while it was written")
        self.describe_process()

    def describe_process(self) -> None:
        """Write down what process made the recording, as one JSON object."""
        if self.agent is None or self._process_fd is None:
            return
        described = {
            "command": self.agent.argv,
            "cwd": os.getcwd(),
            "pid": self.agent.pid,
            "started_ms": self.agent.started_ms,
            "ended_ms": self.agent.ended_ms,
            "exit_code": self.agent.exit_code,
        }
        with suppress(OSError):
            os.ftruncate(self._process_fd, 0)
            os.write(self._process_fd, orjson.dumps(described, option=orjson.OPT_APPEND_NEWLINE))

    def exit_code(self, outcome: Outcome) -> int:
        """Return what our exit code is when the session came to `outcome`."""
        if self.agent is not None and self.agent.exit_code:
            return self.agent.exit_code
        if self.fault is not None and outcome is not Outcome.FAILED:
            return INCOMPLETE_RECORDING
        return 0 if outcome in (Outcome.SUCCEEDED, Outcome.RUNNING) else 1
