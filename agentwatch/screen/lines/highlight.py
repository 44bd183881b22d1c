"""Looks that are laid over lines."""

from __future__ import annotations

from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip


def marked(strip: Strip, start: int, end: int, mark: Style) -> Strip:
    """Return a line with a look laid over the characters from `start` to `end`; -1 is the end of the line."""
    text = strip.text
    left = Strip([Segment(text[:start])]).cell_length
    right = strip.cell_length if end == -1 else Strip([Segment(text[:end])]).cell_length
    over = [Segment(piece.text, (piece.style or mark) + mark) for piece in strip.crop(left, right)]
    return Strip.join([strip.crop(0, left), Strip(over), strip.crop(right)])


def laid_over(strip: Strip, style: Style, width: int) -> Strip:
    """Return a line exactly so wide, with a look laid over all of it."""
    return Strip(
        [Segment(piece.text, (piece.style or style) + style) for piece in strip.adjust_cell_length(width)]
    )
