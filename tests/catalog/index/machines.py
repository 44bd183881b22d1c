"""A machine with sessions, and its index."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

from agentwatch.agents.session_entry import SessionEntry
from agentwatch.catalog.index import SessionIndex, Updated, update
from agentwatch.catalog.places import Places
from tests.builders.machine.fake import FakeMachine


class Indexed(NamedTuple):
    """A machine, and where its index is."""

    machine: FakeMachine
    path: Path

    def found(self) -> list[SessionEntry]:
        places = Places(self.machine.environ, self.machine.home, os.geteuid())
        return list({each.key: each for batch in places.first() for each in batch}.values())

    def update(self, found: list[SessionEntry] | None = None) -> Updated:
        with closing(SessionIndex(self.path, "1.0")) as index:
            return update(index, self.found() if found is None else found)

    def record(self, stem: str, *lines: bytes) -> Path:
        """Save a recording of our own, and return its file."""
        path = self.machine.home / ".agentwatch" / "sessions" / f"{stem}.ndjson"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"".join(lines))
        return path

    def rows(self, query: str, *values: Any) -> list[tuple[Any, ...]]:
        """Return what a query finds."""
        return rows(self.path, query, *values)


def rows(path: Path, query: str, *values: Any) -> list[tuple[Any, ...]]:
    """Return what a query finds in an index."""
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute(query, values).fetchall()


def named(found: list[SessionEntry], names: Iterator[str] | list[str]) -> list[SessionEntry]:
    wanted = {*names}
    return [each for each in found if each.id in wanted]
