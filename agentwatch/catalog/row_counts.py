"""How many sessions need the user, work, are quiet and have ended today."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Generic, NamedTuple, TypeVar

from agentwatch.agents.found import Key
from agentwatch.agents.reported import State
from agentwatch.catalog.hiding import is_hidden, root
from agentwatch.catalog.row import Row
from agentwatch.catalog.standing import Group
from agentwatch.catalog.status.counts import midnight

Counted = TypeVar("Counted", bound=NamedTuple)
_AGAIN_MS = 60_000
"""Sessions grow old, and the day ends."""
_ENDED = frozenset({State.SUCCEEDED, State.FAILED, State.CANCELLED, State.UNFINISHED})


def has_ended(row: Row) -> bool:
    """Return whether a session counts as ended on its day; nobody knows that of one that may still run."""
    return row.standing.state in _ENDED and not row.is_one_liner and not row.is_archived


def ended_ms(row: Row) -> int:
    """Return the time that decides the day of a session that does not run; 0 if it has no time."""
    return max(row.seen_ms or 0, row.standing.since_ms or 0) or row.began_ms or 0


class Counts(NamedTuple):
    """The numbers of sessions by group. Header, status line and title of the terminal show the same ones.

    A subagent is not counted, unless it asks the user. A session whose process may or may not run is in none
    of the numbers, except in `hidden`.
    """

    needs_you: int = 0
    failed: int = 0
    """Sessions that run, and whose last turn failed."""
    working: int = 0
    quiet: int = 0
    your_turn: int = 0
    ended_today: int = 0
    """As the heading of the day in the list: without those that another program ran for one prompt, and
    without archived ones."""
    hidden: int = 0
    machines: int = 0
    """The number of machines, if sessions of other machines are listed; otherwise 0."""


def counts(rows: Iterable[Row], now_ms: int) -> Counts:
    """Count the sessions. The day is that of the local time."""
    by_key = {row.key: row for row in rows}
    hosts = {row.host for row in by_key.values()}
    today_ms = midnight(now_ms)
    in_group = dict.fromkeys(Group, 0)
    ended_today = hidden = 0
    for row in by_key.values():
        if root(row, by_key) is not row:
            continue
        group = row.group
        in_group[group] += 1
        if group is Group.ENDED:
            hidden += is_hidden(row, now_ms)
            ended_today += has_ended(row) and ended_ms(row) >= today_ms
    return Counts(
        needs_you=in_group[Group.NEEDS_YOU],
        failed=in_group[Group.FAILED],
        working=in_group[Group.WORKING],
        quiet=in_group[Group.QUIET],
        your_turn=in_group[Group.YOUR_TURN],
        ended_today=ended_today,
        hidden=hidden,
        machines=0 if hosts <= {""} else len(hosts),
    )


class CountedRows(Generic[Counted]):
    """The counts of sessions that change a few at a time: counting 5,000 of them takes 3 ms. A session that
    changes is counted as it was and as it is, and the difference is added. `count` returns the counts of rows
    at a time, such as `counts`."""

    def __init__(self, count: Callable[[Iterable[Row], int], Counted]) -> None:
        self._count = count
        self._rows: Mapping[Key, Row] = {}
        self._counts = count((), 0)
        self._counted_ms: int | None = None
        """The time at which all sessions were counted, by which later differences are counted too."""
        self._parents: set[Key] = set()
        """The sessions that are named as parents, listed or not."""
        self._has_here = False
        """Whether a session of this machine was listed."""

    def update(self, rows: Mapping[Key, Row], changed: Iterable[Row], now_ms: int) -> Counted:
        """Return the counts of rows. All of them are counted once a minute; when a session goes or changes
        its parent or host; and when one comes that is on another machine, or after one of its subagents.
        `changed` are those that are new or have changed."""
        before, self._rows = self._rows, rows
        pairs = [(before.get(row.key), row) for row in changed]
        new = [row for old, row in pairs if old is None]
        counted_ms = self._counted_ms
        is_changed = (
            len(rows) != len(before) + len(new)
            or any(row.host or row.key in self._parents for row in new)
            or (bool(new) and not self._has_here)
            or any(old and (old.parent, old.host) != (row.parent, row.host) for old, row in pairs)
        )
        self._parents.update(row.parent for _, row in pairs if row.parent is not None)
        self._has_here = self._has_here or any(not row.host for row in new)
        if counted_ms is None or not 0 <= now_ms - counted_ms <= _AGAIN_MS or is_changed:
            self._counts, self._counted_ms = self._count(rows.values(), now_ms), now_ms
            return self._counts
        moved = [row for old, row in pairs if old is not None and _bearings(old) != _bearings(row)]
        for some, known in ((moved, before), (new, rows)):
            if keys := _families(some, rows):
                was = self._count((known[key] for key in keys if key in before), counted_ms)
                now = self._count((rows[key] for key in keys), counted_ms)
                self._counts = self._counts._make(map(_moved, self._counts, was, now))
        return self._counts


def _families(rows: Iterable[Row], all_rows: Mapping[Key, Row]) -> set[Key]:
    """Return the keys of sessions and of those above them, on which it depends whether they are counted."""
    keys: set[Key] = set()
    for row in rows:
        above: Row | None = row
        while above is not None and above.key not in keys:
            keys.add(above.key)
            above = None if above.parent is None else all_rows.get(above.parent)
    return keys


def _moved(count: Any, was: Any, now: Any) -> Any:
    return count + now - was


def _bearings(row: Row) -> tuple[object, ...]:
    """Return what the counts depend on, besides the time, parents and hosts."""
    is_ended = row.group is Group.ENDED
    times = (row.began_ms, row.seen_ms, row.standing.since_ms) if is_ended else ()
    return row.standing.state, row.group, row.is_one_liner, row.is_archived, times
