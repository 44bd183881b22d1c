"""The cursor of the detail pane, which selects a branch of a JSON tree or a failing line."""

from __future__ import annotations

from textual.strip import Strip

from agentwatch.screen.detail.section_list import SectionList
from agentwatch.screen.lines.highlight import laid_over
from agentwatch.screen.lines.line_view import LineView, rows_in_view


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
