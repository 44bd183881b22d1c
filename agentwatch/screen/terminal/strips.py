"""Strips that are cheaper to create than Textual's.

A strip of Textual has seven caches, whose creation takes as long as composing a row. A new row of a pane is
only rendered, which uses none of them. These strips create them when the first one is used.
"""

from __future__ import annotations

from typing import Any

from rich.segment import Segment
from textual.strip import Strip

_LATER = {*Strip.__slots__} - {"_cell_length"}
"""The attributes that a strip of this module may not have yet."""


class LightStrip(Strip):
    """A strip whose caches are created when one of them is used."""

    __slots__ = ()

    def __init__(self, segments: list[Segment], width: int | None = None) -> None:
        """Create the strip.

        Args:
            segments: The pieces of its text; the caller does not change the list later.
            width: The columns that they occupy; None to count them when they are asked for.
        """
        self._segments = segments
        self._cell_length = width
        self._render_cache = None

    def __getattr__(self, name: str) -> Any:
        """Return an attribute that is not set yet."""
        if name not in _LATER or name == "_segments":
            raise AttributeError(name)
        super().__init__(self._segments, self._cell_length)
        return getattr(self, name)


class FramedRow(Strip):
    """A row whose two parts, left and right of the scrollbar, are kept: each frame draws just these.

    Otherwise every new row is cut twice, which takes as long as composing it. The whole row is put together
    when it is used, which does not happen while a frame is drawn.
    """

    __slots__ = ("_bar", "_border", "_border_start", "_content", "_end")

    def __init__(self, content: Strip, bar: Strip, border: Strip) -> None:
        """Create the row.

        Args:
            content: Everything to the left of the scrollbar.
            bar: The column of the scrollbar, which is drawn over it.
            border: Everything to the right of the scrollbar.
        """
        self._content, self._bar, self._border = content, bar, border
        self._end = content.cell_length
        self._border_start = self._end + bar.cell_length
        self._cell_length = self._border_start + border.cell_length

    def __getattr__(self, name: str) -> Any:
        """Return an attribute of the whole row that is not set yet."""
        if name not in _LATER:
            raise AttributeError(name)
        super().__init__([*self._content, *self._bar, *self._border], self._cell_length)
        return getattr(self, name)

    def crop(self, start: int, end: int | None = None) -> Strip:
        """Return a part of the row."""
        if start == 0 and end == self._end:
            return self._content
        if start == self._border_start and (end is None or end == self._cell_length):
            return self._border
        return super().crop(start, end)
