"""The errors that are reported to the user, and the exit codes of the program."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

USAGE = 2
INTERNAL_ERROR = 70
CANNOT_CREATE = 73
INCOMPLETE_RECORDING = 74
NOT_EXECUTABLE = 126
NOT_FOUND = 127
BROKEN_PIPE = 141
"""The exit code if the reader of stdout has closed the pipe. No message is printed."""


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

    def __init__(self, message: str, exit_code: int, more: Sequence[str] = ()) -> None:
        """`more` are further faults of the same request, one line each."""
        super().__init__(message)
        self.exit_code = exit_code
        self.more = more


class Signalled(BaseException):
    def __init__(self, number: int) -> None:
        super().__init__(f"signal {number}")
        self.number = number


@contextmanager
def raising(fault: Callable[[Path, OSError], Fault], path: Path) -> Iterator[None]:
    """Turn an `OSError` into a fault: `cannot_open` or `cannot_create`."""
    try:
        yield
    except OSError as error:
        raise fault(path, error) from None


class reading:  # noqa: N801 - it is used as a function; a generator would take twice its time
    """Turn every error that a file of another program causes while it is read into an OSError that names it.
    One file must not end a list of all sessions, and a damaged one can make any library raise anything:
    `sqlite3` a UnicodeDecodeError for its own message."""

    __slots__ = ("_path",)

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._path = path

    def __enter__(self) -> None:
        pass

    def __exit__(self, _kind: object, error: BaseException | None, _traceback: object) -> None:
        if isinstance(error, Exception) and not isinstance(error, (OSError, Fault)):
            what = f"it is damaged ({type(error).__name__})"
            raise OSError(errno.EIO, what, os.fspath(self._path)) from error


def cannot_open(path: Path, error: OSError) -> Fault:
    return Fault(f"cannot open {path}: {_reason(error)}", USAGE)


def cannot_create(path: Path, error: OSError) -> Fault:
    return Fault(f"cannot create {path}: {_reason(error)}", CANNOT_CREATE)


def _reason(error: OSError) -> str:
    if isinstance(error, FileExistsError):
        return "it already exists and is not overwritten"
    reason = error.strerror or str(error)
    return reason[:1].lower() + reason[1:]  # it may contain a command or a path
