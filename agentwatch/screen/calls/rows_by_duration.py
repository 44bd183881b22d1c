"""The rows of the calls by duration."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterable, Sequence
from math import inf
from time import perf_counter

from agentwatch.events import Outcome
from agentwatch.screen.calls.rows_by_time import CALLS_BETWEEN_LOOKS, Matches, Row
from agentwatch.session import Call


class RowsByDuration:
    """A row for each call: those that still run, then the slowest first, then those of unknown duration."""

    def __init__(self, calls: Sequence[Call], matches: Matches | None = None) -> None:
        """Show the calls that match; None is all."""
        self._calls = calls
        self._matches = matches
        self._keys: list[float] = []
        self._order: list[int] = []
        self._is_sorted = False
        self._changed: set[int] = set()
        """Calls that changed before all were sorted."""

    @property
    def shown(self) -> int:
        """How many calls they show."""
        return len(self._order)

    def __len__(self) -> int:
        return len(self._order)

    def __getitem__(self, y: int) -> Row:
        return Row(self._order[y], self._order[y])

    def fill(self, seconds: float | None = None) -> bool:
        """Take the calls not yet taken, for about so many seconds; return whether all are."""
        until = inf if seconds is None else perf_counter() + seconds
        for index in range(len(self._keys), len(self._calls)):
            self._keys.append(_slowness(self._calls[index]))
            if self._matches is None or self._matches(self._calls[index]):
                if self._is_sorted:
                    insort(self._order, index, key=self._key)
                else:
                    self._order.append(index)
            if index % CALLS_BETWEEN_LOOKS == 0 and perf_counter() >= until:
                break
        is_full = len(self._keys) == len(self._calls)
        if is_full and not self._is_sorted:
            self._order.sort(key=self._keys.__getitem__)
            self._is_sorted = True
            self.update(self._changed)
        return is_full

    def update(self, changed: Iterable[int]) -> None:
        """Take what has become of calls; of those not yet taken nothing."""
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
        """Return the row that shows a call, in an open fold its own or the whole's; None if left out."""
        del is_whole
        at = bisect_left(self._order, self._key(index), key=self._key) if index < len(self._keys) else -1
        return at if 0 <= at < len(self._order) and self._order[at] == index else None

    def toggle(self, y: int) -> bool:
        """Return that no row stands for several calls."""
        del y
        return False

    def group_mark(self, y: int) -> str:
        """Return a blank: calls of one step need not stand together."""
        del y
        return " "

    def _key(self, index: int) -> tuple[float, int]:
        return self._keys[index], index


def _slowness(call: Call) -> float:
    if call.outcome is Outcome.RUNNING:
        return -inf
    took_ms = call.duration_ms if call.duration_ms is not None else call.seen_duration_ms
    return inf if took_ms is None else -took_ms
