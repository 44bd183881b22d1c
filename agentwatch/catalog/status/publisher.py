"""Keeps the counts of an open list fresh for other processes, at little cost."""

from __future__ import annotations

from collections.abc import Mapping

from agentwatch.agents.found import Key
from agentwatch.catalog.limits import NewestLimits, limits_words
from agentwatch.catalog.row import Row, changed_rows
from agentwatch.catalog.row_counts import CountedRows
from agentwatch.catalog.status.counts import Counts, counts_of
from agentwatch.catalog.status.file import FRESH_MS, write_status

_LEAST_MS = 1_000
"""Changed counts are written after this time."""
_MOST_MS = FRESH_MS // 2
"""The same counts are written again after this time, so that they stay fresh."""


class Publisher:
    """Writes the counts of rows when they have changed, and otherwise before they are too old."""

    def __init__(self) -> None:
        self._rows: Mapping[Key, Row] = {}
        self._counts = Counts()
        self._counted = CountedRows(counts_of)
        self._limits = NewestLimits()
        self._words = ""
        """The usage limits."""
        self._written_ms: int | None = None

    @property
    def has_begun(self) -> bool:
        """Whether counts were written."""
        return self._written_ms is not None

    def publish(self, rows: Mapping[Key, Row], now_ms: int) -> bool:
        """Write the counts if they are due, and return whether they were. `rows` is another mapping when a
        row has changed."""
        is_changed = rows is not self._rows
        due_ms = _LEAST_MS if is_changed else _MOST_MS
        if self._is_fresh(now_ms, due_ms):
            return False
        before = self._counts, self._words
        if is_changed:
            changed, self._rows = changed_rows(self._rows, rows), rows
            self._counts = self._counted.update(rows, changed, now_ms)
            self._limits.update(changed)
        self._words = limits_words(self._limits.shown(now_ms), now_ms)
        if (self._counts, self._words) == before and self._is_fresh(now_ms, _MOST_MS):
            return False
        self._written_ms = now_ms
        write_status(self._counts, now_ms, self._words)
        return True

    def _is_fresh(self, now_ms: int, most_ms: int) -> bool:
        """Return whether counts were written within a time."""
        return self._written_ms is not None and 0 <= now_ms - self._written_ms < most_ms
