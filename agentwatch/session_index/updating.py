"""Brings the index up to date with the sessions on this machine."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from typing import NamedTuple

from agentwatch.machine.repository import Repositories
from agentwatch.session_index.index import SessionIndex, Stamp
from agentwatch.session_index.rows import Rows, path_of, rows_of
from agentwatch.session_index.schema import SESSION_COLUMNS
from agentwatch.wire.found import Found, Reach

_MOST_CALLS = 10_000
_MOST_SECONDS = 1.0
"""Sessions are written when this many calls were read, or this time has passed: what a kill costs."""
_PROBLEM = SESSION_COLUMNS.index("problem")


class Updated(NamedTuple):
    """What an update has done."""

    read: int = 0
    """The number of sessions that are new or have changed."""
    size: int = 0
    """Their bytes."""
    removed: int = 0
    """The number of sessions that are gone."""
    unreadable: int = 0
    """Those of `read` that could not be read."""


def update(
    index: SessionIndex, every: Iterable[Found], progress: Callable[[int, int], None] | None = None
) -> Updated:
    """Read the sessions that are new or have changed, and remove those that are gone.

    Args:
        index: The index.
        every: All sessions on this machine.
        progress: Is called with the bytes that were read, and with those to be read.

    Raises:
        sqlite3.Error: The index cannot be written.
    """
    sessions = {path_of(found): found for found in every if found.reach is not Reach.LISTED}
    stamps = index.stamps()
    gone = [path for path in stamps if path not in sessions]
    due = [
        found for path, found in sessions.items() if stamps.get(path) != Stamp(found.size, found.changed_ns)
    ]
    index.remove(gone)
    total, done, unreadable = sum(found.size for found in due), 0, 0
    repositories, read, calls, written_at = Repositories(), list[Rows](), 0, time.monotonic()
    for found in due:
        rows = rows_of(found, repositories)
        read.append(rows)
        calls += len(rows.calls)
        unreadable += rows.session[_PROBLEM] is not None
        done += found.size
        if progress is not None:
            progress(done, total)
        if calls >= _MOST_CALLS or time.monotonic() - written_at >= _MOST_SECONDS:
            index.replace(read)
            read, calls, written_at = [], 0, time.monotonic()
    index.replace(read)
    if due or gone:
        index.mark_duplicates()
    return Updated(len(due), done, len(gone), unreadable)
