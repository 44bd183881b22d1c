"""The rows of the calls pane in order of time, with repeated calls and runs of reads folded.

A row is a range of call indices, so a fold of thousands of calls costs as much as a single call. Changed
calls are located by bisection; calls that do not change cost nothing, even 100,000 of them.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from math import inf
from time import perf_counter
from typing import TYPE_CHECKING, Protocol

from agentwatch.events import Outcome, ToolKind
from agentwatch.screen.calls.row_list import Row, RowList
from agentwatch.session import Call

if TYPE_CHECKING:
    from agentwatch.rules.calls.filter import Matches

_LEAST_READS = 3
CALLS_PER_CLOCK_CHECK = 256
"""The clock is checked once per this number of calls while rows are built for a limited time.

With a filter it is checked for each call: a rule may read what the call printed, which takes up to 1 ms.
"""


class Rows(Protocol):
    """The rows of the calls pane, in some order."""

    @property
    def shown(self) -> int:
        """The number of calls that the rows contain."""
        ...

    def __len__(self) -> int: ...

    def __getitem__(self, y: int) -> Row: ...

    def fill(self, seconds: float | None = None, end: int | None = None) -> bool:
        """Add rows for the remaining calls for about `seconds` (None: all); return whether all are added.

        Args:
            seconds: The approximate time limit.
            end: The index of a call at which to stop.
        """
        ...

    def update(self, changed: Iterable[int]) -> None:
        """Update the rows of changed calls; calls that have not been added yet are ignored."""
        ...

    def row_of(self, index: int, *, is_whole: bool = False) -> int | None:
        """Return the row that contains a call; None if the filter hides it.

        Args:
            index: The index of the call.
            is_whole: Return the first row of the fold, even if the fold is open and the call has its own row.
        """
        ...

    def toggle(self, y: int) -> bool:
        """Open or close a fold; return whether the row is one."""
        ...

    def group_mark(self, y: int) -> str:
        """Return the piece of the bracket around the calls of one model step: `┌`, `│`, `└` or a blank."""
        ...

    def prefix(self, calls: Sequence[Call], matches: Matches | None) -> Rows:
        """Return the rows of an earlier moment of the same session.

        Args:
            calls: The calls at that moment. `update` must be called for those that were in another state.
            matches: The filter.
        """
        ...


class RowsByTime:
    """Calls in the order in which they appeared; repeated calls and runs of reads are folded."""

    def __init__(self, calls: Sequence[Call], matches: Matches | None = None) -> None:
        """Create the rows of the calls that match; without `matches`, of all calls."""
        self.shown = 0
        self._calls = calls
        self._matches = matches
        self._taken = 0
        self._rows = RowList()

    def prefix(self, calls: Sequence[Call], matches: Matches | None) -> RowsByTime:
        """Return the rows of an earlier moment of the same session.

        Args:
            calls: The calls at that moment. `update` must be called for those that were in another state.
            matches: The filter.
        """
        prefix, count = RowsByTime(calls, matches), min(len(calls), self._taken)
        end = bisect_left(self._rows.firsts, count)
        top = end and self._unit(end - 1)[0]
        prefix._taken, prefix._rows = count, self._rows.prefix(top)
        if top < end:
            row = self._rows[top]
            piece = row if row.last < count else self._piece(row, row.first, count - 1)
            prefix._rows.replace(top, top, _rows_of(*piece[:4]))
        prefix.shown = prefix._rows.calls()
        return prefix

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, y: int) -> Row:
        return self._rows[y]

    def fill(self, seconds: float | None = None, end: int | None = None) -> bool:
        """Add rows for the remaining calls for about `seconds` (None: all); return whether all are added.

        Args:
            seconds: The approximate time limit.
            end: The index of a call at which to stop.
        """
        until = inf if seconds is None else perf_counter() + seconds
        for index in range(self._taken, len(self._calls) if end is None else end):
            self._taken += 1
            if self._matches is None or self._matches(self._calls[index]):
                self._append(index)
            if (self._matches or index % CALLS_PER_CLOCK_CHECK == 0) and perf_counter() >= until:
                break
        return self._taken == len(self._calls)

    def update(self, changed: Iterable[int]) -> None:
        """Update the rows of changed calls; calls that have not been added yet are ignored."""
        for index in changed:
            if index < self._taken:
                self._place(index, self._matches is None or self._matches(self._calls[index]))

    def row_of(self, index: int, *, is_whole: bool = False) -> int | None:
        """Return the row that contains a call; None if the filter hides it.

        Args:
            index: The index of the call.
            is_whole: Return the first row of the fold, even if the fold is open and the call has its own row.
        """
        at = bisect_right(self._rows.firsts, index) - 1
        if at < 0 or self._rows[at].last < index:
            return None
        return self._unit(at)[0] if is_whole else at

    def toggle(self, y: int) -> bool:
        """Open or close a fold; return whether the row is one."""
        row = self._rows[y]
        if row.is_fold:
            top, end, _ = self._unit(y)
            self._rows.replace(top, end, _rows_of(row.first, row.last, row.is_same, not row.is_open))
        return row.is_fold

    def group_mark(self, y: int) -> str:
        """Return the piece of the bracket around the calls of one model step: `┌`, `│`, `└` or a blank."""
        above, below = self._are_one_step(y - 1), self._are_one_step(y)
        return "│" if above and below else "└" if above else "┌" if below else " "

    def _are_one_step(self, y: int) -> bool:
        """Return whether a row and the next one belong to the same step of the model."""
        if not 0 <= y < len(self._rows) - 1:
            return False
        one, other = self._calls[self._rows[y].last], self._calls[self._rows[y + 1].first]
        return one is not other and one.group is not None and (one.run, one.group) == (other.run, other.group)

    def _append(self, index: int) -> None:
        last = self._rows[-1].last if len(self._rows) else -2
        kind = None if last != index - 1 else _kind(self._calls[index])
        if kind is not None and kind == _kind(self._calls[last]):
            self._place(index, True)
        else:
            self._rows.append(Row(index, index))
            self.shown += 1

    def _unit(self, y: int) -> tuple[int, int, Row]:
        """Return the first row of the fold that contains row `y`, the end of its rows, and the fold itself.

        A row that is in no fold is returned alone.
        """
        row = self._rows[y]
        if row.fold >= 0:
            y = bisect_left(self._rows.firsts, row.fold)
            row = self._rows[y]
        return y, y + 1 + (row.last - row.first + 1 if row.is_open else 0), row

    def _place(self, index: int, is_shown: bool) -> None:
        """Cut a call out of its row and insert it where it belongs now."""
        top = end = bisect_right(self._rows.firsts, index)
        pieces: list[Row] = []
        if top and (unit := self._unit(top - 1))[2].last >= index:
            top, end, row = unit
            pieces += [self._piece(row, row.first, index - 1)] if row.first < index else []
            pieces += [Row(index, index, is_open=row.is_open)] if is_shown else []
            pieces += [self._piece(row, index + 1, row.last)] if row.last > index else []
            self.shown -= not is_shown
        elif is_shown:
            pieces.append(Row(index, index))
            self.shown += 1
        while pieces and top and self._may_join((unit := self._unit(top - 1))[2], pieces[0]):
            top = unit[0]
            pieces.insert(0, unit[2])
        while pieces and end < len(self._rows) and self._may_join(pieces[-1], self._rows[end]):
            _, after, row = self._unit(end)
            pieces.append(row)
            end = after
        made: list[Row] = []
        for row in self._joined(pieces):
            made += _rows_of(*row[:4])
        self._rows.replace(top, end, made)

    def _piece(self, row: Row, first: int, last: int) -> Row:
        """Return the row for calls `first` to `last`, which remain after a call was cut out of `row`."""
        kept = {_sameness(call) for call in self._calls[first : last + 1]}
        return Row(first, last, len(kept) == 1, row.is_open)

    def _may_join(self, one: Row, other: Row) -> bool:
        kind = _kind(self._calls[one.last])
        is_next = other.first == one.last + 1
        return is_next and kind is not None and kind == _kind(self._calls[other.first])

    def _joined(self, pieces: list[Row]) -> list[Row]:
        joined: list[Row] = []
        for row in pieces:
            if joined and self._may_join(joined[-1], row):
                before = joined[-1]
                seam = _sameness(self._calls[before.last]) == _sameness(self._calls[row.first])
                is_same = before.is_same and row.is_same and seam
                joined[-1] = Row(before.first, row.last, is_same, before.is_open or row.is_open)
            else:
                joined.append(row)
        return joined


def _rows_of(first: int, last: int, is_same: bool, is_open: bool) -> list[Row]:
    """Return the rows of consecutive calls of one kind."""
    if last == first or (not is_same and last - first + 1 < _LEAST_READS):
        return [Row(index, index) for index in range(first, last + 1)]
    inner = [Row(index, index, fold=first) for index in range(first, last + 1)] if is_open else []
    return [Row(first, last, is_same, is_open), *inner]


def _kind(call: Call) -> tuple[object, ...] | None:
    """Return a key that is equal for calls that fold together; None for a call with no known start or end."""
    if call.started is None or call.ended is None:
        return None
    if call.kind is ToolKind.READ and call.target and call.outcome is Outcome.SUCCEEDED:
        return (call.run, call.parent, ToolKind.READ)
    return (call.run, call.parent, *_sameness(call))


def _sameness(call: Call) -> tuple[object, ...]:
    return call.tool, call.target, call.path, call.outcome, call.exit_code, call.error
