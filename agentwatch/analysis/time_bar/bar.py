"""The cells of the time bar: what is drawn in each, and the moment that each is."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import NamedTuple

from agentwatch.analysis.time_bar.axis import Axis
from agentwatch.analysis.time_bar.call_moments import CallMoments
from agentwatch.analysis.time_bar.layout import Layout
from agentwatch.session import Session
from agentwatch.text.durations import duration_words

_LEAST_DENSE = 4
"""A cell with fewer calls is never drawn as a dense one."""


class Kind(StrEnum):
    """What a cell shows. Each kind has a sign of its own, so that the bar can be read without colours."""

    EMPTY = "empty"
    CALL = "call"
    """Calls ended here."""
    BUSY = "busy"
    """A call ran here, and none ended."""
    SILENCE = "silence"
    """A part of a long stretch without any line."""
    FAILURE = "failure"
    REJECTION = "rejection"
    RED = "red"
    """Tests failed."""
    GREEN = "green"
    """Tests passed."""
    ALARM = "alarm"
    """A rule was hit."""
    BOOKMARK = "bookmark"
    HANDLE = "handle"
    """The moment that is shown."""


class Cell(NamedTuple):
    """One column of the bar."""

    sign: str
    kind: Kind
    is_ahead: bool = False
    """Whether it lies after the moment that is shown."""
    is_bookmarked: bool = False
    """Whether a failure, which is drawn, hides a bookmark."""


_BLANK = Cell(" ", Kind.EMPTY)
_DENSE = Cell("┃", Kind.CALL)
_DRAWN = {
    Kind.EMPTY: _BLANK,
    Kind.CALL: Cell("│", Kind.CALL),
    Kind.BUSY: Cell("━", Kind.BUSY),
    Kind.FAILURE: Cell("✗", Kind.FAILURE),
    Kind.REJECTION: Cell("⊘", Kind.REJECTION),
}
_LINES = "━─"
_AHEAD = "╌"


class Bar:
    """The bar of one session: a few comparisons per cell and frame, whatever the number of calls."""

    def __init__(self, session: Session, axis: Axis) -> None:
        """Create the bar.

        Args:
            session: The whole session, not that of an earlier moment.
            axis: The scale.
        """
        self._session = session
        self._axis = axis
        self.calls = CallMoments(session)
        self._layout = Layout(axis, 1, 1)
        self._kinds: list[Kind] = []
        self._counts: list[int] = []
        """The number of calls that ended in each cell."""
        self._cells: list[Cell] = []
        """The cells as drawn, without the marks that the caller passes."""
        self._calls_drawn = (0, 0)
        """The number of starts and of ends that the cells contain."""
        self._drawn_to = 0
        """The moment up to which the cells contain every start and every end."""

    def lay_out(self, width: int) -> bool:
        """Lay out the session as it is now in `width` cells; return whether any cell changed."""
        length = self._axis.length(is_growing=not self._session.is_closed)
        layout = self._layout
        if (layout.width, layout.length) != (width, length) or not layout.is_valid or not self._cells:
            layout = self._layout = Layout(self._axis, width, length)
            self._kinds, self._counts = [Kind.EMPTY] * width, [0] * width
            self._calls_drawn, self._drawn_to = (0, 0), 0
        first = layout.update()
        started, ended = self.calls.started, self.calls.ended
        if (len(started), len(ended)) != self._calls_drawn:
            first = min(first, layout.cell_of(self._drawn_to))
            self._calls_drawn, self._drawn_to = (len(started), len(ended)), min(started.last, ended.last)
        if first < layout.width:
            self._count(first)
            self._draw()
        return first < layout.width

    @property
    def width(self) -> int:
        """The number of cells."""
        return self._layout.width

    def cells(
        self,
        handle: int,
        bookmarks: Sequence[tuple[int, str]] = (),
        verdicts: Sequence[tuple[int, bool]] = (),
        alarms: Sequence[tuple[int, str]] = (),
    ) -> list[Cell]:
        """Return the cells, from left to right.

        A failure is always drawn unless a rule was hit in its cell, and a bookmark gives way to both.

        Args:
            handle: The cell of the moment that is shown.
            bookmarks: The moment and the name of each bookmark.
            verdicts: The moment of each test run, and whether it is red.
            alarms: The moment of each hit of a rule, and the name of the rule.
        """
        cells, place = [*self._cells], self._layout.cell_of
        for at, is_red in verdicts:
            cell = place(at)
            if is_red:
                cells[cell] = Cell("✗", Kind.RED)
            elif cells[cell].kind not in (Kind.RED, Kind.FAILURE, Kind.REJECTION):
                cells[cell] = Cell("✓", Kind.GREEN)
        for at, _ in alarms:
            cells[place(at)] = Cell("▲", Kind.ALARM)
        for at, _ in bookmarks:
            cell = place(at)
            is_hidden = cells[cell].kind in (Kind.RED, Kind.FAILURE, Kind.ALARM)
            cells[cell] = cells[cell]._replace(is_bookmarked=True) if is_hidden else Cell("◈", Kind.BOOKMARK)
        last = place(self._axis.size)
        for cell in range(handle + 1, last + 1):
            each = cells[cell]
            is_line = each.sign in _LINES or each.kind is Kind.EMPTY
            cells[cell] = each._replace(sign=_AHEAD if is_line else each.sign, is_ahead=True)
        is_failure = cells[handle].kind in (Kind.RED, Kind.FAILURE)
        cells[handle] = Cell("⊗" if is_failure else "●", Kind.HANDLE)
        return cells

    def cell_of(self, moment: int, ms: int | None = None) -> int:
        """Return the cell of a moment. A later moment is never in an earlier cell.

        Args:
            moment: The moment.
            ms: The recorded time that is shown, in ms since the epoch. In a silence, time passes while the
                moment stays. None for the time of the moment's last line.
        """
        return self._layout.cell_of(moment) if ms is None else self._layout.cell_at(moment, ms)

    def moment_of(
        self,
        cell: int,
        bookmarks: Sequence[tuple[int, str]] = (),
        verdicts: Sequence[tuple[int, bool]] = (),
        alarms: Sequence[tuple[int, str]] = (),
    ) -> int:
        """Return the moment to which a click on a cell leads: of its first mark, else the end of the cell.

        Args:
            cell: The cell; one outside the bar counts as the nearest.
            bookmarks: As in `cells`.
            verdicts: As in `cells`.
            alarms: As in `cells`.
        """
        ends = self._layout.ends
        cell = min(max(cell, 0), self.width - 1)
        begin, end = ends[cell - 1] if cell else 0, ends[cell]
        marks = [at for at, _ in (*bookmarks, *verdicts, *alarms) if begin < at <= end]
        failed = self.calls.failed.first_after(begin)
        if failed is not None and failed <= end:
            marks.append(failed)
        return min(marks, default=end)

    def ms_of(self, cell: int) -> int | None:
        """Return the recorded time at the end of a cell, in ms since the epoch; None without times."""
        axis = self._axis
        if not axis.has_times:
            return None
        cell = min(max(cell, 0), self.width - 1)
        return axis.ms_at(min(self._layout.position_after(cell) - 1, axis.end))

    def percent_of(self, moment: int, ms: int | None = None) -> int:
        """Return the share of the session before a moment, in whole percent; 100 only at its end.

        Args:
            moment: The moment.
            ms: As in `cell_of`.
        """
        axis = self._axis
        if moment >= axis.size:
            return 100
        position = axis.position_of(moment)
        if ms is not None and axis.has_times:
            position = axis.position_at(ms)
        return min(100 * (position - axis.begin) // max(axis.end - axis.begin, 1), 99)

    def _count(self, first: int) -> None:
        """Count again what happened in the cells from `first` on."""
        ends, calls = self._layout.ends, self.calls
        before = self._counted(ends[first - 1]) if first else (0, 0, 0)
        for cell in range(first, self.width):
            if cell and ends[cell] == ends[cell - 1]:
                done, failed, rejected = before
            else:
                done, failed, rejected = self._counted(ends[cell])
            self._counts[cell] = done - before[0]
            if failed > before[1]:
                self._kinds[cell] = Kind.FAILURE
            elif rejected > before[2]:
                self._kinds[cell] = Kind.REJECTION
            elif done > before[0]:
                self._kinds[cell] = Kind.CALL
            else:
                is_busy = calls.started.count_to(ends[cell]) > done
                self._kinds[cell] = Kind.BUSY if is_busy else Kind.EMPTY
            before = done, failed, rejected

    def _counted(self, moment: int) -> tuple[int, int, int]:
        """Return how many calls had ended, failed and been rejected at a moment."""
        calls = self.calls
        return calls.ended.count_to(moment), calls.failed.count_to(moment), calls.rejected.count_to(moment)

    def _draw(self) -> None:
        """Draw the cells from what was counted in them."""
        dense = _dense(max(self._counts))
        self._cells = [
            _DENSE if count >= dense and kind is Kind.CALL else _DRAWN[kind]
            for kind, count in zip(self._kinds, self._counts, strict=True)
        ]
        last = self._layout.cell_of(self._axis.size)
        self._cells[last + 1 :] = [_BLANK] * (self.width - last - 1)
        for first, end, ms in self._layout.silences():
            is_busy = self._kinds[first] is Kind.BUSY
            line = "━" if is_busy else "─"
            words = f" {duration_words(ms)} "
            if len(words) + 2 > end - first:
                words = ""
            for cell, sign in enumerate(words.center(end - first, line), first):
                self._cells[cell] = Cell(sign, Kind.BUSY if is_busy and sign == line else Kind.SILENCE)


def _dense(most: int) -> int:
    """Return how many calls a cell needs to be drawn as a dense one, if the fullest cell has `most`.

    It is half of a power of two, so that the signs rarely change while calls are added.
    """
    return max(1 << max(most.bit_length() - 2, 0), _LEAST_DENSE)
