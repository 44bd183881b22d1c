"""What is in view of a detail: the first column of cut lines, the matches and the failing lines."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from textual.strip import Strip

from agentwatch.analysis.search import Query
from agentwatch.screen.panes.detail.section_list import SectionList
from agentwatch.screen.widgets.line_view import LineView, rows_in_view
from agentwatch.screen.widgets.painting import laid_over
from agentwatch.session.blocks import Block
from agentwatch.session.call import Call

if TYPE_CHECKING:
    from agentwatch.analysis.verdicts import FileLine

# The cursor of the detail pane, which selects a branch of a JSON tree or a failing line.


class BranchCursor:
    """Selects a branch or a failing line among the visible rows of a pane."""

    def __init__(self, pane: LineView) -> None:
        self._pane = pane
        self.row: int | None = None
        """The selected row; None if no row is selected."""

    def choose(self, row: int | None) -> None:
        """Select a row; if it is None or not visible, select no row."""
        self.row = row if row in rows_in_view(self._pane) else None
        self._pane.refresh()

    def step(self, sections: SectionList, step: int) -> bool:
        """Select the next (1) or previous (-1) visible branch; return whether there is one."""
        row = sections.next_branch(self.row, step, rows_in_view(self._pane))
        if row is not None:
            self.choose(row)
        return row is not None

    def drawn(self, strip: Strip, y: int, width: int) -> Strip:
        """Return a row, highlighted if it is selected and the pane has the focus."""
        if y != self.row or not self._pane.has_focus:
            return strip
        return laid_over(strip, self._pane.line_style("chosen"), width)


class BlockMatch(NamedTuple):
    """A match in a block of a call's arguments or result."""

    call: Call
    block: Block | None
    nth: int
    """The number of matches before it in the block."""


class DetailScroller:
    """Scrolls a detail sideways, to matches and to failing lines, and folds its long lines."""

    def __init__(self, pane: LineView, cursor: BranchCursor) -> None:
        self._pane = pane
        self._cursor = cursor
        self.sections = SectionList([])
        self._shown: object = None
        """What the sections show."""
        self.width = 0
        self._wraps = False
        self._left = 0
        self._failing: list[int] | None = None
        """The rows of the failing lines; None before they are searched."""
        self._query: Query | None = None
        self._match: BlockMatch | None = None
        self._is_match_due = False

    def take(self, sections: SectionList, shown: object = None) -> None:
        """Show other sections. If the sections before them showed the same (`shown`), the selected line stays
        selected, and branches stay folded or open; None shows nothing."""
        before, row = self.sections, self._cursor.row
        is_same, self._shown = shown is not None and shown == self._shown, shown
        if is_same:
            sections.turn_as(before)
        self.sections, self._cursor.row = sections, None
        sections.mark(self._query)
        self.lay_out()
        if is_same and row is not None:
            self._cursor.row = sections.row_as(before, row)

    def begin(self) -> None:
        """Show the first column and the first row."""
        self._show_from(0)
        self._cursor.choose(None)
        self._pane.settle_at(0)

    def lay_out(self) -> None:
        """Fit the sections to the width of the pane; the selected line stays selected."""
        self.width = max(self._pane.scrollable_content_region.width, 1)
        self._failing = None
        chosen = None if self._cursor.row is None else self.sections.line_at(self._cursor.row)
        self.sections.lay_out(self.width, wraps=self._wraps)
        self._cursor.row = None if chosen is None else self.sections.row_of_line(*chosen)
        self._show_from(self._left)
        self._pane.show_lines()

    def turn_wrapping(self) -> None:
        """Fold long lines of code and output, or cut them."""
        self._wraps = not self._wraps
        line = self.sections.line_at(self._pane.scroll_offset.y) if self.sections.rows else None
        self.lay_out()
        if line is not None:
            self._pane.settle_at(self.sections.row_of_line(*line))

    def go_sideways(self, step: int) -> None:
        """Scroll cut lines by half the width of the pane, to the right (1) or left (-1)."""
        most = self.sections.hidden_columns()
        self._show_from(max(min(self._left + step * max(self.width // 2, 1), most), 0))

    def go_to_failing_line(self) -> bool:
        """Go to the first failing line of the output, or to the next one; return whether there is one."""
        from agentwatch.analysis.verdicts import is_failing

        if self._failing is None:
            self._failing = [row for row, line in self.sections.output_lines() if is_failing(line)]
        if not self._failing:
            return False
        at = -1 if self._cursor.row is None else self._cursor.row
        row = next((row for row in self._failing if row > at), self._failing[0])
        self._show_from(0)
        self._bring(row)
        self._cursor.choose(row)
        return True

    def files_at_cursor(self) -> list[FileLine]:
        """Return the files that the selected failing line is about; none if no such line is selected."""
        from agentwatch.analysis.verdicts import files_near

        lines = [*self.sections.output_lines()]
        at = next((at for at, (row, _) in enumerate(lines) if row == self._cursor.row), None)
        return [] if at is None else files_near([line for _, line in lines], at)

    def mark(self, query: Query | None, match: BlockMatch | None) -> None:
        """Highlight the matches of a query, and make one of them due to be scrolled to."""
        self._query, self._match, self._is_match_due = query, match, match is not None
        self.sections.mark(query)

    def is_match_due(self) -> bool:
        """Return whether a match is not yet scrolled to."""
        return self._is_match_due

    def show_match(self, call: Call) -> None:
        """If the current match is in a call, highlight it, and scroll to it once."""
        match = self._match
        if match is None or match.call is not call:
            return
        spot = self.sections.choose_match(match.block, match.nth)
        self._pane.show_lines()
        if self._is_match_due and spot is not None:
            self._show_from(spot.left)
            if spot.row not in rows_in_view(self._pane):
                self._bring(spot.row)
        self._is_match_due = False

    def _bring(self, row: int) -> None:
        """Scroll so that a row is in the upper third."""
        self._pane.settle_at(max(row - self._pane.scrollable_content_region.height // 3, 0))

    def _show_from(self, left: int) -> None:
        """Show cut lines from a column on."""
        self._left = left
        self.sections.show_from(left)
        self._pane.refresh()
