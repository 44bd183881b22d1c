"""The errors that are reported to the user, and the exit codes of the program."""

from __future__ import annotations

from pathlib import Path

USAGE = 2
INTERNAL_ERROR = 70
CANNOT_CREATE = 73
INCOMPLETE_RECORDING = 74
NOT_EXECUTABLE = 126
NOT_FOUND = 127


class Fault(Exception):
    """A request of the user cannot be carried out; the message is one line for the user.

    Example:
        >>> import agentwatch
        >>> try:
        ...     agentwatch.load("missing.ndjson")
        ... except agentwatch.Fault as fault:
        ...     print(fault)
        cannot open missing.ndjson: no such file or directory
    """

    def __init__(self, message: str, exit_code: int) -> None:
        super().__init__(message)
        self.exit_code = exit_code


class Signalled(BaseException):
    """A signal asks the program to end."""

    def __init__(self, number: int) -> None:
        super().__init__(f"signal {number}")
        self.number = number


def cannot_open(path: Path, error: OSError) -> Fault:
    """Return the fault for an input that cannot be opened."""
    return Fault(f"cannot open {path}: {_reason(error)}", USAGE)


def cannot_create(path: Path, error: OSError) -> Fault:
    """Return the fault for a recording or log that cannot be created."""
    return Fault(f"cannot create {path}: {_reason(error)}", CANNOT_CREATE)


def _reason(error: OSError) -> str:
    if isinstance(error, FileExistsError):
        return "it already exists and is not overwritten"
    return (error.strerror or str(error)).lower()
