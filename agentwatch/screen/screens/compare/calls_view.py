"""The calls of two runs side by side, or in one column on a narrow terminal."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

from agentwatch.analysis.silence import call_clock
from agentwatch.analysis.verdicts import Verdict
from agentwatch.output.compare.alignment import Match
from agentwatch.output.compare.comparison import Aspect, Comparison, Part, Row
from agentwatch.output.compare.reports import CONTEXT
from agentwatch.screen.panes.calls.cells import fitting_result, fitting_target, gap
from agentwatch.screen.screens.compare.totals import WORD_COLUMNS, kind_of, what_differs
from agentwatch.screen.screens.compare.views import DifferencesView
from agentwatch.screen.widgets.line_view import Spans
from agentwatch.session.actions import shown_target, shown_tool
from agentwatch.session.call import Call
from agentwatch.text.amounts import plural
from agentwatch.text.safe import SafeText, columns, cut, fitted
from agentwatch.text.signs import SIGNS

# The cells of a call in a column of one run: number, outcome, tool, target, result and clock.

_CLOCK = 9
_TOOL = (5, 12)
_LEAST_WITH_CLOCK = 34
_LEAST_WITH_RESULT = 50


class Cells(NamedTuple):
    """The widths of the cells of a call; 0 for a cell that is not shown."""

    number: int
    tool: int
    target: int
    """The result shares these columns."""
    clock: int
    has_result: bool

    @property
    def width(self) -> int:
        """The width of all cells together."""
        return self.number + 3 + self.tool + 1 + self.target + self.clock


def cells_in(width: int, calls: int, tool: int) -> Cells:
    """Return the widths of the cells of a call.

    Args:
        width: The width of all cells together.
        calls: The number of calls of the longer run.
        tool: The width of the longest name of a tool.
    """
    number = len(str(calls))
    clock = _CLOCK if width >= _LEAST_WITH_CLOCK else 0
    tool = max(min(tool, _TOOL[1], width // 5), _TOOL[0])
    target = max(width - number - 3 - tool - 1 - clock, 1)
    return Cells(number, tool, target, clock, width >= _LEAST_WITH_RESULT)


def call_spans(
    call: Call, other: Call | None, verdict: Verdict | None, cells: Cells, style: str, clock_style: str
) -> Spans:
    """Return a call as cells.

    Args:
        call: The call.
        other: The call of the other run, from which a cut target has to differ; None without one.
        verdict: The verdict on the call.
        cells: The widths of the cells.
        style: The name of the style of the target.
        clock_style: The name of the style of the clock.
    """
    room, result, result_style = cells.target, SafeText(""), ""
    if cells.has_result:
        result, result_style = fitting_result([call], verdict, columns(shown_target(call)), room)
    room -= columns(result) + gap(room) if result else 0
    shown = fitting_target(call, room, lambda: [] if other is None else [shown_target(other)])
    return [
        (SafeText(f"{call.number:>{cells.number}} "), "muted"),
        (SafeText(f"{SIGNS[call.outcome]} "), str(call.outcome)),
        (fitted(shown_tool(call.tool), cells.tool), "muted"),
        (SafeText(f" {fitted(shown, room)}"), style),
        (SafeText(f"{' ' * gap(cells.target)}{result}" if result else ""), result_style),
        (SafeText(f"{call_clock(call, None):>{_CLOCK}}" if cells.clock else ""), clock_style),
    ]


# The lines of the calls of two runs: long stretches of equal calls are folded into one line.

_LEAST_FOLDED = 3
"""Fewer equal calls are not folded, because that would save too few lines."""


class Line(NamedTuple):
    """A line of the list."""

    row: int
    """The index of the row in the comparison; of the first row if the line has several."""
    folded: int = 0
    """The number of equal rows that are folded into the line; 0 for a line about one row."""
    part: Part = Part.BOTH
    """The run whose call the line shows."""
    is_parting: bool = False
    """Whether this is the line before the first divergence, which shows no call."""


def lines_of(
    comparison: Comparison, unfolded: Collection[int] = (), *, folds: bool = True, is_unified: bool = False
) -> list[Line]:
    """Return the lines of a comparison, from the top; 20,000 rows take 20 ms.

    Args:
        comparison: The comparison.
        unfolded: The first rows of the folded lines that the user has unfolded.
        folds: Whether equal calls are folded.
        is_unified: Whether two calls that differ take a line each.
    """
    return [*_lines(comparison, unfolded if folds else range(len(comparison.rows)), is_unified=is_unified)]


def _lines(comparison: Comparison, unfolded: Collection[int], *, is_unified: bool) -> Iterator[Line]:
    end = 0
    for index in comparison.differences():
        yield from _equal(end, index, len(comparison.rows), unfolded)
        if index == comparison.first_divergence:
            yield Line(index, is_parting=True)
        row = comparison.rows[index]
        if row.match is Match.ONLY_A:
            yield Line(index, part=Part.ONLY_A)
        elif row.match is Match.ONLY_B:
            yield Line(index, part=Part.ONLY_B)
        elif is_unified:
            yield Line(index, part=Part.ONLY_A)
            yield Line(index, part=Part.ONLY_B)
        else:
            yield Line(index)
        end = index + 1
    yield from _equal(end, len(comparison.rows), len(comparison.rows), unfolded)


def _equal(start: int, end: int, count: int, unfolded: Collection[int]) -> Iterator[Line]:
    """Yield the lines of equal rows; rows beside a difference are not folded."""
    first, last = start + (CONTEXT if start else 0), end - (CONTEXT if end < count else 0)
    if last - first < _LEAST_FOLDED or first in unfolded:
        first = last = end
    yield from map(Line, range(start, first))
    if last > first:
        yield Line(first, last - first)
    yield from map(Line, range(last, end))


UNIFIED_BELOW = 60
"""Narrower terminals, in columns, have no room for two calls side by side."""
WORDS_FROM = 96
"""From this width on, in columns, a word between the calls names the kind of difference."""
_MOST_FOR_TOOL = 2000
"""The calls of each run whose tools decide the width of the column."""
_PARTING = "the runs part here"


class CallsView(DifferencesView):
    """One line per call or pair of calls; equal calls are folded."""

    open_action = "screen.open"

    def __init__(self, comparison: Comparison) -> None:
        super().__init__("Calls", id="compared-calls")
        self._comparison = comparison
        self._unfolded: set[int] = set()
        self._folds = True
        self._is_unified = False
        self._lines: list[Line] = []
        self._differing: list[int] = []
        self._most_calls = max(len(side.session.calls) for side in (comparison.a, comparison.b))
        self._tool = _tool_width(comparison)
        self.empty_words = SafeText(" neither run has a call")
        starts = [comparison.first_divergence, *comparison.differences()[:1], 0]
        self._build(next(row for row in starts if row is not None))

    @property
    def line(self) -> Line | None:
        """The selected line; None without any call."""
        return self._lines[self.cursor] if self._lines else None

    @property
    def chosen(self) -> Row | None:
        """The selected row of the comparison; None for folded calls."""
        line = self.line
        return None if line is None or line.folded else self._comparison.rows[line.row]

    def number_of(self, side: int) -> int | None:
        """Return the number of the selected call in a run, or of the last call before the selected line.

        Args:
            side: 0 for the first run, 1 for the second.

        Returns:
            The number; None if the run made no call up to there.
        """
        rows = self._comparison.rows
        earlier = range(-1 if self.line is None else self.line.row, -1, -1)
        return next((number for row in earlier if (number := (rows[row].a, rows[row].b)[side])), None)

    def line_count(self) -> int:
        """Return the number of lines."""
        return len(self._lines)

    def differing(self) -> Sequence[int]:
        """Return the lines that are differences; if a difference takes two lines, the first."""
        return self._differing

    def words(self) -> SafeText:
        """Return what differs in the selected line, in words."""
        line = self.line
        if line is None:
            return SafeText("")
        if line.folded:
            return SafeText(plural(line.folded, "equal call"))
        return what_differs(self._comparison, self._comparison.rows[line.row])

    def on_resize(self) -> None:
        """Show two columns, or one if there is no room for two."""
        is_unified = self.size.width < UNIFIED_BELOW
        if is_unified is not self._is_unified:
            self._is_unified = is_unified
            self._rebuild()
        super().on_resize()
        self.show_around()

    def unfold(self) -> bool:
        """Unfold the selected line; return whether it was folded."""
        line = self.line
        if line is None or not line.folded:
            return False
        self._unfolded.add(line.row)
        self._rebuild()
        return True

    def toggle_equal(self) -> None:
        """Show all equal calls, or fold them."""
        self._folds = not self._folds
        self._unfolded.clear()
        self._rebuild()

    def choose(self, row: int) -> None:
        """Select a line; the line before the first divergence cannot be selected."""
        row = max(0, min(row, len(self._lines) - 1))
        if self._lines and self._lines[row].is_parting:
            row += 1 if row >= self.cursor or row == 0 else -1
        super().choose(row)

    def bring_into_view(self, row: int) -> None:
        """Make a line visible; also the line before it, if that is the line of the first divergence."""
        if row and self._lines[row - 1].is_parting:
            super().bring_into_view(row - 1)
        super().bring_into_view(row)

    def row(self, y: int, width: int) -> Spans:
        """Return a line: both calls with the kind of difference between them."""
        line = self._lines[y]
        if line.folded:
            words = f"  · {plural(line.folded, 'equal call')}"
            return [(cut(SafeText(words), width), "muted")]
        if line.is_parting:
            begin = SafeText(f"── {_PARTING} ")
            return [(begin, "accent"), (SafeText("─" * max(width - columns(begin), 0)), "rule")]
        return self._unified(line, width) if self._is_unified else self._side_by_side(line, width)

    def _side_by_side(self, line: Line, width: int) -> Spans:
        row = self._comparison.rows[line.row]
        middle = WORD_COLUMNS + 4 if width >= WORDS_FROM else 3
        cells = cells_in((width - middle) // 2, self._most_calls, self._tool)
        kind = kind_of(self._comparison, row)
        word = f"{kind.sign} {kind.word:<{WORD_COLUMNS}}" if width >= WORDS_FROM else kind.sign
        first, second = (self._half(row, nth, cells) for nth in (0, 1))
        return [*first, (SafeText(f" {word} "), kind.style), *second]

    def _half(self, row: Row, nth: int, cells: Cells) -> Spans:
        """Return the call of one side, or the gap in its place."""
        calls = self._comparison.calls(row)
        call = calls[nth]
        if call is None:
            return [(SafeText(" " * cells.width), "muted")]
        return self._call(row, call, calls[1 - nth], nth, cells)

    def _call(self, row: Row, call: Call, other: Call | None, nth: int, cells: Cells) -> Spans:
        side = (self._comparison.a, self._comparison.b)[nth]
        verdict = side.verdicts.get(call.number)
        clock = "accent" if Aspect.DURATION in row.aspects else "muted"
        return call_spans(call, other, verdict, cells, "muted" if row.is_equal else "plain", clock)

    def _unified(self, line: Line, width: int) -> Spans:
        """Return a call in one column, after its sign and the number of the equal call of the other run."""
        row = self._comparison.rows[line.row]
        calls, kind = self._comparison.calls(row), kind_of(self._comparison, row)
        nth = 0 if line.part is Part.ONLY_A else 1
        call = calls[nth]
        assert call is not None
        cells = cells_in(width - 4, self._most_calls, self._tool)
        side = "  " if line.part is Part.BOTH else f"{'AB'[nth]} "
        spans = self._call(row, call, calls[1 - nth], nth, cells)
        return [(SafeText(f"{kind.sign} "), kind.style), (SafeText(side), "muted"), *spans]

    def _rebuild(self) -> None:
        row = self.line.row if self.line is not None else 0
        self._build(row)
        self.painter.forget()
        self.show_lines()
        self.bring_into_view(self.cursor)

    def _build(self, chosen: int) -> None:
        """Make the lines, and select the one that shows a row of the comparison."""
        comparison = self._comparison
        self._lines = lines_of(comparison, self._unfolded, folds=self._folds, is_unified=self._is_unified)
        seen = -1
        self._differing = []
        for at, line in enumerate(self._lines):
            if line.row != seen and not line.folded and not line.is_parting:
                seen = line.row
                if not comparison.rows[seen].is_equal:
                    self._differing.append(at)
        at = bisect_left(self._lines, chosen, key=lambda line: line.row)
        if at == len(self._lines) or self._lines[at].row != chosen:
            at -= 1  # the row is one of the folded rows of the line before
        elif self._lines[at].is_parting:
            at += 1
        self.set_reactive(DifferencesView.cursor, max(at, 0))


def _tool_width(comparison: Comparison) -> int:
    """Return the width of the longest name of a tool, at most 12 columns."""
    names = {
        call.tool for side in (comparison.a, comparison.b) for call in side.session.calls[:_MOST_FOR_TOOL]
    }
    return max((columns(shown_tool(name)) for name in names), default=1)
