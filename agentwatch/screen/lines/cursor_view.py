"""A pane of lines with a cursor."""

from __future__ import annotations

from textual import events
from textual.reactive import var
from textual.strip import Strip

from agentwatch.screen.lines.highlight import chosen_row, mark_strip
from agentwatch.screen.lines.line_view import LineView


class CursorView(LineView):
    """Lines with a cursor, which keys and clicks move; a second click opens the selected row.

    A subclass implements `draw_row` and `choose`.
    """

    open_action = "open"
    """The action that enter runs on the selected row."""

    cursor = var(0)
    """The index of the selected row."""

    def draw(self, y: int, width: int) -> Strip:
        """Return one row after a column for its mark; the selected row is marked and highlighted."""
        strip = self.draw_row(y, max(width - 1, 1))
        if y == self.cursor:
            return chosen_row(strip, self, width)
        mark = mark_strip(self, "failed") if self.is_held(y) else Strip.blank(1)
        return Strip.join([mark, strip])

    def is_held(self, y: int) -> bool:
        """Return whether the detail of a row stays open, although the row is not selected."""
        del y
        return False

    def draw_row(self, y: int, width: int) -> Strip:
        """Return one row, at most about `width` columns wide."""
        raise NotImplementedError

    def choose(self, row: int) -> None:
        """Select a row; an index out of range selects the nearest row."""
        raise NotImplementedError

    def bring_into_view(self, row: int) -> None:
        """Scroll by as few lines as possible to make a row visible."""
        top, height = self.scroll_offset.y, self.scrollable_content_region.height
        if row < top:
            self.settle_at(row)
        elif row >= top + height:
            self.settle_at(row - height + 1)

    async def on_click(self, event: events.Click) -> None:
        """Select the row that was clicked; a second click does what enter does."""
        row = event.get_content_offset(self)
        if row is not None and (y := row.y + self.scroll_offset.y) < self.line_count():
            self.choose(y)
            if event.chain > 1:
                await self.run_action(self.open_action)

    def action_move(self, lines: int) -> None:
        """Move the cursor by a number of rows."""
        self.choose(self.cursor + lines)

    def action_top(self) -> None:
        """Select the first row."""
        self.choose(0)

    def action_bottom(self) -> None:
        """Select the last row."""
        self.choose(self.line_count() - 1)
