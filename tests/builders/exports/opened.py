"""Recordings of every agent, opened for an export."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from agentwatch.analysis.moments import Problem
from agentwatch.exports.exported import Exported
from agentwatch.exports.exporter import Choices, Exporter
from agentwatch.exports.opening import Wanted, exported
from agentwatch.sources.open import saved_source
from tests.conftest import RECORDINGS, SHARED

WHOLE = Wanted()
RAW = Wanted(is_raw=True)
_CHATS = "disk/gemini-chat", "disk/qwen-chat"


def every_recording() -> list[Path]:
    """Return the bundled recordings and the shared ones of every agent, those in databases included."""
    found = [*RECORDINGS.glob("*.ndjson"), *SHARED.rglob("*.ndjson"), *SHARED.rglob("*.jsonl")]
    for folder in _CHATS:
        found += (SHARED / folder).rglob("session-*.json")
    for database in SHARED.rglob("opencode.db"):
        found += (database / path.stem for path in database.parent.glob("ses_*.json"))
    return sorted(found)


def name_of(path: Path) -> str:
    """Return the name of a recording in the output of pytest."""
    return "/".join(path.parts[-3:]) if path.is_relative_to(SHARED) else path.stem


@contextmanager
def opened(path: Path, wanted: Wanted = WHOLE) -> Iterator[Exported]:
    """Open a recording for an export."""
    reader = saved_source(path).reader
    session = exported(reader, path.name, wanted)
    assert not isinstance(session, Problem), session.words
    try:
        yield session
    finally:
        for fd in {reader.fd, session.timeline.fd}:
            os.close(fd)


def written(exporter: Exporter, path: Path, wanted: Wanted = WHOLE, choices: Choices | None = None) -> bytes:
    """Return the file that an exporter writes of a recording."""
    with opened(path, wanted) as session:
        return b"".join(exporter.write(session, choices or Choices()))
