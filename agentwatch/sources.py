"""Where the bytes come from: a saved file, the pipe on stdin, or an agent that we start.

Each gives a reader of a recording; whoever reads it need not know which it is.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import orjson

from agentwatch.events import Outcome
from agentwatch.faults import (
    INCOMPLETE_RECORDING,
    NOT_EXECUTABLE,
    NOT_FOUND,
    Fault,
    cannot_create,
    cannot_open,
)
from agentwatch.intake import AgentProcess, PipeIntake
from agentwatch.outputs.log import LogWriter
from agentwatch.recording import (
    ArrivalTimes,
    DiskSync,
    LineReader,
    SavedGrowth,
    SessionFiles,
    create_file,
    is_at,
    nameless_file,
    new_session_files,
    now_ms,
    open_saved,
)
from agentwatch.session import Session

GRACE_MS = 30_000
"""How long after its result an agent may take to exit."""


@dataclass(frozen=True, slots=True)
class Keep:
    """What is kept of a session, and where."""

    recording: Path | None = None
    """None: among the saved sessions, if `record` says so."""
    record: bool = True
    log: Path | None = None
    """None: beside the recording, if `write_log` says so."""
    write_log: bool = True

    def names(self) -> SessionFiles | None:
        """Return the names of the files to be made; None when no recording is kept.

        Raises:
            Fault: The folder of saved sessions cannot be made.
        """
        if self.recording is not None:
            return SessionFiles(self.recording)
        if not self.record:
            return None
        try:
            return new_session_files()
        except OSError as error:
            raise cannot_create(Path(error.filename or "the sessions folder"), error) from None


class Source:
    """A recording that is read, what feeds it, and the log that is written of it."""

    def __init__(
        self,
        reader: LineReader,
        files: SessionFiles | None = None,
        pipe: PipeIntake | None = None,
        agent: AgentProcess | None = None,
        log_fd: int | None = None,
    ) -> None:
        self.reader = reader
        self.files = files
        """The files that are written; None when no recording is kept."""
        self.pipe = pipe
        self.agent = agent
        self._told: set[str] = set()
        self._displaced: OSError | None = None
        self._sync = None if files is None else DiskSync(reader.fd, reader.growth)
        self._log = None if log_fd is None else LogWriter(self.another_reader(), log_fd)

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
        """Whether our agent still runs though its result came 30 s ago; agents are known to hang then."""
        ended = session.run.ended
        if self.agent is None or not self.is_live or ended is None or ended.seen_ms is None:
            return False
        return now_ms() - ended.seen_ms > GRACE_MS

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
        if self.agent is not None and self.files is not None:
            with suppress(OSError):
                _describe_process(self.files.process, self.agent)

    def exit_code(self, outcome: Outcome) -> int:
        """Return what our exit code is when the session came to `outcome`."""
        if self.agent is not None and self.agent.exit_code:
            return self.agent.exit_code
        if self.fault is not None and outcome is not Outcome.FAILED:
            return INCOMPLETE_RECORDING
        return 0 if outcome in (Outcome.SUCCEEDED, Outcome.RUNNING) else 1


def create_log(path: Path) -> int:
    """Create an action log and return its descriptor.

    Raises:
        Fault: It cannot be created.
    """
    return _create(path)


def saved_source(path: Path, follow: bool = False, log_fd: int | None = None) -> Source:
    """Open a saved recording, and write its action log to a descriptor where one is given.

    Raises:
        Fault: It cannot be opened.
    """
    try:
        reader = open_saved(path, follow)
    except OSError as error:
        raise cannot_open(path, error) from None
    return Source(reader, log_fd=log_fd)


def pipe_source(source_fd: int, keep: Keep) -> Source:
    """Record what comes through a pipe.

    Raises:
        Fault: The recording or the log cannot be created.
    """
    files = keep.names()
    recording_fd, times, log_fd = _create_files(files, keep)
    pipe = PipeIntake(source_fd, recording_fd, times)
    return Source(LineReader(recording_fd, pipe, times), files, pipe=pipe, log_fd=log_fd)


def agent_source(argv: Sequence[str], keep: Keep) -> Source:
    """Start an agent whose stdout is the recording.

    Raises:
        Fault: The files cannot be created, which is said before the agent starts; or it cannot start.
    """
    files = keep.names()
    recording_fd, times, log_fd = _create_files(files, keep)
    try:
        stderr_fd = _nameless() if files is None else _create(files.stderr)
    except Fault:
        _remove(files)
        raise
    try:
        agent = AgentProcess(argv, recording_fd, stderr_fd, times)
    except OSError as error:
        _remove(files)
        found = not isinstance(error, FileNotFoundError)
        reason = "it cannot be executed" if found else "not found"
        code = NOT_EXECUTABLE if found else NOT_FOUND
        raise Fault(f"cannot start {argv[0]}: {reason}", code) from None
    source = Source(LineReader(recording_fd, agent, times), files, agent=agent, log_fd=log_fd)
    if files is not None:
        with suppress(OSError):
            os.close(create_file(files.process))
            _describe_process(files.process, agent)
    return source


def _create_files(files: SessionFiles | None, keep: Keep) -> tuple[int, ArrivalTimes, int | None]:
    """Create the recording, its times and the log, or none of them."""
    log = keep.log or (files.log if files is not None and keep.write_log else None)
    wanted = [path for path in (files and files.recording, files and files.times, log) if path]
    created: dict[Path, int] = {}
    try:
        for path in wanted:
            created[path] = _create(path)
    except Fault:
        for path, fd in created.items():
            os.close(fd)
            path.unlink()
        raise
    log_fd = created[log] if log else None
    if files is None:
        return _nameless(), ArrivalTimes(), log_fd
    return created[files.recording], ArrivalTimes(created[files.times]), log_fd


def _remove(files: SessionFiles | None) -> None:
    """Remove what was created for an agent that cannot start."""
    if files is not None:
        for path in (files.recording, files.times, files.stderr, files.log):
            path.unlink(missing_ok=True)


def _nameless() -> int:
    try:
        return nameless_file()
    except OSError as error:
        raise cannot_create(Path(error.filename or "a temporary file"), error) from None


def _create(path: Path) -> int:
    try:
        return create_file(path)
    except OSError as error:
        raise cannot_create(path, error) from None


def _describe_process(path: Path, agent: AgentProcess) -> None:
    """Write what process made the recording; the file is ours and holds one JSON object."""
    described = {
        "command": agent.argv,
        "cwd": os.getcwd(),
        "pid": agent.pid,
        "started_ms": agent.started_ms,
        "ended_ms": agent.ended_ms,
        "exit_code": agent.exit_code,
    }
    path.write_bytes(orjson.dumps(described, option=orjson.OPT_APPEND_NEWLINE))
