"""Rows of a machine, and the sessions that were saved on it."""

import os
import time
from pathlib import Path
from typing import Any

from agentwatch.agents.state_report import State
from agentwatch.base import clock
from agentwatch.catalog.row import Row
from agentwatch.catalog.session_status import Ground, SessionStatus
from agentwatch.recording.store import sessions_folder
from tests.builders.lines import init, user

NOW_MS = 1_795_000_000_000
"""2026-11-18T11:06:40Z."""
_STANDING = ("state", "ground", "since_ms", "now", "now_since_ms")


def row(state: State = State.SUCCEEDED, ground: Ground = Ground.SAID, **more: Any) -> Row:
    """Return a row of Claude Code; other fields of the row and of its standing are given by name."""
    status = {name: more.pop(name) for name in _STANDING if name in more}
    number = more.pop("number", 0)
    fields = {
        "agent": "claude",
        "id": f"{number:08x}-7a95-4b1e-9d2c-0123456789ab",
        "path": Path(f"/home/u/.claude/projects/-src/{number}.jsonl"),
        "seen_ms": NOW_MS - 1000,
        **more,
    }
    key = fields.pop("key", (fields["agent"], fields["id"]))
    return Row(key=key, status=SessionStatus(state, ground, **status), **fields)


DAY_SECONDS = 86_400
ENDINGS = (
    *(".ndjson", ".sent", ".times", ".log", ".stderr", ".crash", ".json", ".index", ".bookmarks.json"),
    *(".ship", ".alarms", ".acts"),
)
MARKED = b'{"version":1,"bookmarks":[{"offset":0,"time_ms":null,"name":"a","created_ms":1}]}\n'


def save(days: float, *endings: str, random: str = "123abcdef", size: int = 100) -> Path:
    """Save a session that is some days old, with files of other endings beside it; return its recording."""
    folder = sessions_folder()
    folder.mkdir(parents=True, exist_ok=True)
    at = clock.wall_ns() / 1e9 - days * DAY_SECONDS
    stem = f"{time.strftime('%Y%m%d-%H%M%S', time.localtime(at))}-{random}"
    path = folder / f"{stem}.ndjson"
    path.write_bytes(init() + user())
    for ending in endings:
        (folder / f"{stem}{ending}").write_bytes(b"x" * size)
    for file in folder.glob(f"{stem}.*"):
        os.utime(file, (at, at))
    return path


def names() -> set[str]:
    """Return the names of all files among the saved sessions."""
    return {path.name for path in sessions_folder().iterdir()}
