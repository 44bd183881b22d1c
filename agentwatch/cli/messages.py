"""One-line messages on stderr, and the traceback of an internal error."""

from __future__ import annotations

import sys
from contextlib import suppress

from agentwatch.cli.ci_runner import broken, in_runner
from agentwatch.recording import SessionFiles, create_file, new_session_files


def say(message: str) -> None:
    """Print a message to the user in one line on stderr."""
    line = f"agentwatch: {message}"
    with suppress(OSError):  # a closed stderr must not end the monitor while the agent still writes
        print(broken(line) if in_runner() else line, file=sys.stderr, flush=True)


def write_crash(error: BaseException, files: SessionFiles | None = None) -> str:
    """Write the traceback of an internal error to a file, without the values of variables.

    Variables may hold what the agent read, secrets included.

    Args:
        error: What was raised.
        files: The session's files, beside which the traceback is written; None for a new stem among the
            saved sessions.

    Returns:
        Where the traceback is, as a clause for the user.
    """
    import traceback

    try:
        path = (files or new_session_files()).crash
        with open(create_file(path), "w", encoding="utf-8") as file:
            traceback.print_exception(error, file=file)
    except OSError:
        return "the traceback could not be written"
    return f"traceback: {path}"
