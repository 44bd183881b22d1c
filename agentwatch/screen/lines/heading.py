"""A heading above the rows of a pane, which does not scroll with them."""

from __future__ import annotations

from textual.geometry import Region
from textual.strip import Strip

from agentwatch.screen.lines.cursor_view import CursorView
from agentwatch.screen.lines.line_view import Spans

LEAST_HEIGHT = 10
"""Panes with fewer rows, borders included, have no heading: it would take a line of the content."""


class HeadedView(CursorView):
    """Rows with a cursor under a heading; the stylesheet reserves its row, except with the class `-low`.

    A subclass implements `heading`.
    """

    _heading: Spans | None = None

    def heading(self, width: int) -> Spans:
        """Return the heading for rows of `width` columns."""
        raise NotImplementedError

    def on_resize(self) -> None:
        """Show the heading if there is room for it; keep the end visible."""
        self.set_class(self.outer_size.height < LEAST_HEIGHT, "-low")
        super().on_resize()

    def render_lines(self, crop: Region) -> list[Strip]:
        """Draw rows of the pane, the heading among them after the column of the selected row's mark."""
        strips = super().render_lines(crop)
        width = self.scrollable_content_region.width
        heading = self.heading(width - 1)
        if heading != self._heading:
            self._heading = heading
            self.refresh(Region(-self.styles.gutter.left, -1, self.region.width, 1))
        row = self.styles.gutter.top - 1 - crop.y
        if self.styles.padding.top and 0 <= row < len(strips):
            line = Strip.join([Strip.blank(1), self.strip_of(heading)]).adjust_cell_length(width)
            strips[row] = self.painter.framed(line).crop(crop.x, crop.right)
        return strips
