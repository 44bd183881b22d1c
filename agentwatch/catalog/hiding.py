"""Which sessions the list does not show until the user asks for them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from heapq import nlargest

from agentwatch.agents.session_entry import Key
from agentwatch.catalog.row import Row
from agentwatch.catalog.session_status import LIVE, Group
from agentwatch.recording.remembered import Choices

DAY_MS = 24 * 60 * 60 * 1000
SHOWN_DAYS = 7
"""A session is hidden when its last line is older."""


def is_hidden(row: Row, now_ms: int) -> bool:
    """Return whether a session does not run, and is archived or older than a week."""
    from_ms = hidden_from_ms(row)
    return from_ms is not None and now_ms > from_ms


def hidden_from_ms(row: Row) -> int | None:
    """Return None for a session that runs, and for one without any time, which is not known to be old."""
    if row.status.state in LIVE:
        return None
    if row.is_archived:
        return 0
    seen_ms = row.began_ms if row.seen_ms is None else row.seen_ms
    return None if seen_ms is None else seen_ms + SHOWN_DAYS * DAY_MS


MOST_OLDER = 20


def newest_older(rows: Iterable[Row], now_ms: int) -> list[Row]:
    """Return the newest of the sessions that are hidden for their age: an empty list shows them instead."""
    older = (row for row in rows if not row.is_archived and is_hidden(row, now_ms))
    return nlargest(MOST_OLDER, older, key=lambda row: (row.last_ms, row.key))


_DEEPEST = 8
"""The deepest subagents of subagents. It also ends a search in a circle of parents."""


def root(row: Row, rows: Mapping[Key, Row]) -> Row:
    """Return the session in whose row a session is counted: the one that no other started. One that asks the
    user, or whose parent is not listed, has its own row, so that the question is not folded away."""
    if row.parent is None or row.group is Group.NEEDS_YOU:
        return row
    above = row
    for _ in range(_DEEPEST):
        parent = rows.get(above.parent) if above.parent is not None else None
        if parent is None:
            return above
        above = parent
    return row


_ARCHIVED = Choices("archived.json", 2_000, bool)


class Archive:
    """Keeps what the user has archived. Nothing is written to the files of agents."""

    def __init__(self) -> None:
        self.keys: AbstractSet[Key] = frozenset()
        self._path = str(_ARCHIVED.path)  # made once: it took a third of a step with nothing due
        self._version: tuple[int, int] | None = None

    def refresh(self) -> AbstractSet[Key]:
        """Return the sessions that differ from before."""
        try:
            status = os.stat(self._path)
            version = status.st_mtime_ns, status.st_ino
        except OSError:
            version = None
        if version == self._version:
            return frozenset()
        self._version, before = version, self.keys
        self.keys = frozenset(map(key_of, _ARCHIVED.read()))
        return before ^ self.keys


def archive(keys: Iterable[Key], *, is_archived: bool) -> int:
    """Return how many sessions that changes; the last 2,000 are kept."""
    changed = 0

    def change(chosen: dict[str, bool]) -> None:
        nonlocal changed
        for name in map(name_of, keys):
            changed += (chosen.pop(name, None) is not None) is not is_archived
            if is_archived:
                chosen[name] = True

    _ARCHIVED.change(change)
    return changed


def name_of(key: Key) -> str:
    """The name in files of choices: `claude:0f3a…`, `nats://team ci.0f3a…`."""
    agent, session_id = key
    return f"{agent}{_separator(agent)}{session_id}"


def key_of(name: str) -> Key:
    agent, _, session_id = name.partition(_separator(name.partition(" ")[0]))
    return agent, session_id


def _separator(agent: str) -> str:
    """The address of another machine contains a colon."""
    return " " if "://" in agent else ":"
