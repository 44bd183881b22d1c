"""Sources, made: files are opened or created, and what feeds them is started."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from agentwatch.faults import NOT_EXECUTABLE, NOT_FOUND, Fault, cannot_create, cannot_open
from agentwatch.recording import (
    ArrivalTimes,
    LineReader,
    SessionFiles,
    create_file,
    nameless_file,
    new_session_files,
    open_saved,
)
from agentwatch.sources.file import FileSource

if TYPE_CHECKING:
    from agentwatch.sources.agent import AgentSource
    from agentwatch.sources.pipe import PipeSource


class Keep(NamedTuple):
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


def create_log(path: Path) -> int:
    """Create an action log and return its descriptor.

    Raises:
        Fault: It cannot be created.
    """
    return _NewFiles().create(path)


def saved_source(path: Path, follow: bool = False, log_fd: int | None = None) -> FileSource:
    """Open a saved recording, and write its action log to a descriptor where one is given.

    Raises:
        Fault: It cannot be opened.
    """
    try:
        reader = open_saved(path, follow)
    except OSError as error:
        raise cannot_open(path, error) from None
    return FileSource(reader, log_fd)


def pipe_source(source_fd: int, keep: Keep) -> PipeSource:
    """Record what comes through a pipe.

    Raises:
        Fault: The recording or the log cannot be created.
    """
    from agentwatch.sources.pipe import PipeIntake, PipeSource

    files = keep.names()
    recording_fd, times, log_fd = _create_files(_NewFiles(), files, keep)
    pipe = PipeIntake(source_fd, recording_fd, times)
    return PipeSource(LineReader(recording_fd, pipe, times), pipe, files, log_fd)


def agent_source(argv: Sequence[str], keep: Keep) -> AgentSource:
    """Start an agent whose stdout is the recording.

    Raises:
        Fault: The files cannot be created, which is said before the agent starts; or it cannot start.
    """
    from agentwatch.sources.agent import AgentSource
    from agentwatch.sources.process import AgentProcess

    files, new = keep.names(), _NewFiles()
    recording_fd, times, log_fd = _create_files(new, files, keep)
    stderr_fd = new.nameless() if files is None else new.create(files.stderr)
    process_fd = None if files is None else new.create(files.process)
    try:
        agent = AgentProcess(argv, recording_fd, stderr_fd, times)
    except OSError as error:
        new.remove()
        found = not isinstance(error, FileNotFoundError)
        reason = "not executable" if found else "not found"
        code = NOT_EXECUTABLE if found else NOT_FOUND
        raise Fault(f"cannot start {argv[0]}: {reason}", code) from None
    reader = LineReader(recording_fd, agent, times)
    source = AgentSource(reader, agent, files, log_fd, process_fd)
    source.describe_process()
    return source


class _NewFiles:
    """The files of a session that begins; when one of them cannot be had, none stays."""

    def __init__(self) -> None:
        self._created: dict[Path, int] = {}

    def create(self, path: Path) -> int:
        try:
            fd = self._created[path] = create_file(path)
        except OSError as error:
            self.remove()
            raise cannot_create(path, error) from None
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
    new: _NewFiles, files: SessionFiles | None, keep: Keep
) -> tuple[int, ArrivalTimes, int | None]:
    """Create the recording and its times, with or without a name, and the log where it is wanted."""
    recording_fd = new.nameless() if files is None else new.create(files.recording)
    times = ArrivalTimes(None if files is None else new.create(files.times))
    log = keep.log or (files.log if files is not None and keep.write_log else None)
    return recording_fd, times, None if log is None else new.create(log)
