"""What the user is told, in one line, when something cannot be done; and the exit code that says so."""

from __future__ import annotations

import sys
from contextlib import suppress
from pathlib import Path

from agentwatch.cli.ci_runner import broken, in_runner
from agentwatch.recording import SessionFiles, create_file, new_session_files


class Fault(Exception):
    """Something the user asked for cannot be done."""

    def __init__(self, message: str, exit_code: int) -> None:
        super().__init__(message)
        self.exit_code = exit_code


class Signalled(BaseException):
    """A signal asks us to end."""

    def __init__(self, number: int) -> None:
        super().__init__(f"signal {number}")
        self.number = number


USAGE = 2
OWN_FAULT = 70
CANNOT_CREATE = 73
INCOMPLETE_RECORDING = 74
NOT_EXECUTABLE = 126
NOT_FOUND = 127


def cannot_open(path: Path, error: OSError) -> Fault:
    """Return the fault of an input that cannot be opened."""
    return Fault(f"cannot open {path}: {_reason(error)}", USAGE)


def cannot_create(path: Path, error: OSError) -> Fault:
    """Return the fault of a recording or log that cannot be created."""
    return Fault(f"cannot create {path}: {_reason(error)}", CANNOT_CREATE)


def say(message: str) -> None:
    """Tell the user in one line."""
    line = f"agentwatch: {message}"
    with suppress(OSError):  # a stderr that takes nothing is no reason to leave the agent alone
        print(broken(line) if in_runner() else line, file=sys.stderr, flush=True)


def write_crash(error: BaseException, files: SessionFiles | None = None) -> str:
    """Write the traceback of a fault of our own beside the recording, and return where it is in words.

    The values of variables are not in it: they may be what the agent read.
    """
    import traceback

    try:
        path = (files or new_session_files()).crash
        with open(create_file(path), "w", encoding="utf-8") as file:
            traceback.print_exception(error, file=file)
    except OSError:
        return "its traceback could not be written"
    return f"its traceback is {path}"


def _reason(error: OSError) -> str:
    if isinstance(error, FileExistsError):
        return "it is there already, and is not overwritten"
    return (error.strerror or str(error)).lower()
