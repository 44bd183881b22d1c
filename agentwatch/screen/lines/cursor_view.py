"""A pane of lines, on one of which the cursor stands."""

from __future__ import annotations

from textual import events
from textual.reactive import var
from textual.strip import Strip

from agentwatch.screen.lines.highlight import laid_over
from agentwatch.screen.lines.line_view import LineView


class CursorView(LineView):
    """Lines of which one is chosen, by the keys that move and by a click; a second click opens it.

    A subclass draws a row and chooses one.
    """

    open_action = "open"
    """What enter does with the chosen row."""

    cursor = var(0)
    """The row of the chosen line."""

    def draw(self, y: int, width: int) -> Strip:
        """Return one row, marked if it is the chosen one."""
        strip = self.draw_row(y, width)
        return laid_over(strip, self.line_style("chosen"), width) if y == self.cursor else strip

    def draw_row(self, y: int, width: int) -> Strip:
        """Return one row, at most about `width` columns wide."""
        raise NotImplementedError

    def choose(self, row: int) -> None:
        """Choose a row, or of those that there are the nearest to it."""
        raise NotImplementedError

    def bring_into_view(self, row: int) -> None:
        """Scroll as little as it takes to have a row in view."""
        top, height = self.scroll_offset.y, self.scrollable_content_region.height
        if row < top:
            self.settle_at(row)
        elif row >= top + height:
            self.settle_at(row - height + 1)

    async def on_click(self, event: events.Click) -> None:
        """Choose the row that was clicked; a second click does what enter does."""
        row = event.get_content_offset(self)
        if row is not None and (y := row.y + self.scroll_offset.y) < self.line_count():
            self.choose(y)
            if event.chain > 1:
                await self.run_action(self.open_action)

    def action_move(self, lines: int) -> None:
        """Choose the row so many further."""
        self.choose(self.cursor + lines)

    def action_top(self) -> None:
        """Choose the first row."""
        self.choose(0)

    def action_bottom(self) -> None:
        """Choose the last row."""
        self.choose(self.line_count() - 1)
