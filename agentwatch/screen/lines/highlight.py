"""Lay highlight styles over lines."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

if TYPE_CHECKING:
    from agentwatch.screen.lines.line_view import LineView

_CHOSEN_MARK = "▐"


def marked(strip: Strip, start: int, end: int, mark: Style) -> Strip:
    """Return a line with a style laid over a range of its characters.

    Args:
        strip: The line.
        start: The index of the first character.
        end: The index after the last character; -1 is the end of the line.
        mark: The style to lay over them.
    """
    text = strip.text
    left = Strip([Segment(text[:start])]).cell_length
    right = strip.cell_length if end == -1 else Strip([Segment(text[:end])]).cell_length
    over = [Segment(piece.text, (piece.style or mark) + mark) for piece in strip.crop(left, right)]
    return Strip.join([strip.crop(0, left), Strip(over), strip.crop(right)])


def chosen_row(strip: Strip, pane: LineView, width: int) -> Strip:
    """Return a row in exactly `width` columns as the selected one: a mark before it, a style over it."""
    rest = laid_over(strip, pane.line_style("chosen"), max(width - 1, 0))
    return Strip.join([mark_strip(pane, "accent"), rest])


def mark_strip(pane: LineView, style: str) -> Strip:
    """Return the mark that stands before a row, in the style with this name."""
    return Strip([Segment(_CHOSEN_MARK, pane.line_style(style))])


def laid_over(strip: Strip, style: Style, width: int) -> Strip:
    """Return a line cropped or padded to `width` columns, with a style laid over all of it."""
    return Strip(
        [Segment(piece.text, (piece.style or style) + style) for piece in strip.adjust_cell_length(width)]
    )
