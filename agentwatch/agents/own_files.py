"""Whether an agent still writes one of its own files, which it neither keeps open nor locks. Claude Code
records the session of each process in `sessions/PID.json`; of others only the last change is known."""

from __future__ import annotations

import os
from itertools import islice
from pathlib import Path

from agentwatch.base.clock import wall_ns
from agentwatch.recording.store import open_regular, read_object
from agentwatch.sources.proc import stat_of

_FRESH_SECONDS = 600
"""A file that has not changed for this time counts as complete. Half of the pauses of a session are shorter
than a minute; a longer one is a question to a user who is away, or the end."""
_MOST_RECORDS = 1000
_MOST_RECORD_BYTES = 1 << 16
_MOST_DIGITS = 10


def is_still_written(path: Path) -> bool:
    if path.suffix == ".ndjson":  # a recording: no agent names a file so, and no program is imported
        return False
    from agentwatch.agents.registry import session_folders

    real = Path(os.path.realpath(path))
    folders = session_folders(os.environ, Path(os.path.expanduser("~")))
    if not any(real.is_relative_to(folder.path) for folder in folders):
        return False
    try:
        age = wall_ns() / 1e9 - real.stat().st_mtime
    except OSError:
        return False
    return age < _FRESH_SECONDS or _has_process(real)


def _has_process(transcript: Path) -> bool:
    registry = transcript.parent.parent.parent / "sessions"
    try:
        with os.scandir(registry) as entries:
            records = [
                Path(each.path) for each in islice(entries, _MOST_RECORDS) if each.name.endswith(".json")
            ]
    except OSError:
        return False
    return any(_is_of(record, transcript.stem) for record in records)


def _is_of(record: Path, session_id: str) -> bool:
    """Return whether a record is of this session, and its process lives: its id may be used again."""
    if not (record.stem.isdecimal() and len(record.stem) <= _MOST_DIGITS):
        return False
    try:
        described = read_object(open_regular(record), _MOST_RECORD_BYTES)
    except OSError:
        return False
    process, started = stat_of(int(record.stem)), described.get("procStart")
    if described.get("sessionId") != session_id or process is None or not isinstance(started, str | int):
        return False
    return str(process.began) == str(started)
