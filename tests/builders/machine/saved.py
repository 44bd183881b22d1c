"""Sessions of our own among the saved ones."""

from __future__ import annotations

import os
import time
from pathlib import Path

from agentwatch.base import clock
from agentwatch.recording.store import sessions_folder
from tests.builders.lines import init, user

DAY_SECONDS = 86_400
ENDINGS = (
    *(".ndjson", ".sent", ".times", ".log", ".stderr", ".crash", ".json", ".index", ".bookmarks.json"),
    *(".ship", ".alarms", ".acts"),
)
MARKED = b'{"version":1,"bookmarks":[{"offset":0,"time_ms":null,"name":"a","created_ms":1}]}\n'


def save(days: float, *endings: str, random: str = "123abcdef", size: int = 100) -> Path:
    """Save a session that was recorded some days ago, and return the path of its recording.

    Args:
        days: Its age.
        endings: The endings of the files beside the recording; each file gets `size` bytes.
        random: The random part of its stem.
        size: The number of bytes of each file beside the recording.
    """
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
