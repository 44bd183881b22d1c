"""A compositor that redraws only dirty pieces of the screen, and writes only those that have changed.

Textual's own compositor composes every widget that a change touches, splits each line at every widget edge on
the screen, and writes every redrawn piece even if it is unchanged. That made up three quarters of the cost of
a frame. The compositor is private (`textual._compositor`) and has no public hook, so this is a subclass of
it.
"""

from collections.abc import Iterable, Sequence
from itertools import chain, groupby, pairwise
from operator import itemgetter
from typing import Any, NamedTuple

from rich.console import Console, ConsoleOptions, RenderResult
from rich.segment import Segment
from textual._compositor import Compositor, CompositorUpdate
from textual.filter import LineFilter
from textual.geometry import Region
from textual.screen import Screen
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.widget import Widget


class Piece(NamedTuple):
    """The part of a screen row that one widget shows."""

    start: int
    end: int
    widget: Widget
    seen: Region
    """The part of the widget that its container does not clip."""
    region: Region
    """The region of the widget, including clipped parts."""


_ROW, _PLACE = itemgetter(0), itemgetter(0, 1)
Drawn = tuple[int, int, Strip | None]
"""A piece to write: its row, its column and its content; None for what the screen shows there."""


class ChangedPieces(CompositorUpdate):
    """Redrawn pieces, ordered by row and column; only those that differ from the screen are written. `shown`
    and `changed` are updated when the pieces are rendered."""

    def __init__(self, drawn: list[Drawn], shown: dict[tuple[int, int], str], changed: set[Widget]) -> None:
        self._drawn = drawn
        self._shown = shown
        self._changed = changed

    def render_segments(self, console: Console) -> str:
        """Return the text to write. The pieces to the right of a change in the same row are written again,
        because a terminal may have drawn a character wider than it was measured."""
        written: list[str] = []
        shown, changed_row = self._shown, -1
        self._changed.clear()
        for y, x, strip in self._drawn:
            text = shown[y, x] if strip is None else strip.render(console)
            if y == changed_row or shown.get((y, x)) != text:
                changed_row = y
                shown[y, x] = text
                written.append(f"\x1b[{y + 1};{x + 1}H{text}")
        return "".join(written)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Yield the rows of a whole screen, for a screenshot."""
        for y, row in groupby(self._drawn, key=_ROW):
            if y:
                yield Segment.line()
            yield from chain.from_iterable(strip for _, _, strip in row if strip is not None)


class PieceCompositor(Compositor):
    def __init__(self) -> None:
        super().__init__()
        self._shown: dict[tuple[int, int], str] = {}
        self._changed: set[Widget] = set()
        """The widgets whose content has changed since it was last written."""
        self._pieces: dict[int, list[Piece]] = {}
        self._arrangement: dict[Widget, tuple[Region, Region]] = {}
        """The visible widgets, front first, for which the pieces were computed."""
        self._is_first = True
        """Whether the screen was not yet redrawn: Textual demands it after the first frame."""

    def update_widgets(self, widgets: set[Widget]) -> None:
        """Redraw widgets; not those that were drawn after they had asked for it, and not a screen that was
        drawn when it was shown first."""
        if self._is_first and self._shown:
            for screen in widgets:
                if isinstance(screen, Screen) and not screen.is_modal and screen.stack_updates == 1:
                    self._is_first = False
                    screen._repaint_regions.clear()  # noqa: SLF001 - Textual has no public way
        self._changed |= {widget for widget in widgets if widget._repaint_regions}  # noqa: SLF001 - as above
        super().update_widgets(widgets)

    def render_full_update(self, simplify: bool = False) -> CompositorUpdate:  # type: ignore[override]
        """Redraw the whole screen, and forget what it showed; `simplify` is set for an exported picture, in
        which Textual joins segments."""
        self._is_rearranged()
        self._shown.clear()
        if simplify:
            return super().render_full_update(simplify)
        self._dirty_regions.clear()
        for widget in self.visible_widgets:
            widget._repaint_regions.clear()  # noqa: SLF001 - see `update_widgets`
        width, height = self.size
        drawn = self._drawn_in((y, 0, width) for y in range(height))
        return ChangedPieces(drawn, self._shown, self._changed)

    def render_partial_update(self) -> CompositorUpdate | None:  # type: ignore[override]
        """Redraw the dirty regions, or the whole screen if a widget appeared, vanished or moved: Textual may
        miss what a removed widget has uncovered, and hides this by drawing too much."""
        if self._is_rearranged():
            return self.render_full_update()
        # Textual's own render_partial_update begins with the same two private names.
        drawn = self._drawn_in(self._regions_to_spans(self._dirty_regions))
        self._dirty_regions.clear()
        return ChangedPieces(drawn, self._shown, self._changed) if drawn else None

    def _drawn_in(self, spans: Iterable[tuple[int, int, int]]) -> list[Drawn]:
        """Return the pieces that spans (row, first column, column after the last) touch, ordered by row and
        column. Where a widget has not changed, and it is known what the screen shows, the widget is not drawn
        again: the region of a pane includes its scrollbar."""
        drawn: list[Drawn] = []
        rows: dict[Widget, list[tuple[int, Piece]]] = {}
        shown, changed = self._shown, self._changed
        for y, start, end in spans:
            for piece in self._pieces_of(y):
                if piece.start < end and piece.end > start:
                    if piece.widget in changed or (y, piece.start) not in shown:
                        rows.setdefault(piece.widget, []).append((y, piece))
                    else:
                        drawn.append((y, piece.start, None))
        drawn += [part for of_widget in rows.values() for part in _drawn(of_widget)]
        drawn.sort(key=_PLACE)
        return drawn

    def _is_rearranged(self) -> bool:
        before, self._arrangement = self._arrangement, self.visible_widgets
        if before is self._arrangement or [*before.items()] == [*self._arrangement.items()]:
            return False
        self._pieces.clear()
        return True

    def _pieces_of(self, y: int) -> list[Piece]:
        """Return the pieces of a row: for each column, the widget that is in front there."""
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


def _drawn(rows: list[tuple[int, Piece]]) -> list[Drawn]:
    first, last, piece = rows[0][0], rows[-1][0], rows[0][1]
    seen, region = piece.seen, piece.region
    strips = piece.widget.render_lines(
        Region(seen.x - region.x, first - region.y, seen.width, last - first + 1)
    )
    return [
        (y, piece.start, strips[y - first].crop(piece.start - seen.x, piece.end - seen.x))
        for y, piece in rows
    ]


def lay_out(screen: Screen[Any]) -> None:
    """Lay a screen out now, as Textual does 60 times a second. There is no public way to do so:
    `_on_timer_update` is the function of Textual's timer."""
    screen._on_timer_update()  # noqa: SLF001 - see the docstring


def draw_now(screen: Screen[Any]) -> None:
    """Draw the widgets that have asked for it, without the messages by which Textual passes this on. Each
    widget sends one to the screen, and the screen resumes a timer, which makes up a tenth of a frame. With
    these messages, a third of the frames were late on a busy machine: the next one was due before they were
    drawn. Textual has no public way. A widget sets `_repaint_required` before it sends the message."""
    for widget in screen._compositor.visible_widgets:  # noqa: SLF001 - see the docstring
        if widget._repaint_required:  # noqa: SLF001
            widget._repaint_required = False  # noqa: SLF001
            screen._dirty_widgets.add(widget)  # noqa: SLF001
    lay_out(screen)


# The frame to the left and right of a pane's rows: border, padding, and their colours.


def style_changes(pane: ScrollView) -> list[int]:
    """Return how often the styles of a pane and of the nodes above it have changed. Textual counts this in
    `_cache_key`. Comparing the resulting styles takes 0.3 ms a frame."""
    return [node.styles._cache_key for node in pane.ancestors_with_self]  # noqa: SLF001 - see the docstring


def row_frame(pane: ScrollView, filters: Sequence[LineFilter]) -> tuple[list[Segment], list[Segment]]:
    """Return the segments to the left and to the right of a row of a pane, with the filters applied. Textual
    draws borders and padding in `StylesCache`. It has no public function that draws one row of them, and a
    row that Textual composes with its text takes 0.2 ms."""
    from textual._styles_cache import StylesCache  # imported here because AGENTWATCH_STOCK=1 does not use it

    base_background, background = pane.background_colors
    gutter, inner, style = pane.styles.gutter, pane.scrollable_content_region, pane.rich_style
    (row,) = StylesCache().render(
        pane.styles,
        pane.region.size,
        base_background,
        background,
        lambda _: Strip.blank(inner.width, style),
        filters,
        None,
        None,
        content_size=pane.content_region.size,
        padding=pane.styles.padding,
        crop=Region(0, gutter.top, pane.region.width, 1),
        opacity=pane.opacity,
    )
    return list(row.crop(0, gutter.left)), list(row.crop(gutter.left + inner.width))


# Strips that are cheaper to create than Textual's.
# A strip of Textual has seven caches, whose creation takes as long as composing a row. A new row of a pane
# is only rendered, which uses none of them. These strips create them when the first one is used.

_LATER = {*Strip.__slots__} - {"_cell_length"}
"""The attributes that a strip of this module may not have yet."""


class LightStrip(Strip):
    """A strip whose caches are created when one is used; `segments` must not change later."""

    __slots__ = ()

    def __init__(self, segments: list[Segment], width: int | None = None) -> None:
        self._segments = segments
        self._cell_length = width
        self._render_cache = None

    def __getattr__(self, name: str) -> Any:
        if name not in _LATER or name == "_segments":
            raise AttributeError(name)
        super().__init__(self._segments, self._cell_length)
        return getattr(self, name)


class FramedRow(Strip):
    """A row whose two parts, left and right of the scrollbar, are kept: each frame draws just these.
    Otherwise every new row is cut twice, which takes as long as composing it. The whole row is put together
    when it is used, which does not happen while a frame is drawn."""

    __slots__ = ("_bar", "_border", "_border_start", "_content", "_end")

    def __init__(self, content: Strip, bar: Strip, border: Strip) -> None:
        self._content, self._bar, self._border = content, bar, border
        self._end = content.cell_length
        self._border_start = self._end + bar.cell_length
        self._cell_length = self._border_start + border.cell_length

    def __getattr__(self, name: str) -> Any:
        if name not in _LATER:
            raise AttributeError(name)
        super().__init__([*self._content, *self._bar, *self._border], self._cell_length)
        return getattr(self, name)

    def crop(self, start: int, end: int | None = None) -> Strip:
        if start == 0 and end == self._end:
            return self._content
        if start == self._border_start and (end is None or end == self._cell_length):
            return self._border
        return super().crop(start, end)
