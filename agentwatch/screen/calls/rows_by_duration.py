"""The rows of the calls pane, ordered by duration."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterable, Sequence
from math import inf
from time import perf_counter
from typing import TYPE_CHECKING

from agentwatch.events import Outcome
from agentwatch.screen.calls.row_list import Row
from agentwatch.screen.calls.rows_by_time import CALLS_PER_CLOCK_CHECK
from agentwatch.session import Call

if TYPE_CHECKING:
    from agentwatch.rules.calls.filter import Matches


class RowsByDuration:
    """One row per call: running calls first, then the slowest first, then calls of unknown duration."""

    def __init__(self, calls: Sequence[Call], matches: Matches | None = None) -> None:
        """Create the rows of the calls that match; without `matches`, of all calls."""
        self._calls = calls
        self._matches = matches
        self._keys: list[float] = []
        self._order: list[int] = []
        self._is_sorted = False
        self._changed: set[int] = set()
        """Calls that changed before the first sort was complete."""

    def prefix(self, calls: Sequence[Call], matches: Matches | None) -> RowsByDuration:
        """Return the rows of an earlier moment of the same session.

        Args:
            calls: The calls at that moment. `update` must be called for those that were in another state.
            matches: The filter.
        """
        prefix, count = RowsByDuration(calls, matches), min(len(calls), len(self._keys))
        prefix._keys, prefix._is_sorted = self._keys[:count], self._is_sorted
        prefix._order = [index for index in self._order if index < count]
        prefix._changed = {index for index in self._changed if index < count}
        return prefix

    @property
    def shown(self) -> int:
        """The number of calls that the rows contain."""
        return len(self._order)

    def __len__(self) -> int:
        return len(self._order)

    def __getitem__(self, y: int) -> Row:
        return Row(self._order[y], self._order[y])

    def fill(self, seconds: float | None = None, end: int | None = None) -> bool:
        """Add rows for the remaining calls for about `seconds` (None: all); return whether all are added.

        Args:
            seconds: The approximate time limit.
            end: The index of a call at which to stop.
        """
        until = inf if seconds is None else perf_counter() + seconds
        for index in range(len(self._keys), len(self._calls) if end is None else end):
            self._keys.append(_slowness(self._calls[index]))
            if self._matches is None or self._matches(self._calls[index]):
                if self._is_sorted:
                    insort(self._order, index, key=self._key)
                else:
                    self._order.append(index)
            if (self._matches or index % CALLS_PER_CLOCK_CHECK == 0) and perf_counter() >= until:
                break
        is_full = len(self._keys) == len(self._calls)
        if is_full and not self._is_sorted:
            self._order.sort(key=self._keys.__getitem__)
            self._is_sorted = True
            self.update(self._changed)
        return is_full

    def update(self, changed: Iterable[int]) -> None:
        """Update the rows of changed calls; calls that have not been added yet are ignored."""
        if not self._is_sorted:
            self._changed.update(changed)
            return
        for index in changed:
            if index < len(self._keys):
                if (y := self.row_of(index)) is not None:
                    del self._order[y]
                self._keys[index] = _slowness(self._calls[index])
                if self._matches is None or self._matches(self._calls[index]):
                    insort(self._order, index, key=self._key)

    def row_of(self, index: int, *, is_whole: bool = False) -> int | None:
        """Return the row that contains a call; None if the filter hides it."""
        del is_whole
        at = bisect_left(self._order, self._key(index), key=self._key) if index < len(self._keys) else -1
        return at if 0 <= at < len(self._order) and self._order[at] == index else None

    def toggle(self, y: int) -> bool:
        """Return False: no row contains several calls."""
        del y
        return False

    def group_mark(self, y: int) -> str:
        """Return a blank: calls of one model step are not adjacent in this order."""
        del y
        return " "

    def _key(self, index: int) -> tuple[float, int]:
        return self._keys[index], index


def _slowness(call: Call) -> float:
    if call.outcome is Outcome.RUNNING:
        return -inf
    took_ms = call.duration_ms if call.duration_ms is not None else call.seen_duration_ms
    return inf if took_ms is None else -took_ms
