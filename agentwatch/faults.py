"""What the user is told, in one line, when something cannot be done; and the exit code that says so."""

from __future__ import annotations

from pathlib import Path


class Fault(Exception):
    """Something the user asked for cannot be done."""

    def __init__(self, message: str, exit_code: int) -> None:
        super().__init__(message)
        self.exit_code = exit_code


class Signalled(Exception):
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


def _reason(error: OSError) -> str:
    if isinstance(error, FileExistsError):
        return "it is there already, and is not overwritten"
    return (error.strerror or str(error)).lower()
