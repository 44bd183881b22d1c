"""The cursor on the branches of a detail: which of the branches in view is chosen."""

from __future__ import annotations

from textual.strip import Strip

from agentwatch.screen.detail.section_list import SectionList
from agentwatch.screen.lines.highlight import laid_over
from agentwatch.screen.lines.line_view import LineView, rows_in_view


class BranchCursor:
    """Chooses branches among the rows that a pane shows; a branch that is out of view is not chosen."""

    def __init__(self, pane: LineView) -> None:
        self._pane = pane
        self.row: int | None = None
        """The row of the chosen branch; None when no branch is chosen."""

    def choose(self, row: int | None) -> None:
        """Choose the branch at a row, or no branch; one that has left the view is given up."""
        self.row = row if row in rows_in_view(self._pane) else None
        self._pane.refresh()

    def step(self, sections: SectionList, step: int) -> bool:
        """Choose the next branch in view (1) or the one before (-1); return whether there is one."""
        row = sections.next_branch(self.row, step, rows_in_view(self._pane))
        if row is not None:
            self.choose(row)
        return row is not None

    def drawn(self, strip: Strip, y: int, width: int) -> Strip:
        """Return a row as it is drawn: highlighted if the cursor is there and the pane has the focus."""
        if y != self.row or not self._pane.has_focus:
            return strip
        return laid_over(strip, self._pane.line_style("chosen"), width)
