"""Which parts of the screen are drawn again, and which of those are written to the terminal.

Textual composes every widget that a change touches, cuts each line at every edge on the screen, and writes
all that it was asked to draw, changed or not: three quarters of the cost of a frame. Its compositor is
private (`textual._compositor`) and has no public hook, so this is a subclass of it.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

from rich.console import Console
from textual._compositor import Compositor, CompositorUpdate, LayoutUpdate
from textual.geometry import Region
from textual.strip import Strip
from textual.widget import Widget


class Piece(NamedTuple):
    """The part of a row of the screen that one widget shows."""

    start: int
    end: int
    widget: Widget
    seen: Region
    """The part of the widget that its container leaves in view."""
    region: Region
    """The widget, in view or not."""


class ChangedPieces(CompositorUpdate):
    """The pieces that were drawn anew, of which those are written that differ from what is shown."""

    def __init__(self, drawn: list[tuple[int, int, Strip]], shown: dict[tuple[int, int], str]) -> None:
        """Take each piece with its row and its column, by rows and columns; `shown` is kept true."""
        self._drawn = drawn
        self._shown = shown

    def render_segments(self, console: Console) -> str:
        """Return what is to be written.

        What stands behind a change in its row is written again: a terminal may have drawn a character
        wider than we take it to be.
        """
        written: list[str] = []
        shown, changed_row = self._shown, -1
        for y, x, strip in self._drawn:
            text = strip.render(console)
            if y == changed_row or shown.get((y, x)) != text:
                changed_row = y
                shown[y, x] = text
                written.append(f"\x1b[{y + 1};{x + 1}H{text}")
        return "".join(written)


class PieceCompositor(Compositor):
    """Draws of the widgets in front those rows that are to be drawn, and writes what has changed."""

    def __init__(self) -> None:
        super().__init__()
        self._shown: dict[tuple[int, int], str] = {}
        """What was last written at a row and a column, where that is known."""
        self._pieces: dict[int, list[Piece]] = {}
        self._arrangement: dict[Widget, tuple[Region, Region]] = {}
        """The widgets in view, the front one first, when the pieces were made."""

    def render_full_update(self, simplify: bool = False) -> LayoutUpdate:
        """Draw all of the screen, and take nothing for shown."""
        self._is_rearranged()
        self._shown.clear()
        return super().render_full_update(simplify)

    def render_partial_update(self) -> CompositorUpdate | None:  # type: ignore[override]
        """Draw what is to be drawn anew, all of it when a widget came, went or moved; None when nothing is.

        Textual may forget what a widget that went has uncovered, and hides that by drawing too much.
        """
        if self._is_rearranged():
            return self.render_full_update()
        # Textual's own render_partial_update begins with the same two: what was asked to be drawn, by rows.
        rows: dict[Widget, list[tuple[int, Piece]]] = {}
        for y, start, end in self._regions_to_spans(self._dirty_regions):
            for piece in self._pieces_of(y):
                if piece.start < end and piece.end > start:
                    rows.setdefault(piece.widget, []).append((y, piece))
        self._dirty_regions.clear()
        drawn = [part for of_widget in rows.values() for part in _drawn(of_widget)]
        drawn.sort(key=lambda part: part[:2])
        return ChangedPieces(drawn, self._shown) if drawn else None

    def _is_rearranged(self) -> bool:
        before, self._arrangement = self._arrangement, self.visible_widgets
        if before is self._arrangement or [*before.items()] == [*self._arrangement.items()]:
            return False
        self._pieces.clear()
        return True

    def _pieces_of(self, y: int) -> list[Piece]:
        """Return the pieces of a row, of each column the widget that is in front there."""
        pieces = self._pieces.get(y)
        if pieces is None:
            pieces = self._pieces[y] = []
            widgets = self.layers_visible[y]
            for start, end in pairwise(self.cuts[y]):
                front = next((found for found in widgets if found[1].x <= start < found[1].right), None)
                if front is None:
                    continue
                if pieces and pieces[-1].end == start and pieces[-1].widget is front[0]:
                    pieces[-1] = pieces[-1]._replace(end=end)
                else:
                    pieces.append(Piece(start, end, *front))
        return pieces


def _drawn(rows: list[tuple[int, Piece]]) -> list[tuple[int, int, Strip]]:
    """Return pieces of one widget, by rows, each with its row and its column."""
    first, last, piece = rows[0][0], rows[-1][0], rows[0][1]
    seen, region = piece.seen, piece.region
    strips = piece.widget.render_lines(
        Region(seen.x - region.x, first - region.y, seen.width, last - first + 1)
    )
    return [
        (y, piece.start, strips[y - first].crop(piece.start - seen.x, piece.end - seen.x))
        for y, piece in rows
    ]
