"""How many sessions need the user, work, are quiet and have ended today; also for other processes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Generic, NamedTuple, TypeVar

from agentwatch.agents.session_entry import Key
from agentwatch.agents.state_report import State
from agentwatch.catalog.hiding import root
from agentwatch.catalog.limits import NewestLimits, limits_words
from agentwatch.catalog.row import Row, changed_rows
from agentwatch.catalog.session_status import Group
from agentwatch.catalog.status import FRESH_MS, StatusCounts, midnight, write_status

Counted = TypeVar("Counted", bound=NamedTuple)
_AGAIN_MS = 60_000
"""Sessions grow old, and the day ends."""
_ENDED = frozenset({State.SUCCEEDED, State.FAILED, State.CANCELLED, State.UNFINISHED})


def has_ended(row: Row) -> bool:
    """Whether the session counts on the day of its end, which nobody knows of one that may still run."""
    return row.status.state in _ENDED and not row.is_one_liner and not row.is_archived


def ended_ms(row: Row) -> int:
    """What decides the day of a session that does not run; 0 if it has no time."""
    return max(row.seen_ms or 0, row.status.since_ms or 0) or row.began_ms or 0


class Counts(NamedTuple):
    """The sessions by group, as header, status line and title show them. Subagents count only if they ask the
    user, and one whose process may or may not run not at all."""

    needs_you: int = 0
    failed: int = 0
    working: int = 0
    quiet: int = 0
    your_turn: int = 0
    ended_today: int = 0
    """The same count as in the heading of the day: without one-liners and archived ones."""
    machines: int = 0
    """0 without sessions of other machines."""


def counts(rows: Iterable[Row], now_ms: int) -> Counts:
    """The day is that of the local time."""
    by_key = {row.key: row for row in rows}
    hosts = {row.host for row in by_key.values()}
    today_ms = midnight(now_ms)
    in_group = dict.fromkeys(Group, 0)
    ended_today = 0
    for row in by_key.values():
        if root(row, by_key) is not row:
            continue
        group = row.group
        in_group[group] += 1
        if group is Group.ENDED:
            ended_today += has_ended(row) and ended_ms(row) >= today_ms
    del in_group[Group.ENDED]
    return Counts(
        **{group.name.lower(): count for group, count in in_group.items()},
        ended_today=ended_today,
        machines=0 if hosts <= {""} else len(hosts),
    )


def status_counts(rows: Iterable[Row], now_ms: int) -> StatusCounts:
    """Leave out other machines, which nobody could count without a list. `rows` has hidden sessions."""
    all_rows = [row for row in rows if not row.host]
    counted = counts(all_rows, now_ms)._asdict()
    begin_ms = midnight(now_ms)
    unknown = sum(
        row.status.state is State.UNKNOWN and row.parent is None and (row.seen_ms or 0) >= begin_ms
        for row in all_rows
    )
    return StatusCounts(**{name: counted.get(name, unknown) for name in StatusCounts._fields})


class CountedRows(Generic[Counted]):
    """Sessions that change a few at a time: counting 5,000 takes 3 ms, so the difference of each change is
    added. `count` counts rows at a time, such as `counts`."""

    def __init__(self, count: Callable[[Iterable[Row], int], Counted]) -> None:
        self._count = count
        self._rows: Mapping[Key, Row] = {}
        self._counts = count((), 0)
        self._counted_ms: int | None = None
        """When all were counted; later differences are counted at that time too."""
        self._parents: set[Key] = set()
        """The sessions that are named as parents, listed or not."""
        self._has_here = False

    def update(self, rows: Mapping[Key, Row], changed: Iterable[Row], now_ms: int) -> Counted:
        """All are counted once a minute, when a session goes or changes its parent or host, and when one
        comes on another machine, or after its subagent. `changed` are those that are new or have changed."""
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
                moves = zip(self._counts, was, now, strict=True)
                self._counts = self._counts._make(count + new - old for count, old, new in moves)
        return self._counts


def _families(rows: Iterable[Row], all_rows: Mapping[Key, Row]) -> set[Key]:
    """The keys of sessions and of those above them, on which it depends whether they are counted."""
    keys: set[Key] = set()
    for row in rows:
        above: Row | None = row
        while above is not None and above.key not in keys:
            keys.add(above.key)
            above = None if above.parent is None else all_rows.get(above.parent)
    return keys


def _bearings(row: Row) -> tuple[object, ...]:
    """What the counts depend on, besides the time, parents and hosts."""
    is_ended = row.group is Group.ENDED
    times = (row.began_ms, row.seen_ms, row.status.since_ms) if is_ended else ()
    return row.status.state, row.group, row.is_one_liner, row.is_archived, times


_LEAST_MS = 1_000
"""Changed counts are written after this time."""
_MOST_MS = FRESH_MS // 2
"""The same counts are written again after this time, so that they stay fresh."""


class Publisher:
    def __init__(self) -> None:
        self._rows: Mapping[Key, Row] = {}
        self._counts = StatusCounts()
        self._counted = CountedRows(status_counts)
        self._limits = NewestLimits()
        self._limits_words = ""
        self._written_ms: int | None = None

    @property
    def has_begun(self) -> bool:
        return self._written_ms is not None

    def publish(self, rows: Mapping[Key, Row], now_ms: int) -> bool:
        """Return whether the counts were written. `rows` is another mapping when a row has changed."""
        is_changed = rows is not self._rows
        due_ms = _LEAST_MS if is_changed else _MOST_MS
        if self._is_fresh(now_ms, due_ms):
            return False
        before = self._counts, self._limits_words
        if is_changed:
            changed, self._rows = changed_rows(self._rows, rows), rows
            self._counts = self._counted.update(rows, changed, now_ms)
            self._limits.update(changed)
        self._limits_words = limits_words(self._limits.shown(now_ms), now_ms)
        if (self._counts, self._limits_words) == before and self._is_fresh(now_ms, _MOST_MS):
            return False
        self._written_ms = now_ms
        write_status(self._counts, now_ms, self._limits_words)
        return True

    def _is_fresh(self, now_ms: int, most_ms: int) -> bool:
        return self._written_ms is not None and 0 <= now_ms - self._written_ms < most_ms
