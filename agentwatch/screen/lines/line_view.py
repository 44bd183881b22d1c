"""A scrolling pane of lines: drawing the visible lines, following the end, and text selection.

The cost of a frame depends on the height of the viewport. In Textual's own log and table it grows with the
history: at 100,000 rows, DataTable reached 4 frames a second, this pane 60.
"""

from __future__ import annotations

from rich.segment import Segment
from textual.binding import Binding
from textual.content import Content
from textual.geometry import Offset, Region, Size
from textual.reactive import var
from textual.scroll_view import ScrollView
from textual.selection import Selection
from textual.strip import Strip

from agentwatch.screen.lines.line_painter import LinePainter
from agentwatch.screen.lines.scroll_thumb import ScrollThumb
from agentwatch.screen.lines.styles import LineStyles
from agentwatch.screen.terminal.first_frame import eager_classes
from agentwatch.text.safe import SafeText

Spans = list[tuple[SafeText, str]]
"""A line as pieces of text, each with the name of its style: `muted` is `line--muted` in the stylesheet."""


class LineView(ScrollView, can_focus=True):
    """A scrolling view of lines that are drawn only when they are visible.

    A subclass implements `line_count` and `draw`.
    """

    COMPONENT_CLASSES = eager_classes(
        f"line--{style}"
        for style in (
            *("plain", "strong", "muted", "accent", "prompt", "reasoning", "chosen", "selected"),
            *("running", "succeeded", "failed", "rejected", "cancelled", "returned", "unfinished"),
            *("added", "removed", "hunk", "heading", "code", "code-block", "link", "quote", "rule"),
        )
    )

    BINDINGS = [
        Binding("j,down", "move(1)", "Down", show=False, id="down", tooltip="One line down"),
        Binding("k,up", "move(-1)", "Up", show=False, id="up", tooltip="One line up; stops following"),
        Binding("g,home", "top", "Top", show=False, id="top", tooltip="Go to the top"),
        Binding("G,end", "bottom", "End", show=False, id="bottom", tooltip="Go to the end and follow"),
        Binding("pagedown,ctrl+f", "move_page(1)", "Page down", show=False, id="page-down"),
        Binding("pageup,ctrl+b", "move_page(-1)", "Page up", show=False, id="page-up"),
        Binding("ctrl+d", "move_page(0.5)", "Half a page down", show=False, id="half-page-down"),
        Binding("ctrl+u", "move_page(-0.5)", "Half a page up", show=False, id="half-page-up"),
    ]

    following = var(True)
    """Whether the view stays at the end while lines are added."""

    def __init__(self, title: str, *, id: str) -> None:  # noqa: A002 - Textual's name
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
        """The number of lines added since the user stopped following."""
        self.empty_words = SafeText("")
        """What the pane shows while it has no lines."""
        self._is_settling = False
        self._thumb = ScrollThumb(self)

    def line_count(self) -> int:
        """Return the number of lines."""
        raise NotImplementedError

    def draw(self, y: int, width: int) -> Strip:
        """Return line `y`, at most about `width` columns wide."""
        raise NotImplementedError

    def show_lines(self, *, redraw: bool = True) -> None:
        """Update the scroll range to the current number of lines; if following, scroll to the end.

        Args:
            redraw: Whether to redraw the visible lines as well.
        """
        count = self.line_count()
        if count != self._count:
            self._count = count
            # Assigning virtual_size would lay out the whole screen again, 2 ms each time.
            self.set_reactive(LineView.virtual_size, Size(0, count))
            if self.following:
                self.settle_at(self.max_scroll_y)
            self._thumb.follow(self._count)
        self.show_below()
        if redraw:
            self.painter.refresh()

    def settle_at(self, y: float) -> None:
        """Scroll to row `y` without ending the follow mode."""
        self._is_settling = True
        self.scroll_to(y=y, animate=False, immediate=True)
        self._is_settling = False

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Stop following when the user scrolls away from the end, and resume at the end."""
        self._thumb.follow(self._count)
        if round(old_value) != round(new_value):
            self.painter.refresh()
        if not self._is_settling and old_value != new_value:
            self.following = self.at_end()

    def at_end(self) -> bool:
        """Return whether the end is visible."""
        return self.scroll_y >= self.max_scroll_y

    def watch_following(self, following: bool) -> None:
        """Count new lines from the moment at which following stops."""
        if not following:
            self.count_when_unfollowed = self._count
        self.show_below()

    def on_resize(self) -> None:
        """Keep the end visible when the height of the pane changes."""
        self.show_lines()
        if self.following:
            self.settle_at(self.max_scroll_y)

    def render_lines(self, crop: Region) -> list[Strip]:
        """Draw rows of the pane: the painter draws the lines, Textual the borders above and below them."""
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
        return Strip([Segment(text, self.line_style(name)) for text, name in spans if text])

    def notify_style_update(self) -> None:
        """Discard everything that was derived from the old stylesheet."""
        super().notify_style_update()
        self.line_style.forget()
        self.painter.forget()

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        """Return the selected text as shown on the screen, without trailing blanks."""
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
        """Scroll by a number of lines."""
        self.scroll_relative(y=lines, animate=False, immediate=True)

    def action_move_page(self, pages: float) -> None:
        """Scroll by a number of pages; consecutive pages overlap by one line."""
        self.action_move(round(pages * max(self.scrollable_content_region.height - 1, 2)))

    def action_top(self) -> None:
        """Scroll to the beginning."""
        self.scroll_to(y=0, animate=False, immediate=True)

    def action_bottom(self) -> None:
        """Scroll to the end, and follow it."""
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
        """Show in the border how many lines were added since the user stopped following."""
        new = 0 if self.following else max(self._count - self.count_when_unfollowed, 0)
        if new != self.below:
            self.below = new
            self.border_subtitle = Content(f"{new} new below ▾" if new else "")


def rows_in_view(pane: LineView) -> range:
    """Return the lines of a pane that its viewport shows."""
    top = pane.scroll_offset.y
    return range(top, min(top + pane.scrollable_content_region.height, pane.line_count()))
