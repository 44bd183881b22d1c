"""The rows of the calls: what is folded into one, and in which order they stand.

A row is a range of the session's calls, so a fold of thousands costs what one call costs. What changes
is looked up by bisection: 100,000 calls cost nothing as long as they stay as they are.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Sequence
from math import inf
from time import perf_counter
from typing import NamedTuple, Protocol

from agentwatch.events import Outcome, ToolKind
from agentwatch.session import Call

_LEAST_READS = 3
CALLS_BETWEEN_LOOKS = 256
"""At the clock, while rows are made for so many seconds."""

Matches = Callable[[Call], bool]
"""Whether a call is to be shown."""


class Row(NamedTuple):
    """One call, or several in one; the numbers are places in the session's list."""

    first: int
    last: int
    is_same: bool = True
    """All of them are the same call, made again."""
    is_open: bool = False
    """A row for each of its calls follows."""
    fold: int = -1
    """Of a row within an open one: where that begins."""

    @property
    def is_fold(self) -> bool:
        """Whether it stands for several calls."""
        return self.last > self.first


class Rows(Protocol):
    """Rows in some order."""

    @property
    def shown(self) -> int:
        """How many calls they show."""
        ...

    def __len__(self) -> int: ...

    def __getitem__(self, y: int) -> Row: ...

    def fill(self, seconds: float | None = None) -> bool:
        """Take the calls not yet taken, for about so many seconds; return whether all are."""
        ...

    def update(self, changed: Iterable[int]) -> None:
        """Take what has become of calls; of those not yet taken nothing."""
        ...

    def row_of(self, index: int, *, is_whole: bool = False) -> int | None:
        """Return the row that shows a call, in an open fold its own or the whole's; None if left out."""
        ...

    def toggle(self, y: int) -> bool:
        """Open a row of several calls, or fold it again; return whether it is such a row."""
        ...

    def group_mark(self, y: int) -> str:
        """Return the piece of the bracket around the calls of one model step: `┌│└` or a blank."""
        ...


class RowsByTime:
    """Calls in the order in which they appeared, repeats and runs of reads folded."""

    def __init__(self, calls: Sequence[Call], matches: Matches | None = None) -> None:
        """Show the calls that match; None is all."""
        self.shown = 0
        self._calls = calls
        self._matches = matches
        self._taken = 0
        self._rows: list[Row] = []

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, y: int) -> Row:
        return self._rows[y]

    def fill(self, seconds: float | None = None) -> bool:
        """Take the calls not yet taken, for about so many seconds; return whether all are."""
        until = inf if seconds is None else perf_counter() + seconds
        for index in range(self._taken, len(self._calls)):
            self._taken += 1
            if self._matches is None or self._matches(self._calls[index]):
                self._append(index)
            if index % CALLS_BETWEEN_LOOKS == 0 and perf_counter() >= until:
                break
        return self._taken == len(self._calls)

    def update(self, changed: Iterable[int]) -> None:
        """Take what has become of calls; of those not yet taken nothing."""
        for index in changed:
            if index < self._taken:
                self._place(index, self._matches is None or self._matches(self._calls[index]))

    def row_of(self, index: int, *, is_whole: bool = False) -> int | None:
        """Return the row that shows a call, in an open fold its own or the whole's; None if left out."""
        at = bisect_right(self._rows, index, key=_first) - 1
        if at < 0 or self._rows[at].last < index:
            return None
        return self._unit(at)[0] if is_whole else at

    def toggle(self, y: int) -> bool:
        """Open a row of several calls, or fold it again; return whether it is such a row."""
        row = self._rows[y]
        if row.is_fold:
            top, end, _ = self._unit(y)
            self._rows[top:end] = _rows_of(row.first, row.last, row.is_same, not row.is_open)
        return row.is_fold

    def group_mark(self, y: int) -> str:
        """Return the piece of the bracket around the calls of one model step: `┌│└` or a blank."""
        above, below = self._are_one_step(y - 1), self._are_one_step(y)
        return "│" if above and below else "└" if above else "┌" if below else " "

    def _are_one_step(self, y: int) -> bool:
        """Return whether a row and the next belong to one step of the model."""
        if not 0 <= y < len(self._rows) - 1:
            return False
        one, other = self._calls[self._rows[y].last], self._calls[self._rows[y + 1].first]
        return one is not other and one.group is not None and (one.run, one.group) == (other.run, other.group)

    def _append(self, index: int) -> None:
        last = self._rows[-1].last if self._rows else -2
        kind = None if last != index - 1 else _kind(self._calls[index])
        if kind is not None and kind == _kind(self._calls[last]):
            self._place(index, True)
        else:
            self._rows.append(Row(index, index))
            self.shown += 1

    def _unit(self, y: int) -> tuple[int, int, Row]:
        """Return where a row begins and ends with the rows that belong to it, and its first."""
        row = self._rows[y]
        if row.fold >= 0:
            y = bisect_left(self._rows, row.fold, key=_first)
            row = self._rows[y]
        return y, y + 1 + (row.last - row.first + 1 if row.is_open else 0), row

    def _place(self, index: int, is_shown: bool) -> None:
        """Cut a call out of the row that it is in, and put it where it belongs now."""
        top = end = bisect_right(self._rows, index, key=_first)
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
        self._rows[top:end] = made

    def _piece(self, row: Row, first: int, last: int) -> Row:
        """Return what is left of a row from which a call was cut out."""
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


def _first(row: Row) -> int:
    return row.first


def _rows_of(first: int, last: int, is_same: bool, is_open: bool) -> list[Row]:
    """Return the rows of calls of one kind that follow each other."""
    if last == first or (not is_same and last - first + 1 < _LEAST_READS):
        return [Row(index, index) for index in range(first, last + 1)]
    inner = [Row(index, index, fold=first) for index in range(first, last + 1)] if is_open else []
    return [Row(first, last, is_same, is_open), *inner]


def _kind(call: Call) -> tuple[object, ...] | None:
    """Return what calls that fold into one have in common; None of a call whose end is not known."""
    if call.started is None or call.ended is None:
        return None
    if call.kind is ToolKind.READ and call.target and call.outcome is Outcome.SUCCEEDED:
        return (call.run, ToolKind.READ)
    return (call.run, *_sameness(call))


def _sameness(call: Call) -> tuple[object, ...]:
    return call.tool, call.target, call.path, call.outcome, call.exit_code, call.error
