"""A pane of rows that stand still while others come; one of them is chosen."""

from __future__ import annotations

from textual.strip import Strip

from agentwatch.screen.lines.cursor_view import CursorView
from agentwatch.screen.lines.line_view import Spans


class RowView(CursorView):
    """Lines of which one is chosen; it stands still while others come."""

    open_action = "screen.open"

    def on_mount(self) -> None:
        """Begin at the top."""
        self.following = False

    def draw_row(self, y: int, width: int) -> Strip:
        """Return one row in its looks."""
        return self.strip_of(self.row(y, width))

    def row(self, y: int, width: int) -> Spans:
        """Return the pieces of one row."""
        raise NotImplementedError

    def choose(self, row: int) -> None:
        """Choose a row, and have it in view."""
        self.cursor = max(0, min(row, self.line_count() - 1))
        self.bring_into_view(self.cursor)

    def watch_cursor(self, old: int, new: int) -> None:
        """Draw both rows anew."""
        self.refresh_line(old)
        self.refresh_line(new)

    def at_end(self) -> bool:
        """Return that the end is never followed: what is new comes at the top, or where its name puts it."""
        return False

    def show_below(self) -> None:
        """Nothing is counted below."""

    def action_move_page(self, pages: int) -> None:
        """Choose the row a page further."""
        self.choose(self.cursor + pages * max(self.scrollable_content_region.height, 1))
