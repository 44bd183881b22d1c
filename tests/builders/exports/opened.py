"""Recordings of every agent, opened for an export."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from agentwatch.agents.opening import saved_source
from agentwatch.analysis.moments import Problem
from agentwatch.output.export.exported import Exported, Wanted, exported
from agentwatch.output.export.exporters import Choices, Exporter
from tests.builders.captures import Captures
from tests.conftest import RECORDINGS

WHOLE = Wanted()
RAW = Wanted(is_raw=True)


def every_recording(captures: Captures) -> list[Path]:
    """Return the captures of every agent, those in databases included; ours with the bundled recordings."""
    found = captures.find("**/*.ndjson", "**/*.jsonl", "disk/*-chat/**/session-*.json")
    for database in captures.root.rglob("opencode.db"):
        found += (database / path.stem for path in database.parent.glob("ses_*.json"))
    return sorted([*found, *RECORDINGS.glob("*.ndjson")] if captures.is_own else found)


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
