"""The table of calls: its rows are drawn from the calls as they stand now."""

from __future__ import annotations

from textual.binding import Binding
from textual.content import Content
from textual.message import Message
from textual.reactive import var
from textual.strip import Strip

from agentwatch.actions import action
from agentwatch.events import Outcome
from agentwatch.feed import Feed
from agentwatch.safe_text import SafeText
from agentwatch.screen.calls.filter_bar import FilterBar
from agentwatch.screen.calls.list import CallList
from agentwatch.screen.calls.renderer import CallRenderer
from agentwatch.screen.lines.cursor_view import CursorView
from agentwatch.session import Call

_TITLE = "2 Calls"
_SLICE_SECONDS = 0.008
_BETWEEN_SLICES = 0.001
"""So that keys come in between."""


class CallTable(CursorView):
    """The calls, filtered and folded; the chosen one is shown in the detail."""

    class Chosen(Message):
        """Another call is chosen."""

        def __init__(self, call: Call) -> None:
            super().__init__()
            self.call = call

    BINDINGS = [
        Binding("enter", "open", "Detail", id="open", tooltip="The detail; a row of several calls opens"),
    ]

    cursor = var(-1)
    """The row of the chosen call; -1 while there is none."""

    def __init__(self, feed: Feed) -> None:
        super().__init__(_TITLE, id="calls")
        self._list = CallList(feed.session)
        self._renderer = CallRenderer(self, self._list)
        self._scale: tuple[int, int] | None = None
        self._is_on_open_fold = False
        self._call_before: Call | None = None
        """What was chosen when the filter was opened."""
        self.now_ms: int | None = None
        self.title = SafeText(_TITLE)
        """What the border says: the order, and how many calls the filter hides."""
        self.chosen: Call | None = None
        """The chosen call."""

    def line_count(self) -> int:
        """Return how many rows there are."""
        return len(self._list.rows)

    def take(self, seconds: float) -> bool:
        """Take the calls before they are shown, for about so many seconds; return whether all are taken."""
        return self._list.take(seconds)

    def sync(self, now_ms: int | None) -> None:
        """Take what the session has learnt; running clocks show the time at `now_ms`."""
        self.now_ms = now_ms
        top, rows = self.scroll_offset.y, self._list.rows
        anchor = rows[top] if 0 < top < len(rows) and not self.following else None
        if self._list.sync():
            self._settle(is_growth=True)
            row = None if anchor is None else rows.row_of(anchor.first, is_whole=anchor.is_open)
            if row is not None and row != top:
                self.settle_at(row)

    def tick(self, now_ms: int | None) -> None:
        """Draw the running clocks anew, and nothing else unless the time strip has become too short."""
        self.now_ms = now_ms
        first = self.scroll_offset.y
        for row in range(first, min(first + self.size.height, self.line_count())):
            call = self._list.call_at(row)
            if call.outcome is Outcome.RUNNING:
                self.refresh_line(row)
                scale = self._list.strip.scale(call.run, now_ms)
                if scale != self._scale:
                    self._scale = scale
                    self.refresh()

    def draw_row(self, y: int, width: int) -> Strip:
        """Return one row, its clock at the time that it is."""
        return self._renderer.render(y, width, self.now_ms)

    def chosen_text(self) -> SafeText:
        """Return what `y` copies: the chosen call as an action."""
        return SafeText("") if self.chosen is None else action(self.chosen)

    def choose(self, row: int) -> None:
        """Move the cursor; the newest call is followed when it is chosen."""
        count = self.line_count()
        if not count:
            return
        row = max(0, min(row, count - 1))
        self.following = row == count - 1 and not self._list.is_by_duration
        before, are_rows_new = self.cursor, count != self._count
        self._settle(row, redraw=are_rows_new)
        if not are_rows_new:
            self.refresh_line(before)
            self.refresh_line(row)
        self.bring_into_view(row)

    def choose_call(self, call: Call) -> None:
        """Choose a call wherever it is: the filter is dropped and its fold is opened if they hide it."""
        rows, index = self._list.rows, call.number - 1
        if rows.row_of(index) is None:
            self._list.ask("", by_duration=self._list.is_by_duration)
            self._list.go_on(None)
            rows = self._list.rows
        row = rows.row_of(index)
        if row is not None and rows.toggle(row):
            row = rows.row_of(index)
        if row is not None:
            self._settle()
            self.choose(row)

    def choose_failure(self, step: int) -> bool:
        """Move to the next (1) or previous (-1) call that failed; return whether there is one."""
        row = self._list.failure_from(self.cursor, step)
        if row is not None:
            self.choose(row)
        return row is not None

    def at_end(self) -> bool:
        """Return whether the end is held: its row is in view, and chosen."""
        is_last = self.cursor == self.line_count() - 1
        return super().at_end() and is_last and not self._list.is_by_duration

    async def action_open(self) -> None:
        """Open a row of several calls, or fold it again; of one call, its detail."""
        if 0 <= self.cursor < self.line_count() and self._list.rows.toggle(self.cursor):
            self.choose(self.cursor)
        else:
            await self.run_action("screen.pane('detail')")

    def action_slowest(self) -> None:
        """Show the slowest calls first, or all by time again."""
        self._list.ask(by_duration=not self._list.is_by_duration)
        self._go_on()

    def action_filter(self) -> None:
        """Open the line in which the words of the filter are typed."""
        bars = self.screen.query(FilterBar)
        if not bars and self.parent is not None:
            self._call_before = None if self.following else self.chosen
            self.screen.mount(FilterBar(self, self._list.filter), after=self)
        for bar in bars:
            bar.focus(scroll_visible=False)

    def filter_by(self, words: str) -> None:
        """Show only the calls that match words; without words all, and what was chosen before."""
        self._list.ask(words)
        self._go_on()

    def _go_on(self) -> None:
        """Make the rows that were asked for, a slice at a time, and show them when they are whole."""
        was_by_duration = self._list.is_by_duration
        if not self._list.go_on(_SLICE_SECONDS):
            if self._list.is_waiting:
                self.set_timer(_BETWEEN_SLICES, self._go_on)
            return
        if not self._list.filter and self._call_before is not None:
            self.chosen, self._call_before = self._call_before, None
        if self._list.is_by_duration and not was_by_duration:
            self.following = False
            self._settle()
            self.choose(0)
        else:
            self._settle()
            if not self.following:
                self.choose(self.cursor)
                self.following = False  # though it be the last row: the user has let go of the end

    def _settle(self, row: int | None = None, *, is_growth: bool = False, redraw: bool = True) -> None:
        """Put the cursor on a row, by default where the chosen call is now, and show what rows there are."""
        rows, call, before = self._list.rows, self.chosen, self.cursor
        if row is None and call is not None and not self.following:
            row = rows.row_of(call.number - 1, is_whole=self._is_on_open_fold)
            row = min(max(before, 0), len(rows) - 1) if row is None else row
        self.cursor = len(rows) - 1 if row is None else row
        if self.cursor >= 0:
            now = rows[self.cursor]
            self._is_on_open_fold = now.is_open
            if call is None or self.following or not now.first < call.number <= now.last + 1:
                self.chosen = self._list.call_at(self.cursor)
        if self.chosen is not None and self.chosen is not call:
            self.post_message(self.Chosen(self.chosen))
        if not is_growth or self._list.is_by_duration:
            self.count_when_let_go += len(rows) - self._count
        title = self._list.title(_TITLE)
        if title != self.title:  # a title that is set draws the whole pane anew
            self.title = title
            self.border_title = Content(title)
        self.show_lines(redraw=redraw)
        if self.scroll_offset.y > self.max_scroll_y:
            self.settle_at(self.max_scroll_y)
