"""A pane of rows with a cursor that does not follow the end."""

from __future__ import annotations

from textual.strip import Strip

from agentwatch.screen.lines.cursor_view import CursorView
from agentwatch.screen.lines.line_view import Spans


class RowView(CursorView):
    """Lines with a cursor; the selected row stays in place while other rows are added."""

    open_action = "screen.open"

    def on_mount(self) -> None:
        """Start at the top."""
        self.following = False

    def draw_row(self, y: int, width: int) -> Strip:
        """Return one row in its styles."""
        return self.strip_of(self.row(y, width))

    def row(self, y: int, width: int) -> Spans:
        """Return the pieces of one row."""
        raise NotImplementedError

    def choose(self, row: int) -> None:
        """Select a row and make it visible."""
        self.cursor = max(0, min(row, self.line_count() - 1))
        self.bring_into_view(self.cursor)

    def watch_cursor(self, old: int, new: int) -> None:
        """Redraw the rows that the cursor left and entered."""
        self.refresh_line(old)
        self.refresh_line(new)

    def at_end(self) -> bool:
        """Return False: the end is never followed, because new rows appear at the top or sorted by name."""
        return False

    def show_below(self) -> None:
        """Do nothing: new rows are not counted."""

    def action_move_page(self, pages: float) -> None:
        """Move the cursor by a number of pages."""
        self.choose(self.cursor + round(pages * max(self.scrollable_content_region.height, 2)))
