"""The list of marked moments in the goto box."""

from __future__ import annotations

from textual.strip import Strip

from agentwatch.screen.lines.line_view import Spans
from agentwatch.screen.lines.row_view import RowView
from agentwatch.screen.overlays.goto.mark_filter import MarkFilter
from agentwatch.screen.overlays.goto.marks import Mark
from agentwatch.text.safe import SafeText, columns, cut

_TIME = 8
NONE = -1
"""The row of the cursor while none is selected."""


class MarkList(RowView, can_focus=False):
    """One row per marked moment. The keys go to the input above it, which keeps the focus."""

    def __init__(self, found: MarkFilter) -> None:
        """Create the list.

        Args:
            found: The marks that are listed.
        """
        super().__init__("", id="marks")
        self._found = found
        self.is_picked = False
        """Whether the user has selected the row, with a key or the mouse."""

    @property
    def picked(self) -> Mark | None:
        """The mark that the user has selected; None if the user has selected none."""
        return self.chosen if self.is_picked else None

    @property
    def chosen(self) -> Mark | None:
        """The selected mark; None while none is selected."""
        return self._found[self.cursor] if 0 <= self.cursor < self.line_count() else None

    def line_count(self) -> int:
        """Return the number of rows: one per mark."""
        return len(self._found)

    def show(self, found: MarkFilter) -> None:
        """List other marks from the top, without a selected row."""
        self._found = found
        self.is_picked = False
        self.cursor = NONE
        self.settle_at(0)
        self.show_lines()

    def sync(self, picked: Mark | None) -> None:
        """Show the marks that are listed now, and select the mark that the user has picked before.

        Args:
            picked: The mark; None if the user has picked none.
        """
        if picked is not None and (self.chosen is None or self.chosen.offset != picked.offset):
            row = self._found.row_of(picked)
            self.is_picked = row is not None
            self.cursor = NONE if row is None else row
        self.show_lines()

    def suggest(self, row: int | None) -> None:
        """Select a row for the user, who has picked none; None selects none."""
        if not self.is_picked and (row is None or row < self.line_count()):
            self.cursor = NONE if row is None else row

    def choose(self, row: int) -> None:
        """Select the row that the user picks."""
        if self.line_count():
            self.is_picked = True
            super().choose(row)

    def row(self, y: int, width: int) -> Spans:
        """Return the time, the sign and the words of a mark."""
        mark = self._found[y]
        time = SafeText(f"{mark.time:>{_TIME}}  ")
        room = max(width - columns(time) - 2, 1)
        return [(time, "muted"), (SafeText(f"{mark.sign} "), mark.style), (cut(mark.words, room), "plain")]

    def draw_row(self, y: int, width: int) -> Strip:
        """Return one row, which is empty if another viewer has just removed its bookmark."""
        return super().draw_row(y, width) if y < self.line_count() else Strip.blank(width)
