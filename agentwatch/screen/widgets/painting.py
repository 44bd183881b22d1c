"""Composes lines and the frame beside them into rows of the screen, and caches the rows.

Textual composes a row from the styles of the pane and its ancestors, which takes 0.2 ms per row, and caches
it by its position on the screen. A scrolling text is therefore composed again on each scroll. Here the frame
is composed once and a row is cached by its line number, so it stays valid as long as its line.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from rich.segment import Segment
from rich.style import Style
from textual.color import Color
from textual.filter import LineFilter
from textual.geometry import Region
from textual.selection import Selection
from textual.strip import Strip
from textual.widget import Widget

from agentwatch.screen.terminal.compositor import FramedRow, LightStrip, row_frame, style_changes
from agentwatch.screen.terminal.frames import component_style, is_stock
from agentwatch.text.safe import SafeText

if TYPE_CHECKING:
    from agentwatch.screen.widgets.line_view import LineView


# Lay highlight styles over lines.

CHOSEN_MARK = "▐"


def marked(strip: Strip, start: int, end: int, mark: Style) -> Strip:
    """Return a line with a style over its characters `start` to `end`; -1 is the end of the line."""
    text = strip.text
    left = Strip([Segment(text[:start])]).cell_length
    right = strip.cell_length if end == -1 else Strip([Segment(text[:end])]).cell_length
    over = [Segment(piece.text, (piece.style or mark) + mark) for piece in strip.crop(left, right)]
    return Strip.join([strip.crop(0, left), Strip(over), strip.crop(right)])


def chosen_row(strip: Strip, pane: LineView, width: int, mark: str = CHOSEN_MARK) -> Strip:
    """Return a row in exactly `width` columns as the selected one: a mark before it, a style over it."""
    rest = laid_over(strip, pane.line_style("chosen"), max(width - 1, 0))
    return Strip.join([mark_strip(pane, "accent", mark), rest])


def mark_strip(pane: LineView, style: str, mark: str = CHOSEN_MARK) -> Strip:
    return Strip([Segment(mark, pane.line_style(style))])


def laid_over(strip: Strip, style: Style, width: int) -> Strip:
    return Strip(
        [Segment(piece.text, (piece.style or style) + style) for piece in strip.adjust_cell_length(width)]
    )


_MOST_KEPT = 256
"""Rows in the cache before it keeps only those near the viewport; a row takes about 5 KB."""


_MOST_PIECES = 2_048
"""The parts of lines that are kept, at most; a screen of the list has 700."""


class _Painted(NamedTuple):
    line: Strip
    row: Strip


class LinePainter:
    def __init__(self, pane: LineView) -> None:
        self._pane = pane
        self.is_off = is_stock()
        self._kept: dict[int, _Painted] = {}
        self._doubtful: set[int] = set()
        """The lines that are compared before they are drawn."""
        self._stable: set[int] = set()
        """The lines that stay the same until they are forgotten."""
        self._styles: tuple[object, ...] = ()
        self._pieces: dict[Segment, tuple[Segment, int]] = {}
        """The parts of lines: each with the style of the pane and its filters, and its width."""
        self._joins = False
        """Whether a filter makes none or several of one part."""
        self._left: list[Segment] = []
        self._gutter = self._width = 0
        self._bar = self._border = Strip.blank(0)
        self._base = Style()
        self._background = Color(0, 0, 0)
        self._filters: Sequence[LineFilter] = ()

    def forget(self) -> None:
        self._kept.clear()
        self._doubtful.clear()
        self._stable.clear()

    def forget_from(self, line: int) -> None:
        """Draw the lines from number `line` on again. Rows are composed again only if they differ: the first
        lines of a paragraph stay the same while it grows."""
        doubtful = [number for number in self._kept if number >= line]
        self._doubtful.update(doubtful)
        self._stable.difference_update(doubtful)

    def refresh(self) -> None:
        pane = self._pane
        pane.refresh(Region(-pane.styles.gutter.left, 0, pane.region.width, pane.size.height))

    def paint(self, first: int, count: int) -> list[Strip]:
        """Return `count` lines from number `first` on, each as a row of the pane's full width."""
        pane = self._pane
        inner = pane.scrollable_content_region
        self._take_styles(inner)
        if len(self._kept) > _MOST_KEPT:
            near = range(first - count, first + 2 * count)
            self._kept = {number: row for number, row in self._kept.items() if number in near}
            self._doubtful.intersection_update(self._kept)
            self._stable.intersection_update(self._kept)
        width, selection = inner.width, pane.text_selection
        lines = range(first, first + count)
        if selection is not None:
            return [self._row(self.line(number, width, selection)) for number in lines]
        known, kept, stable = pane.line_count(), self._kept, self._stable
        return [
            kept[number].row if number in stable and number < known else self._kept_row(number, width, known)
            for number in lines
        ]

    def line(self, number: int, width: int, selection: Selection | None) -> Strip:
        """Return a line in exactly `width` columns, its selection highlighted; blank after the last line."""
        strip = self._text(number, width, self._pane.line_count()).adjust_cell_length(width)
        span = None if selection is None else selection.get_span(number)
        return strip if span is None else marked(strip, *span, self._pane.line_style("selected"))

    def framed(self, line: Strip) -> Strip:
        self._take_styles(self._pane.scrollable_content_region)
        return self._row(line)

    def _text(self, number: int, width: int, known: int) -> Strip:
        """Return a line in about `width` columns; blank if it is not among the `known` lines of the pane."""
        if number < known:
            return self._pane.draw(number, width)
        if number == 0 and self._pane.empty_words:
            return self._pane.strip_of([(self._pane.empty_words, "muted")])
        return Strip.blank(width)

    def _kept_row(self, number: int, width: int, known: int) -> Strip:
        painted = self._kept.get(number)
        is_sure = painted is not None and number < known and number not in self._doubtful
        if painted is not None and is_sure and self._pane.is_stable(number):
            self._stable.add(number)
            return painted.row
        self._doubtful.discard(number)
        line = self._text(number, width, known)
        if painted is None or painted.line != line:
            painted = self._kept[number] = _Painted(line, self._row(line))
        return painted.row

    def _row(self, line: Strip) -> Strip:
        middle = self._composed(line) if self._pane.has_columns else None
        if middle is None:
            missing = self._width - line.cell_length
            if missing < 0:
                line = line.crop(0, self._width)
            middle = list(Segment.apply_style(line, self._base))
            if missing > 0:
                blanks = " " * missing
                if middle and middle[-1].style is self._base:  # as in most lines of text
                    middle[-1] = Segment(middle[-1].text + blanks, self._base)
                else:
                    middle.append(Segment(blanks, self._base))
            for each in self._filters:
                middle = each.apply(middle, self._background)
        content = LightStrip([*self._left, *middle], self._gutter + self._width)
        return FramedRow(content, self._bar, self._border)

    def _composed(self, line: Strip) -> list[Segment] | None:
        """Return a line in the style of the pane, with the filters applied; None if it is too wide, or if a
        filter joins segments. Each segment is composed and measured once: in a row whose clock has changed,
        the other columns are the same."""
        known = self._pieces
        pieces = [known.get(each) or self._piece(each) for each in line]
        missing = self._width - sum(width for _, width in pieces)
        pieces.append(self._piece(Segment(" " * missing)))
        return None if missing < 0 or self._joins else [piece for piece, _ in pieces]

    def _piece(self, segment: Segment) -> tuple[Segment, int]:
        found = self._pieces.get(segment)
        if found is None:
            if len(self._pieces) > _MOST_PIECES:
                self._pieces.clear()
            composed = self._filtered([segment])
            self._joins = self._joins or len(composed) != 1
            piece = composed[0] if composed else segment
            found = self._pieces[segment] = piece, segment.cell_length
        return found

    def _filtered(self, segments: list[Segment]) -> list[Segment]:
        found = list(Segment.apply_style(segments, self._base))
        for each in self._filters:
            found = each.apply(found, self._background)
        return found

    def _take_styles(self, inner: Region) -> None:
        """Compose the frame again and clear the cache if the styles of the pane have changed."""
        pane = self._pane
        filters = pane.get_line_filters()
        styles = (pane.region.size, inner.size, *style_changes(pane), *filters)
        if styles == self._styles:
            return
        _, background = pane.background_colors
        self._styles = styles
        self.forget()
        self._pieces.clear()
        self._joins = False
        self._base, self._background, self._filters = pane.rich_style, background, filters
        self._left, right = row_frame(pane, filters)
        self._gutter, self._width = pane.styles.gutter.left, inner.width
        self._bar = Strip(right).crop(0, pane.scrollbar_size_vertical)
        self._border = Strip(right).crop(pane.scrollbar_size_vertical)


# The styles that the stylesheet defines for a pane's lines.


class LineStyles:
    """The styles of a pane by name: `muted` is `line--muted` in the stylesheet."""

    def __init__(self, pane: Widget) -> None:
        self._pane = pane
        self._styles: dict[str, Style] = {}
        self.segments: dict[tuple[SafeText, str], Segment] = {}
        """The parts of rows with columns, most of which stay when a clock moves."""

    def __call__(self, name: str) -> Style:
        """Return a style that has only the colours that the stylesheet sets for it."""
        style = self._styles.get(name)
        if style is None:
            named, blended = component_style(self._pane, f"line--{name}")
            style = named + Style(
                color=blended.color if named.color else None,
                bgcolor=blended.bgcolor if named.bgcolor else None,
            )
            self._styles[name] = style
        return style

    def segment(self, span: tuple[SafeText, str]) -> Segment:
        if len(self.segments) > _MOST_PIECES:
            self.segments.clear()
        found = self.segments[span] = Segment(span[0], self(span[1]))
        return found

    def forget(self) -> None:
        self._styles.clear()
        self.segments.clear()
