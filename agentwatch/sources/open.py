"""Opens sources: opens or creates their files, and starts the agent or the thread that reads the pipe."""

from __future__ import annotations

import errno
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from agentwatch.base.faults import CANNOT_CREATE, NOT_EXECUTABLE, NOT_FOUND, Fault, cannot_create
from agentwatch.recording.lines import LineReader
from agentwatch.recording.store import SessionFiles, create_file, nameless_file, new_session_files
from agentwatch.recording.times import ArrivalTimes, WrittenTimes
from agentwatch.recording.write_lock import hold

if TYPE_CHECKING:
    from agentwatch.sources.agent import AgentSource
    from agentwatch.sources.agent_output import Output
    from agentwatch.sources.pipe import PipeSource


class KeepOptions(NamedTuple):
    recording: Path | None = None
    """It is None for a new path among the saved sessions, if `record` is set."""
    record: bool = True
    log: Path | None = None
    """It is None for a path beside the recording, if `write_log` is set."""
    write_log: bool = True

    def session_files(self) -> SessionFiles | None:
        """The files to be created; None if no recording is kept."""
        if self.recording is not None:
            return SessionFiles(self.recording)
        if not self.record:
            return None
        try:
            return new_session_files()
        except OSError as error:
            raise _advised(cannot_create(Path(error.filename or "the sessions folder"), error)) from None


def create_log(path: Path) -> int:
    """Raise `Fault` if the log cannot be created."""
    return _NewFiles(KeepOptions(log=path)).create(path)


def pipe_source(source_fd: int, keep: KeepOptions) -> PipeSource:
    """Start to record a pipe. Its agent would die of a closed pipe: if no recording can be created among the
    saved sessions, it is read into a file without a name, and the source has a fault. Raise `Fault` if a
    recording or log that the user has named cannot be created, or no file at all."""
    from agentwatch.sources.pipe import PipeIntake, PipeSource

    not_kept: OSError | None = None
    try:
        files = keep.session_files()
        recording_fd, times, log_fd = _create_files(_NewFiles(keep), files, keep)
    except Fault as fault:
        if keep.recording is not None or not keep.record:
            raise
        not_kept = OSError(errno.EIO, str(fault))
        keep = keep._replace(record=False)
        files = keep.session_files()
        recording_fd, times, log_fd = _create_files(_NewFiles(keep), files, keep)
    pipe = PipeIntake(source_fd, recording_fd, times)
    return PipeSource(LineReader(recording_fd, pipe, times), pipe, files, log_fd, not_kept)


def agent_source(argv: Sequence[str], keep: KeepOptions, *, direct: bool = False) -> AgentSource:
    """Start an agent whose stdout is recorded, with `direct` by itself, without a relay between. Raise
    `Fault` if a file cannot be created, before the agent is started, or if the agent cannot start."""
    from agentwatch.sources.agent import AgentSource
    from agentwatch.sources.process import AgentProcess

    files, new = keep.session_files(), _NewFiles(keep)
    recording_fd, times, log_fd = _create_files(new, files, keep, is_relayed=not direct)
    stderr_fd = new.nameless() if files is None else new.create(files.stderr)
    process_fd = None if files is None else new.create(files.process)
    try:
        output = _output(recording_fd, stderr_fd, times)
        agent = AgentProcess(argv, output, stderr_fd)
    except Fault:
        new.remove()
        raise
    except OSError as error:
        new.remove()
        raise cannot_start(argv[0], error) from None
    reader = LineReader(recording_fd, agent, times)
    source = AgentSource(reader, agent, files, log_fd, process_fd)
    source.describe_process()
    return source


def _output(recording_fd: int, stderr_fd: int, times: ArrivalTimes) -> Output:
    """Arrival times that another process writes are those of a relay."""
    if not isinstance(times, WrittenTimes):
        from agentwatch.sources.agent_output import DirectOutput

        return DirectOutput(recording_fd, stderr_fd, times)
    from agentwatch.sources.agent_output import RelayedOutput

    try:
        return RelayedOutput(recording_fd, stderr_fd, times)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise Fault(
            f"cannot start the relay: {reason} (--direct runs the agent without it)", CANNOT_CREATE
        ) from None


def cannot_start(command: str, error: OSError) -> Fault:
    """The fault has the exit code that shells give it."""
    if error.errno in (errno.ENOENT, errno.ENOTDIR):
        return Fault(f"cannot start {command}: not found", NOT_FOUND)
    if error.errno in (errno.EACCES, errno.ENOEXEC):
        return Fault(f"cannot start {command}: not executable", NOT_EXECUTABLE)
    reason = (error.strerror or str(error)).lower()  # too many open files, argument list too long
    return Fault(f"cannot start {command}: {reason}", NOT_EXECUTABLE)


def _advised(fault: Fault) -> Fault:
    advice = "set AGENTWATCH_HOME to another folder, or add --no-record"
    return Fault(f"{fault} ({advice})", fault.exit_code)


class _NewFiles:
    """If one of them cannot be created, all are removed."""

    def __init__(self, keep: KeepOptions) -> None:
        self._keep = keep
        self._created: dict[Path, int] = {}

    def create(self, path: Path) -> int:
        try:
            fd = self._created[path] = create_file(path)
        except OSError as error:
            self.remove()
            fault = cannot_create(path, error)
            is_named = self._keep.recording is not None or path == self._keep.log
            raise (fault if is_named else _advised(fault)) from None
        return fd

    def nameless(self) -> int:
        try:
            return nameless_file()
        except OSError as error:
            self.remove()
            raise cannot_create(Path(error.filename or "a temporary file"), error) from None

    def remove(self) -> None:
        for path, fd in self._created.items():
            os.close(fd)
            path.unlink(missing_ok=True)


def _create_files(
    new: _NewFiles, files: SessionFiles | None, keep: KeepOptions, *, is_relayed: bool = False
) -> tuple[int, ArrivalTimes, int | None]:
    """Create the recording, its arrival times and the log, None if not wanted. Without `files`, the recording
    has no name, and the times stay in memory unless a relay writes them."""
    recording_fd = new.nameless() if files is None else new.create(files.recording)
    hold(recording_fd)
    if is_relayed:
        times: ArrivalTimes = WrittenTimes(new.nameless() if files is None else new.create(files.times))
    else:
        times = ArrivalTimes(None if files is None else new.create(files.times))
    log = keep.log or (files.log if files is not None and keep.write_log else None)
    return recording_fd, times, None if log is None else new.create(log)
