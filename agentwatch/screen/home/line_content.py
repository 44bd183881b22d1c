"""What each row of the list shows: a heading, a session, or a line that stands for several."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import NamedTuple

from agentwatch.machine.listing.lines import FoldLine, Heading, Line, RowLine
from agentwatch.machine.row import Row
from agentwatch.machine.standing import LIVE, Group
from agentwatch.screen.home import cells, words
from agentwatch.screen.home.columns import LEAST_FOR_ONE_ROW, Columns, Widths, columns_for
from agentwatch.screen.lines.line_view import Spans
from agentwatch.text.safe import SafeText, cut, wrapped
from agentwatch.wire.found import Key

_INDENT = "  "
_SECOND_MS, _MINUTE_MS = 1_000, 60_000
_HEADINGS = {Group.NEEDS_YOU: "asks", Group.FAILED: "failed", Group.WORKING: "working"}
"""The styles of the headings of some groups; the others have that of a heading."""


class Shown(NamedTuple):
    """What a row of the pane shows."""

    line: Line | None
    """None for a row of the words that stand in an empty list."""
    part: int
    """The number of the row within the line."""
    times: range
    """The times at which it shows the same, in ms since the epoch, if the line stays the same."""
    is_chosen: bool
    layout: tuple[int, Widths]
    spans: Spans


def times_of(line: Line, now_ms: int) -> range:
    """Return the times from `now_ms` on at which a line shows the same, in ms since the epoch.

    The clocks of a session that runs have seconds. Of another one only the age changes, and the time of its
    end, which becomes a day at midnight; that is shown within a minute.
    """
    if not isinstance(line, RowLine):
        return range(now_ms, sys.maxsize)
    row, standing = line.row, line.row.standing
    if standing.state in LIVE or row.lost_ms is not None:
        begins = (standing.since_ms, standing.now_since_ms, row.lost_ms, row.began_ms)
        unit_ms = _SECOND_MS
    else:
        is_young = row.began_ms is not None and now_ms - row.began_ms < _MINUTE_MS
        begins = (row.began_ms, None, None, None)
        unit_ms = _SECOND_MS if is_young else _MINUTE_MS
    left_ms = (unit_ms - (now_ms - begin_ms) % unit_ms for begin_ms in begins if begin_ms is not None)
    return range(now_ms, now_ms + min(left_ms, default=unit_ms))


class LineContent:
    """Makes the contents of rows; the widths of the columns only grow while the width of the pane stays."""

    def __init__(self) -> None:
        self.width = 0
        """The width of a row after the column of its mark."""
        self.nothing = SafeText("")
        """What an empty list says, in lines."""
        self._needed = Widths()
        self._measured: dict[Key, Row] = {}
        """The rows that have room in the columns."""
        self._columns: Columns | None = None

    @property
    def is_wide(self) -> bool:
        """Whether each session takes one row."""
        return self.width >= LEAST_FOR_ONE_ROW

    @property
    def layout(self) -> tuple[int, Widths]:
        """What the columns depend on."""
        return self.width, self._needed

    def nothing_rows(self) -> list[Spans]:
        """Return the words of an empty list as rows."""
        rows = [row for line in self.nothing.split("\n") for row in wrapped(SafeText(line), self.width)]
        return [[(row, "muted")] for row in rows] if self.nothing and self.width > 0 else []

    def fit(self, width: int) -> None:
        """Make contents for rows of another width; the columns are measured again."""
        if width != self.width:
            self.width, self._needed, self._columns = width, Widths(), None
            self._measured = {}

    def measure(self, rows: Sequence[Row], now_ms: int) -> None:
        """Make room for the contents of rows."""
        measured = self._measured
        needed = self._needed.grown([row for row in rows if measured.get(row.key) is not row], now_ms)
        self._measured = {row.key: row for row in rows}
        if needed != self._needed:
            self._needed, self._columns = needed, None

    def spans(self, line: Line, part: int, now_ms: int) -> Spans:
        """Return the pieces of a row.

        Args:
            line: The line of the list.
            part: The number of the row within the line.
            now_ms: The current time, in ms since the epoch.
        """
        if isinstance(line, Heading):
            return self._heading(line)
        indent = _INDENT * line.depth
        room = max(self.width - len(indent), 1)
        if isinstance(line, FoldLine):
            mark = "▾" if line.is_open else "▸"
            style = "heading" if line.fold[0] == "repository" else "muted"
            return [(cut(SafeText(f"{indent}{mark} {words.foreign(line.words)}"), self.width), style)]
        if not self.is_wide:
            spans = (cells.lower_row if part else cells.upper_row)(line.row, room, now_ms)
            return [(SafeText(indent), ""), *spans]
        return cells.wide_row(line.row, self._fitting(), now_ms, line.depth)

    def heading(self) -> Spans:
        """Return the names of the columns; nothing if each session takes two rows."""
        return cells.heading(self._fitting()) if self.is_wide else []

    def _fitting(self) -> Columns:
        if self._columns is None:
            self._columns = columns_for(self.width, self._needed)
        return self._columns

    def _heading(self, line: Heading) -> Spans:
        name = cut(SafeText(line.group.upper()), self.width)
        return [(name, _HEADINGS.get(line.group, "heading")), (SafeText(f"  {line.count}"), "muted")]
