"""A pane of lines of which one is chosen."""

from __future__ import annotations

from textual import events
from textual.reactive import var
from textual.strip import Strip

from agentwatch.screen.line_view import LineView, Spans, laid_over


class RowView(LineView):
    """Lines of which one is chosen; it stands still while others come."""

    cursor = var(0)
    """The row of the chosen line."""

    def on_mount(self) -> None:
        """Begin at the top."""
        self.following = False

    def draw(self, y: int, width: int) -> Strip:
        """Return one row, marked if it is the chosen one."""
        strip = self.strip_of(self.row(y, width))
        return laid_over(strip, self.look("chosen"), width) if y == self.cursor else strip

    def row(self, y: int, width: int) -> Spans:
        """Return the pieces of one row."""
        raise NotImplementedError

    def choose(self, row: int) -> None:
        """Choose a row, and have it in view."""
        self.cursor = max(0, min(row, self.line_count() - 1))
        top, height = self.scroll_offset.y, self.scrollable_content_region.height
        if self.cursor < top or self.cursor >= top + height:
            self.settle_at(self.cursor if self.cursor < top else self.cursor - height + 1)

    def watch_cursor(self, old: int, new: int) -> None:
        """Draw both rows anew."""
        self.refresh_line(old)
        self.refresh_line(new)

    def at_end(self) -> bool:
        """Return that the end is never followed: what is new comes at the top, or where its name puts it."""
        return False

    def show_below(self) -> None:
        """Nothing is counted below."""

    async def on_click(self, event: events.Click) -> None:
        """Choose the row that was clicked; a second click does what enter does."""
        row = event.get_content_offset(self)
        if row is not None and row.y + self.scroll_offset.y < self.line_count():
            self.choose(row.y + self.scroll_offset.y)
            if event.chain > 1:
                await self.run_action("screen.open")

    def action_move(self, lines: int) -> None:
        """Choose the row so many further."""
        self.choose(self.cursor + lines)

    def action_move_page(self, pages: int) -> None:
        """Choose the row a page further."""
        self.choose(self.cursor + pages * max(self.scrollable_content_region.height, 1))

    def action_top(self) -> None:
        """Choose the first row."""
        self.choose(0)

    def action_bottom(self) -> None:
        """Choose the last row."""
        self.choose(self.line_count() - 1)
