"""The files that changed between two test runs."""

from __future__ import annotations

from typing import NamedTuple

from agentwatch.analysis.files import FileAction, TouchedFile, file_action_of, named
from agentwatch.events import Outcome, ToolKind
from agentwatch.session import Call, Session

_MOST_CALLS = 5000
"""Calls that are read, from the newest: 25 ms."""
_CHANGES = (ToolKind.EDIT, ToolKind.DELETE, ToolKind.MOVE)
_DONE = (Outcome.SUCCEEDED, Outcome.RETURNED, Outcome.UNFINISHED)
"""One that never completed may have changed the file."""


class ChangedFiles(NamedTuple):
    """The files that changed in a part of a session."""

    files: list[TouchedFile]
    """The file that was changed last is the first. Each has only the calls of this part."""
    is_complete: bool
    """Whether all calls of the part were read."""


def changed_files(session: Session, start: int, end: int) -> ChangedFiles:
    """Return the files that calls have edited, created or deleted; what shell commands change is unknown.

    Args:
        session: The session.
        start: The index, among the ended calls, of the first call; after that of the earlier test run.
        end: The index after the last call; that of the later test run.
    """
    first = max(start, end - _MOST_CALLS)
    files: dict[str, TouchedFile] = {}
    for index in range(first, end):
        call = session.ended_calls[index]
        if call.kind not in _CHANGES or file_action_of(call) is FileAction.TRIED:
            continue
        for path in dict.fromkeys((call.path, *call.more_paths)):
            if path:
                key, shown, is_outside = named(path, session.runs[call.run - 1].cwd)
                file = files.pop(key, None) or TouchedFile(shown, is_outside)
                file.add(call)
                files[key] = file
    return ChangedFiles([*reversed(files.values())], first == start)


def may_have_changed(call: Call) -> bool:
    """Return whether an ended call has changed a file, or may have; what shell commands change is unknown."""
    return call.kind in _CHANGES and call.outcome in _DONE
