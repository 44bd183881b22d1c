"""A scrolling pane of lines: drawing the visible lines, following the end, and text selection.

The cost of a frame depends on the height of the viewport. In Textual's own log and table it grows with the
history: at 100,000 rows, DataTable reached 4 frames a second, this pane 60.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from math import ceil
from typing import ClassVar, dataclass_transform

from rich.segment import Segment
from textual import events
from textual.binding import BindingType
from textual.content import Content
from textual.geometry import Offset, Region, Size
from textual.message import Message
from textual.reactive import reactive, var
from textual.scroll_view import ScrollView
from textual.scrollbar import ScrollBar
from textual.selection import Selection
from textual.strip import Strip

from agentwatch.screen.keys import bindings
from agentwatch.screen.terminal.compositor import LightStrip
from agentwatch.screen.terminal.frames import eager_classes
from agentwatch.screen.widgets.painting import LinePainter, LineStyles, chosen_row, mark_strip
from agentwatch.text.safe import SafeText

# The thumb of a pane's scrollbar.


class ScrollThumb:
    """Redraws a pane's scrollbar only when its thumb moves; a redraw takes 1 ms."""

    def __init__(self, pane: ScrollView) -> None:
        self._pane = pane
        self._place = (0.0, 0)

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


Spans = list[tuple[SafeText, str]]
"""A line as pieces of text, each with the name of its style: `muted` is `line--muted` in the stylesheet."""


class LineView(ScrollView, can_focus=True):
    """A scrolling view of lines that are drawn only when they are visible."""

    COMPONENT_CLASSES = eager_classes(
        f"line--{style}"
        for style in (
            *("plain", "strong", "muted", "accent", "prompt", "reasoning", "chosen", "selected"),
            *("running", "asks", "succeeded", "failed", "rejected", "cancelled", "returned", "unfinished"),
            *("added", "removed", "hunk", "heading", "code", "code-block", "link", "quote", "rule"),
        )
    )

    BINDINGS: ClassVar[list[BindingType]] = bindings("lines")

    fits_content: ClassVar[bool] = False
    """Whether the view is as high as its lines, up to the height in the stylesheet, as a popup is."""

    has_columns: ClassVar[bool] = False
    """Whether most parts of a row stay when one of them changes, as a clock does each second."""

    following = var(True)

    def __init__(self, title: str, *, id: str) -> None:
        self.line_style = LineStyles(self)
        super().__init__(id=id)
        self.painter = LinePainter(self)
        self.border_title = Content(title)
        self.tab_title: str | None = None
        """The title in the line of tabs; None for the title in the border."""
        self._count = 0
        self.count_when_unfollowed = 0
        """The number of lines when the user stopped following, plus later ones that are not new content."""
        self.below = 0
        self.empty_words = SafeText("")
        self._is_settling = False
        self._when_shown: Callable[[], None] | None = None
        self._thumb = ScrollThumb(self)

    def line_count(self) -> int:
        raise NotImplementedError

    def draw(self, y: int, width: int) -> Strip:
        """Return line `y`, at most about `width` columns wide."""
        raise NotImplementedError

    def show_lines(self, *, redraw: bool = True) -> None:
        count = self.line_count()
        if count != self._count:
            self._count = count
            # Assigning virtual_size would lay out the whole screen again, 2 ms each time.
            self.set_reactive(LineView.virtual_size, Size(0, count))
            self._fit()
            if self.following:
                self.settle_at(self.max_scroll_y)
            self._thumb.follow(self._count)
        self.show_below()
        if redraw:
            self.painter.refresh()

    @property
    def is_fitted(self) -> bool:
        """Whether the view is as high as its lines; in a terminal of few rows, a popup takes all of them."""
        return self.fits_content and not self.screen.has_class("-short")

    @property
    def fitting_height(self) -> int:
        """The number of rows that the lines take with their border."""
        return max(self._count, 1) + 2

    def _fit(self) -> None:
        if self.fits_content:
            self.styles.height = self.fitting_height if self.is_fitted else None

    def settle_at(self, y: float) -> None:
        """Scroll to row `y` without ending the follow mode."""
        self._is_settling = True
        self.scroll_to(y=y, animate=False, immediate=True)
        self._is_settling = False

    def once_shown(self, scroll: Callable[[], None]) -> None:
        """Scroll now; if the view has no rows because it is hidden, scroll when it is shown."""
        if self.scrollable_content_region.height:
            self._when_shown = None
            scroll()
        else:
            self._when_shown = scroll

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Stop following when the user scrolls away from the end, and resume at the end."""
        self._thumb.follow(self._count)
        if round(old_value) != round(new_value):
            self.painter.refresh()
        if not self._is_settling and old_value != new_value:
            self.following = self.at_end()

    def at_end(self) -> bool:
        return self.scroll_y >= self.max_scroll_y

    def watch_following(self, following: bool) -> None:
        if not following:
            self.count_when_unfollowed = self._count
        self.show_below()

    def on_resize(self) -> None:
        self._fit()
        self.show_lines()
        if self.following:
            self.settle_at(self.max_scroll_y)
        if self._when_shown is not None:
            self.once_shown(self._when_shown)

    def render_lines(self, crop: Region) -> list[Strip]:
        top = self.styles.gutter.top
        bottom = top + self.scrollable_content_region.height
        first, last = max(crop.y, top), min(crop.bottom, bottom)
        if self.painter.is_off or first >= last:
            return super().render_lines(crop)
        strips = self.painter.paint(self.scroll_offset.y + first - top, last - first)
        if crop.y < first:
            strips = [*super().render_lines(Region(0, crop.y, self.region.width, first - crop.y)), *strips]
        if last < crop.bottom:
            strips += super().render_lines(Region(0, last, self.region.width, crop.bottom - last))
        if crop.width == self.outer_size.width:  # as always, unless something is in front
            return strips
        return [strip.crop(crop.x, crop.right) for strip in strips]

    def render_line(self, y: int) -> Strip:
        """Return a line of the viewport with the offset of each character, which text selection requires."""
        line, base = self.scroll_offset.y + y, self.rich_style
        strip = self.painter.line(line, self.scrollable_content_region.width, self.text_selection)
        strip = strip.apply_style(base)
        return strip if line >= self.line_count() else strip.apply_offsets(0, line)

    def is_stable(self, line: int) -> bool:
        """Return whether a line cannot change while the painter caches it; False by default."""
        del line
        return False

    def strip_of(self, spans: Spans) -> Strip:
        """Return a line made of pieces, each in its style."""
        style = self.line_style
        if self.has_columns:
            known = style.segments
            return LightStrip([known.get(each) or style.segment(each) for each in spans if each[0]])
        return LightStrip([Segment(text, style(name)) for text, name in spans if text])

    def notify_style_update(self) -> None:
        super().notify_style_update()
        self.line_style.forget()
        self.painter.forget()

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        first = selection.start.y if selection.start else 0
        last = min(selection.end.y if selection.end else self._count - 1, self._count - 1)
        width = self.scrollable_content_region.width
        lines = []
        for y in range(first, last + 1):
            span = selection.get_span(y)
            if span is not None:
                start, end = span
                text = self.draw(y, width).text
                lines.append((text[start:] if end == -1 else text[start:end]).rstrip())
        return "\n".join(lines), "\n"

    def action_move(self, lines: int) -> None:
        self.scroll_relative(y=lines, animate=False, immediate=True)

    def action_move_page(self, pages: float) -> None:
        """Scroll by a page; consecutive pages overlap by one line."""
        self.action_move(round(pages * max(self.scrollable_content_region.height - 1, 2)))

    def action_top(self) -> None:
        self.scroll_to(y=0, animate=False, immediate=True)

    def action_bottom(self) -> None:
        self.following = True
        self.settle_at(self.max_scroll_y)

    def move_selection(self, line: int, lines: int) -> None:
        """Keep the selected text selected: from line number `line` on, it is now `lines` further down."""
        selection = self.text_selection
        if selection is not None:
            start, end = (
                at if at is None or at.y < line else Offset(at.x, at.y + lines)
                for at in (selection.start, selection.end)
            )
            self.screen.selections = {**self.screen.selections, self: Selection(start, end)}

    def show_below(self) -> None:
        new = 0 if self.following else max(self._count - self.count_when_unfollowed, 0)
        if new != self.below:
            self.below = new
            self.border_subtitle = Content(f"{new:,} new below ▾" if new else "")


class PopupLines(LineView):
    """The lines of a popup, which are laid out for its width and do not grow."""

    fits_content = True

    def __init__(self, title: str, lines: Callable[[int], Iterable[Spans]], *, id: str) -> None:
        super().__init__(title, id=id)
        self._lines_for, self._lines = lines, list[Spans]()

    def on_mount(self) -> None:
        self.following = False

    def on_resize(self) -> None:
        self._lay_out()
        super().on_resize()

    def show_from_top(self) -> None:
        self._lay_out()
        self.painter.forget()
        self.show_lines()
        self.settle_at(0)

    def line_count(self) -> int:
        return len(self._lines)

    def draw(self, y: int, width: int) -> Strip:
        del width
        return self.strip_of(self._lines[y])

    def show_below(self) -> None:
        """Do nothing: the lines do not grow."""

    def _lay_out(self) -> None:
        width = self.scrollable_content_region.width
        self._lines = list(self._lines_for(width)) if width else []


def rows_in_view(pane: LineView) -> range:
    top = pane.scroll_offset.y
    return range(top, min(top + pane.scrollable_content_region.height, pane.line_count()))


# A pane of lines with a cursor.


class CursorView(LineView):
    """Lines with a cursor, which keys and clicks move; a second click opens the selected row."""

    open_action = "open"

    cursor = var(0)
    _clicked = -1
    is_lit = reactive(True)

    def draw(self, y: int, width: int) -> Strip:
        """Return one row after a column for its mark; the selected row is marked and highlighted."""
        strip = self.draw_row(y, max(width - 1, 1))
        if y == self.cursor and self.is_lit:
            return chosen_row(strip, self, width)
        mark = mark_strip(self, "failed") if self.is_pinned(y) else Strip.blank(1)
        return Strip.join([mark, strip])

    def is_pinned(self, y: int) -> bool:
        """Return whether the detail of a row stays open, although the row is not selected."""
        del y
        return False

    def draw_row(self, y: int, width: int) -> Strip:
        raise NotImplementedError

    def choose(self, row: int) -> None:
        raise NotImplementedError

    def bring_into_view(self, row: int) -> None:
        """Scroll by as few lines as possible to make a row visible."""
        top, height = self.scroll_offset.y, self.scrollable_content_region.height
        if row < top:
            self.settle_at(row)
        elif row >= top + height:
            self.settle_at(row - height + 1)

    async def on_click(self, event: events.Click) -> None:
        """Select the row that was clicked; a second click, however late, does what enter does."""
        row = event.get_content_offset(self)
        if row is not None and (y := row.y + self.scroll_offset.y) < self.line_count():
            is_second = event.chain > 1 or (y == self.cursor == self._clicked)
            self.choose(y)
            self._clicked = self.cursor
            if is_second:
                await self.run_action(self.open_action)

    def action_move(self, lines: int) -> None:
        self.choose(self.cursor + lines)

    def action_top(self) -> None:
        self.choose(0)

    def action_bottom(self) -> None:
        self.choose(self.line_count() - 1)


# A pane of rows with a cursor that does not follow the end.


class RowView(CursorView):
    """Lines with a cursor; the selected row stays in place while other rows are added."""

    open_action = "screen.open"

    def on_mount(self) -> None:
        self.following = False

    def draw_row(self, y: int, width: int) -> Strip:
        """Return one row; it is blank if the rows have become fewer since the last frame."""
        return self.strip_of(self.row(y, width)) if y < self.line_count() else Strip.blank(width)

    def row(self, y: int, width: int) -> Spans:
        raise NotImplementedError

    def choose(self, row: int) -> None:
        self.cursor = max(0, min(row, self.line_count() - 1))
        self.bring_into_view(self.cursor)

    def watch_cursor(self, old: int, new: int) -> None:
        self.refresh_line(old)
        self.refresh_line(new)

    def at_end(self) -> bool:
        """Return False: the end is never followed, because new rows appear at the top or sorted by name."""
        return False

    def show_below(self) -> None:
        """Do nothing: new rows are not counted."""

    def action_move_page(self, pages: float) -> None:
        self.choose(self.cursor + round(pages * max(self.scrollable_content_region.height, 2)))


# The message by which a part of the screen asks for another pane.


@dataclass_transform()
class Posted(Message):
    """A message with the values that its class annotates; a dataclass would take 0.3 ms to make."""

    def __init__(self, *values: object, **named: object) -> None:
        super().__init__()
        for name, value in (*zip(type(self).__annotations__, values, strict=False), *named.items()):
            setattr(self, name, value)


class PaneWanted(Posted):
    pane: str


# A heading above the rows of a pane, which does not scroll with them.

LEAST_HEIGHT = 10
"""Panes with fewer rows, borders included, have no heading: it would take a line of the content."""


class HeadedView(CursorView):
    """Rows with a cursor under a heading, for which the stylesheet has a row unless the class is `-low`."""

    _heading: Spans | None = None

    def heading(self, width: int) -> Spans:
        raise NotImplementedError

    @property
    def fitting_height(self) -> int:
        return super().fitting_height + 1

    def on_resize(self) -> None:
        height = self.outer_size.height
        has_room = self.is_fitted and self.fitting_height <= height
        self.set_class(height < LEAST_HEIGHT and not has_room, "-low")
        super().on_resize()

    def render_lines(self, crop: Region) -> list[Strip]:
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
