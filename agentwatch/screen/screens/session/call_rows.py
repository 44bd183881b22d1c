"""A list in which some rows are about a call; the cursor moves among these."""

from __future__ import annotations

from agentwatch.screen.widgets.line_view import RowView, rows_in_view
from agentwatch.session.call import Call


class CallRowsView(RowView):
    """Rows of which some are about a call, which enter opens.

    The cursor moves among the rows with a call. Keys that would move it further scroll instead. A subclass
    implements `call_at`.
    """

    def call_at(self, row: int) -> Call | None:
        """Return the call that a row is about; None for another row."""
        raise NotImplementedError

    @property
    def chosen(self) -> Call | None:
        """The selected call; None while none is listed."""
        return self.call_at(self.cursor) if 0 <= self.cursor < self.line_count() else None

    @property
    def call_rows(self) -> list[int]:
        """The rows that are about a call."""
        return [row for row in range(self.line_count()) if self.call_at(row) is not None]

    def choose(self, row: int) -> None:
        """Select the call in a row; a row without a call is not selected."""
        if row in self.call_rows:
            super().choose(row)

    def reveal(self) -> bool:
        """Scroll to the selected call; return whether that was necessary."""
        is_hidden = self.chosen is not None and self.cursor not in rows_in_view(self)
        if is_hidden:
            self.choose(self.cursor)
        return is_hidden

    def action_move(self, lines: int) -> None:
        """Select the next or previous call; before the first and after the last one, scroll by a line.

        If the selected call is out of view, a key in its direction scrolls to it.
        """
        calls, view = self.call_rows, rows_in_view(self)
        is_behind = self.cursor < view.start if lines > 0 else self.cursor >= view.stop
        at = calls.index(self.cursor) + lines if self.cursor in calls and not is_behind else -1
        if at >= 0 and self.reveal():
            return
        if 0 <= at < len(calls):
            self.choose(calls[at])
        else:
            self.scroll_relative(y=lines, animate=False, immediate=True)

    def action_move_page(self, pages: float) -> None:
        """Scroll by a number of pages, or by half a page."""
        lines = int(pages * max(self.scrollable_content_region.height - 1, 2))
        self.scroll_relative(y=lines, animate=False, immediate=True)

    def action_top(self) -> None:
        """Select the first call, and scroll to the beginning."""
        self.cursor = next(iter(self.call_rows), -1)
        self.scroll_to(y=0, animate=False, immediate=True)

    def action_bottom(self) -> None:
        """Select the last call, and scroll to the end."""
        self.cursor = next(reversed(self.call_rows), -1)
        self.scroll_to(y=self.max_scroll_y, animate=False, immediate=True)
