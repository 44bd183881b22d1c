"""One-line messages on stderr, and the traceback of an internal error."""

from __future__ import annotations

import sys
from contextlib import suppress

from agentwatch.cli.ci_runner import in_runner, without_commands
from agentwatch.recording import SessionFiles, create_file, new_session_files


def say(message: str) -> None:
    """Print a message to the user on stderr, on one line."""
    line = f"agentwatch: {message}"
    with suppress(OSError):  # a closed stderr must not end the monitor while the agent still writes
        print(without_commands(line) if in_runner() else line, file=sys.stderr, flush=True)


def write_crash(error: BaseException, files: SessionFiles | None = None) -> str:
    """Write the traceback of an internal error to a file, without the values of variables.

    Variables may contain text that the agent has read, including secrets.

    Args:
        error: The exception.
        files: The session's files; the traceback is written beside them. None for a new path among the saved
            sessions.

    Returns:
        A clause for the user that contains the path of the traceback.
    """
    import traceback

    try:
        path = (files or new_session_files()).crash
        with open(create_file(path), "w", encoding="utf-8") as file:
            traceback.print_exception(error, file=file)
    except OSError:
        return "the traceback could not be written"
    return f"traceback: {path}"
