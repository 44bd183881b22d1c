"""The list of sessions: it takes rows as they change, and keeps the lines in a stable order."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from agentwatch.machine.listing.arranging import Arrangement
from agentwatch.machine.listing.families import root
from agentwatch.machine.listing.hiding import hidden_from_ms, is_hidden
from agentwatch.machine.listing.lines import FoldId, FoldLine, Line, RowLine
from agentwatch.machine.listing.order import Order
from agentwatch.machine.listing.request import Request, Sort, row_search
from agentwatch.machine.listing.row_filter import row_filter
from agentwatch.machine.row import Row
from agentwatch.machine.standing import State
from agentwatch.wire.found import Key


class Update(NamedTuple):
    """What an update has changed in the lines. It is false if nothing has changed."""

    is_rebuilt: bool = False
    """Whether there are other lines than before; otherwise only their rows may have changed."""
    changed: tuple[int, ...] = ()
    """The indexes of the lines whose rows have changed, if the lines were not rebuilt."""

    def __bool__(self) -> bool:
        return self.is_rebuilt or bool(self.changed)


class Listing:
    """The lines of the list.

    A row moves only when its group changes. An update in which no row that is shown moves, appears or
    vanishes costs no more than the rows that have changed.
    """

    def __init__(self) -> None:
        self._rows: dict[Key, Row] = {}
        self._order = Order()
        self._toggled: dict[FoldId, bool] = {}
        self._request = Request()
        self._filter = row_filter("")
        self._search = row_search("")
        self._lines: list[Line] = []
        self._at: dict[Key, int] = {}
        self._hidden = self._filtered = 0
        self._parents: set[Key] = set()
        """The sessions that are named as parents, listed or not."""
        self._now_ms = 0
        self._expires_ms: int | None = None
        """The time after which the next session is to be hidden."""

    @property
    def lines(self) -> Sequence[Line]:
        """The lines, from the top. An update may replace lines in it, or replace it."""
        return self._lines

    @property
    def rows(self) -> Mapping[Key, Row]:
        """All sessions, shown or not."""
        return self._rows

    @property
    def hidden_count(self) -> int:
        """The number of sessions that are hidden because they are old or archived, without subagents.

        With a filter, only those that match it are counted: as many as `shows_hidden` would add.
        """
        return self._hidden

    @property
    def filtered_count(self) -> int:
        """The number of sessions and subagents that do not match the filter or the search."""
        return self._filtered

    def index_of(self, key: Key) -> int | None:
        """Return the index of the line of a session; None if it has none: folded, hidden or gone."""
        return self._at.get(key)

    def update(self, rows: Iterable[Row], now_ms: int) -> Update:
        """Take all sessions of the machine; those that are not among them have vanished.

        Args:
            rows: All sessions.
            now_ms: The present time, in milliseconds since the epoch.
        """
        known, changed, kept = self._rows, [], 0
        rows = tuple(rows)
        for row in rows:
            old = known.get(row.key)
            kept += old is not None
            if old is not row and old != row:
                changed.append(row)
        if kept == len(known):
            return self.change(changed, (), now_ms)
        present = {row.key for row in rows}
        return self.change(changed, [key for key in known if key not in present], now_ms)

    def change(self, rows: Iterable[Row], vanished: Iterable[Key], now_ms: int) -> Update:
        """Take new and changed sessions, and remove those that have vanished.

        Args:
            rows: The sessions that are new or have changed.
            vanished: The keys of the sessions that are gone.
            now_ms: The present time, in milliseconds since the epoch.
        """
        self._now_ms = now_ms
        rows = list(rows)
        self._order.place(rows, now_ms)
        is_rebuilt, changed = False, []
        for row in rows:
            old = self._rows.get(row.key)
            self._rows[row.key] = row
            if row.parent is not None:
                self._parents.add(row.parent)
            if old is None and self._is_apart(row):
                self._hidden += 1
            elif old is None or self._bearings(old) != self._bearings(row):
                is_rebuilt = True
            elif not is_rebuilt and (at := self._at.get(row.key)) is not None:
                line = self._lines[at]
                assert isinstance(line, RowLine)
                self._lines[at] = line._replace(row=row)
                changed.append(at)
        gone = [key for key in vanished if self._rows.pop(key, None) is not None]
        if gone:
            self._order.forget(gone)
        is_late = self._expires_ms is not None and now_ms > self._expires_ms
        if is_rebuilt or gone or is_late:
            self._build()
            return Update(is_rebuilt=True)
        return Update(changed=tuple(changed))

    def request(self, wanted: Request) -> None:
        """Show what the user wants to see.

        Args:
            wanted: The filter, the search, the order, and whether hidden sessions are shown.
        """
        self._request = wanted
        self._filter, self._search = row_filter(wanted.filter), row_search(wanted.search)
        self._build()

    def toggle(self, line: RowLine | FoldLine) -> None:
        """Open or close a line: the subagents of a session, the sessions of a fold."""
        self._toggled[line.fold] = not line.is_open
        self._build()

    def _build(self) -> None:
        shown, self._hidden, self._filtered = {}, 0, 0
        self._expires_ms = None
        shows_hidden = self._request.shows_hidden or self._search is not None
        for key, row in self._rows.items():
            if not self._matches(row):
                self._filtered += 1
                continue
            if not shows_hidden:
                top = root(row, self._rows)
                from_ms = hidden_from_ms(top)
                if from_ms is not None and self._now_ms > from_ms:
                    self._hidden += top is row
                    continue
                if from_ms is not None and (self._expires_ms is None or from_ms < self._expires_ms):
                    self._expires_ms = from_ms
            shown[key] = row
        arrangement = Arrangement(shown, self._order, self._toggled, folds=self._search is None)
        self._lines = arrangement.lines(self._request.sort)
        self._at = {line.row.key: at for at, line in enumerate(self._lines) if isinstance(line, RowLine)}

    def _is_apart(self, row: Row) -> bool:
        """Return whether a new session is hidden and changes no line: of 100,000 sessions most are old."""
        is_alone = row.parent is None and row.key not in self._parents
        shows_hidden = self._request.shows_hidden or self._search is not None
        return is_alone and not shows_hidden and is_hidden(row, self._now_ms) and self._matches(row)

    def _matches(self, row: Row) -> bool:
        return (self._filter is None or self._filter(row)) and (self._search is None or self._search(row))

    def _bearings(self, row: Row) -> tuple[object, ...]:
        """Return what the place of a session depends on; while it is equal, the lines stay as they are."""
        began_ms = row.began_ms if self._request.sort is Sort.AGE else None
        return (
            row.group,
            row.standing.state is State.UNKNOWN,
            row.parent,
            row.is_one_liner,
            (row.cwd, row.repo, row.worktree, row.place),
            is_hidden(row, self._now_ms),
            began_ms,
            self._matches(row),
        )
