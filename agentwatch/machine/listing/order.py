"""The place of each session in the list, which changes only when its group changes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from agentwatch.machine.listing.lines import FoldId
from agentwatch.machine.row import Row
from agentwatch.machine.standing import Group, State
from agentwatch.wire.found import Key

_MOST_VANISHED = 1_000
"""The number of vanished sessions whose place is kept: a file is away for a moment while it is replaced."""
_MOST_FOLDS = 10_000


class Place(NamedTuple):
    """Where a session is. A higher time is nearer to the top; the key makes the order complete."""

    group: Group
    at_ms: int
    """The time by which it is placed in its group."""
    first_ms: int
    """The time by which it is placed where groups do not count."""
    is_guessed: bool = False
    """Whether its lines were not read, so that the time is that of its file."""


class Order:
    """The places of all sessions and folds."""

    def __init__(self) -> None:
        self._places: dict[Key, Place] = {}
        self._vanished: dict[Key, None] = {}
        self._folds: dict[FoldId, int] = {}

    def place(self, rows: Iterable[Row], now_ms: int) -> None:
        """Give new sessions, and those whose group has changed, their places.

        A session that is new in the list is placed by its last line, so that older ones that are found later
        come below. So is one that had ended: its process may only have been found late. Any other one that
        changes its group goes to the top of the new one.

        The time of a file is that of its last copy, so a session whose lines were not read keeps its place
        only until they are.

        Args:
            rows: New and changed sessions.
            now_ms: The present time, in milliseconds since the epoch.
        """
        for row in rows:
            self._vanished.pop(row.key, None)
            old = self._places.get(row.key)
            is_guessed = row.standing.state is State.UNKNOWN
            if old is None or (old.is_guessed and not is_guessed and old.group is row.group):
                seen_ms = row.seen_ms or row.standing.since_ms or row.began_ms or 0
                self._places[row.key] = Place(row.group, seen_ms, seen_ms, is_guessed)
            elif old.group is not row.group:
                known_ms = max(row.seen_ms or 0, row.standing.since_ms or 0)
                at_ms = known_ms if old.group is Group.ENDED and known_ms else now_ms
                self._places[row.key] = Place(row.group, at_ms, old.first_ms)

    def forget(self, keys: Iterable[Key]) -> None:
        """Remove vanished sessions; the last thousand get their old places if they come back."""
        for key in keys:
            self._vanished[key] = None
        while len(self._vanished) > _MOST_VANISHED:
            oldest = next(iter(self._vanished))
            del self._vanished[oldest], self._places[oldest]

    def in_group(self, row: Row) -> tuple[int, int, Key]:
        """Return the sort key of a session within its group; the highest one is at the top."""
        place = self._places[row.key]
        return place.at_ms, place.first_ms, row.key

    def at_first(self, row: Row) -> tuple[int, Key]:
        """Return the sort key of a session where groups do not count; it never changes."""
        return self._places[row.key].first_ms, row.key

    def of_fold(self, fold: FoldId, rows: Iterable[Row]) -> tuple[int, FoldId]:
        """Return the sort key of a fold, which is given when it is first seen and never changes.

        Args:
            fold: The fold.
            rows: The sessions in it.
        """
        if fold not in self._folds:
            self._folds[fold] = max(self._places[row.key].first_ms for row in rows)
            if len(self._folds) > _MOST_FOLDS:
                del self._folds[next(iter(self._folds))]
        return self._folds[fold], fold
