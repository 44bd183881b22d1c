"""A heading above the lines of a pane, which does not scroll with them."""

from __future__ import annotations

from textual.geometry import Region
from textual.strip import Strip

from agentwatch.screen.lines.line_view import LineView, Spans

LEAST_HEIGHT = 10
"""Panes with fewer rows, borders included, have no heading: it would take a line of the content."""


def show_heading(pane: LineView) -> None:
    """Give a pane a row for its heading if it is high enough. Call this when its size has changed."""
    pane.set_class(pane.outer_size.height >= LEAST_HEIGHT, "-headed")


def with_heading(pane: LineView, strips: list[Strip], crop: Region, heading: Spans) -> list[Strip]:
    """Return rendered rows of a pane with the heading in its row, if that row is among them.

    Args:
        pane: The pane. Its stylesheet reserves a row of padding for the heading.
        strips: The rows.
        crop: The region that they show.
        heading: The pieces of the heading, without the column of the selected row's mark.
    """
    row = pane.styles.gutter.top - 1 - crop.y
    if pane.styles.padding.top and 0 <= row < len(strips):
        width = pane.scrollable_content_region.width
        line = Strip.join([Strip.blank(1), pane.strip_of(heading)]).adjust_cell_length(width)
        strips[row] = pane.painter.framed(line).crop(crop.x, crop.right)
    return strips


def heading_region(pane: LineView) -> Region:
    """Return the region of the heading, relative to the content of the pane."""
    return Region(-pane.styles.gutter.left, -1, pane.region.width, 1)
