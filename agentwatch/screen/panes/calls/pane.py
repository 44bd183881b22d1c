"""The calls pane: its rows are drawn from the current state of the calls."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.binding import BindingType
from textual.content import Content
from textual.message import Message
from textual.reactive import reactive, var
from textual.strip import Strip

from agentwatch.analysis.status import Waits
from agentwatch.feed.feed import Feed
from agentwatch.rules.calls.facts import CallFacts
from agentwatch.screen.keys import bindings
from agentwatch.screen.panes.calls.cells import Scales, VerdictCache
from agentwatch.screen.panes.calls.list import CallList
from agentwatch.screen.panes.calls.renderer import CallRenderer
from agentwatch.screen.widgets.line_view import HeadedView, PaneWanted, Spans, rows_in_view
from agentwatch.session.actions import action
from agentwatch.session.call import Call
from agentwatch.session.events import Outcome
from agentwatch.session.session import Session
from agentwatch.text.safe import SafeText

if TYPE_CHECKING:
    from agentwatch.rules.language.errors import RuleError


_TITLE = "2 Calls"
_SLICE_SECONDS = 0.008
_RANK_SECONDS = 0.2
"""The time for which calls are read at most when the user goes to a failure: 60,000 calls."""
_BETWEEN_SLICES = 0.001
"""Seconds between two slices, so that keys are handled in between."""


class CallTable(HeadedView):
    """The calls, filtered and folded; the detail pane shows the selected call. With `has_numbers`, the
    numbers of the calls are those of the whole recording, and are shown."""

    title = var(SafeText(_TITLE))
    """The border title: the order, and the number of calls that the filter hides."""

    class Chosen(Message):
        """Posted when another call is selected; the pane names it, because it may change before the message
        arrives.
        """

    class Asked(Message):
        """Posted when a row is selected, also the same one again: every pane brings its call into view."""

        def __init__(self, call: Call) -> None:
            super().__init__()
            self.call = call

    BINDINGS: ClassVar[list[BindingType]] = bindings("calls")

    cursor = var(-1)
    """The row of the selected call; -1 while there is none."""
    held: reactive[Call | None] = reactive(None)
    """The failed call whose detail stays open."""

    def __init__(self, feed: Feed, *, has_numbers: bool = True) -> None:
        super().__init__(_TITLE, id="calls")
        facts = CallFacts(feed)
        self.newest = self.listed = CallList(feed.session, facts)
        """The list of the newest moment, and the list that is shown."""
        self.verdicts = VerdictCache(feed, self, self.painter.refresh)
        self._renderer = CallRenderer(self, self.listed, self.verdicts, has_numbers=has_numbers)
        self._scales: Scales = {}
        self._is_on_open_fold = False
        self._call_before: int | None = None
        """The number of the call that was selected before the calls were filtered. It is selected again while
        it matches, and when the filter is cleared, unless the user selects another call.
        """
        self._put: int | None = None
        """The number of the call that was selected when the filter last changed."""
        self._kept: int | None = None
        """The number of the call that was selected at the live moment; None if the newest was followed."""
        self._absent = 0
        """The number of the selected call while it does not exist at the moment that is shown."""
        self.now_ms: int | None = None
        self.chosen: Call | None = None
        """The selected call."""

    def line_count(self) -> int:
        """Return the number of rows."""
        return len(self.listed.rows)

    def show(self, session: Session) -> None:
        """Show another moment of the same session, with the same filter and order."""
        newest, shown = self.newest, self.listed
        is_newest = newest.shows(session)
        if shown is newest and not is_newest:
            self._kept = self.chosen.number if self.chosen is not None and not self.following else None
        if newest is not shown and (shown.requested_filter, shown.is_by_duration) != newest.requested:
            newest.request(shown.requested_filter, by_duration=shown.is_by_duration)
            newest.build(None)
        if is_newest:
            newest.sync()
        self.listed = newest if is_newest else newest.at(session)
        self._renderer.show(self.listed)
        number = self._absent or (0 if self.chosen is None else self.chosen.number)
        self._absent = number if number > self.listed.count and not self.following else 0
        self.chosen = self.listed.call(min(number, self.listed.count))
        if not self.listed.rows:
            self.cursor = -1
        self._settle()

    def follow_moment(self) -> None:
        """Follow the end; at the live moment, select again what was selected when it was left."""
        number, listed = self._kept, self.listed
        if listed is not self.newest or number is None or listed.rows.row_of(number - 1) is None:
            self.action_bottom()
            return
        self.following, self._absent = False, 0
        self._settle(listed.rows.row_of(number - 1, is_whole=self._is_on_open_fold))
        self.bring_into_view(self.cursor)

    def sync(self, now_ms: int | None) -> None:
        """Process new and changed calls; running clocks show the time at `now_ms`."""
        self.now_ms = now_ms
        top, rows = self.scroll_offset.y, self.listed.rows
        anchor = rows[top] if 0 < top < len(rows) and not self.following else None
        later = self.listed.call(self._absent)
        if later is not None:
            self.chosen, self._absent = later, 0
        if self.listed.sync() or later or (self.chosen is None and rows):  # `take` leaves nothing new
            self._settle(is_growth=True)
            row = None if anchor is None else rows.row_of(anchor.first, is_whole=anchor.is_open)
            if row is not None and row != top:
                self.settle_at(row)

    def tick(self, now_ms: int | None) -> None:
        """Redraw the rows of running calls, and all rows if the scale of the time strip changed."""
        self.now_ms = now_ms
        running = [row for row in rows_in_view(self) if self.listed.call_at(row).outcome is Outcome.RUNNING]
        for row in running:
            self.refresh_line(row)
        if running and (scales := self._renderer.scales(now_ms)) != self._scales:
            self._scales = scales
            self.refresh()

    def show_waits(self, waits: Waits) -> None:
        """Show which calls wait for the user."""
        self._renderer.waits = waits
        self.refresh()

    def heading(self, width: int) -> Spans:
        """Return the heading of the columns."""
        return self._renderer.heading(width, self.now_ms)

    def is_held(self, y: int) -> bool:
        """Return whether a row contains the failed call whose detail stays open."""
        row, held = self.listed.rows[y], self.held
        return held is not None and row.first < held.number <= row.last + 1

    def draw_row(self, y: int, width: int) -> Strip:
        """Return one row; a running clock shows the current time."""
        return self._renderer.render(y, width, self.now_ms)

    def copied(self) -> tuple[SafeText, SafeText]:
        """Return what `y` copies in words, and its text: the selected call as an action."""
        if self.chosen is None:
            return SafeText(""), SafeText("")
        return SafeText(f"#{self.chosen.number}"), action(self.chosen)

    def choose(self, row: int) -> None:
        """Move the cursor to a row; selecting the newest call starts following."""
        count = self.line_count()
        if not count:
            return
        row = max(0, min(row, count - 1))
        self.following = row == count - 1 and not self.listed.is_by_duration
        self._absent = 0
        before, are_rows_new = self.cursor, count != self._count
        self._settle(row, redraw=are_rows_new)
        if not are_rows_new:
            self.refresh_line(before)
            self.refresh_line(row)
        self.bring_into_view(row)
        if self.chosen is not None:
            self.post_message(self.Asked(self.chosen))

    def choose_call(self, call: Call) -> None:
        """Select a call; if the filter or a fold hides it, remove the filter or open the fold."""
        rows, index = self.listed.rows, call.number - 1
        if rows.row_of(index) is None:
            self.listed.request("", by_duration=self.listed.is_by_duration)
            self.listed.build(None)
            rows = self.listed.rows
        row = rows.row_of(index)
        if row is not None and rows.toggle(row):
            row = rows.row_of(index)
        if row is not None:
            self._settle()
            self.choose(row)

    def choose_beside(self, step: int) -> None:
        """Select the call in the next (1) or previous (-1) row; a fold opens, so that no call is skipped."""
        rows, row = self.listed.rows, self.cursor + step
        while 0 <= row < len(rows):
            fold = rows[row]
            if fold.is_fold and not fold.is_open:
                rows.toggle(row)
                row += 1 if step > 0 else fold.last - fold.first + 1
            elif fold.is_open:
                row += step
                continue
            self._settle()
            self.choose(row)
            return

    def choose_failure(self, step: int) -> SafeText:
        """Select the next (1) or previous (-1) failure; those that matter most come first.

        Unless a failure is selected, it is the first one in this order after the selected call, or the last
        one before it; while the newest call is followed, the first or the last of all. Return which failure
        it is, and what became of it: `failure 2 of 12 · fixed by #31`.
        """
        calls = self.listed
        ranked, among = calls.ranked_failures(_RANK_SECONDS), " shown" if calls.requested_filter else ""
        if not ranked:
            return SafeText(f"no failure{among}")
        numbers = [each.number for each in ranked]
        chosen = 0 if self.chosen is None else self.chosen.number
        at = 0 if step > 0 else len(ranked) - 1
        if chosen in numbers and not self.following:
            at = (numbers.index(chosen) + step) % len(ranked)
        elif not self.following:
            ahead = [n for n, number in enumerate(numbers) if (number - chosen) * step > 0]
            at = ahead[at and -1] if ahead else at
        number = numbers[at]
        row = calls.rows.row_of(number - 1)
        if row is not None and calls.rows[row].last == number - 1:
            self.choose(row)  # the last call of a fold, which stays folded
        elif (call := calls.call(number)) is not None:
            self.choose_call(call)
        self.following = False  # even on the last row: the failure stays selected
        failed = set(calls.failures())
        name = f"#{number}"
        if number in failed:
            name = f"failure {sum(each in failed for each in numbers[: at + 1])} of {len(failed)}{among}"
        return SafeText(f"{name} · {ranked[at].words}")

    def at_end(self) -> bool:
        """Return whether the last row is visible and selected; by duration, always False."""
        is_last = self.cursor == self.line_count() - 1
        return super().at_end() and is_last and not self.listed.is_by_duration

    async def action_open(self) -> None:
        """Open or fold a row of several calls; on a single call, go to the detail pane."""
        if 0 <= self.cursor < self.line_count() and self.listed.rows.toggle(self.cursor):
            self.choose(self.cursor)
        else:
            self.post_message(PaneWanted("detail"))

    def action_slowest(self) -> None:
        """Toggle between the slowest calls first and the order by time."""
        self.listed.request(by_duration=not self.listed.is_by_duration)
        self._build_rows()

    def filter_by(self, words: str) -> RuleError | None:
        """Show only the calls that match `words`; if empty, show all and restore the earlier selection.
        Return what is wrong with the words; those before the mistake select the calls then."""
        if words and not self.listed.requested_filter:
            self._call_before = None if self.following or self.chosen is None else self.chosen.number
            self._put = self._call_before
        problem = self.listed.request(words)
        self._build_rows()
        return problem

    def _build_rows(self) -> None:
        """Build the requested rows one time slice at a time, and show them when they are complete."""
        was_by_duration = self.listed.is_by_duration
        if not self.listed.build(_SLICE_SECONDS):
            if self.listed.is_waiting:
                self.set_timer(_BETWEEN_SLICES, self._build_rows)
            return
        self._choose_again()
        if self.listed.is_by_duration and not was_by_duration:
            self.following = False
            self._settle()
            self.choose(0)
        else:
            self._settle()
            if not self.following:
                self.choose(self.cursor)
                self.following = False  # even on the last row, because the user had stopped following
        self._put = None if self.chosen is None else self.chosen.number

    def _choose_again(self) -> None:
        """Select the call from before the filter, if the rows have it and the user selected no other one."""
        before, chosen = self._call_before, self.chosen
        if before is not None and chosen is not None and chosen.number == self._put:
            is_shown = not self.listed.filter or self.listed.rows.row_of(before - 1) is not None
            self.chosen = (self.listed.call(before) if is_shown else None) or chosen
        if not self.listed.filter:
            self._call_before = None

    def _settle(self, row: int | None = None, *, is_growth: bool = False, redraw: bool = True) -> None:
        """Put the cursor on a row (by default, on the row of the selected call) and show the current rows."""
        rows, call, before = self.listed.rows, self.chosen, self.cursor
        if row is None and call is not None and not self.following:
            row = rows.row_of(call.number - 1, is_whole=self._is_on_open_fold)
            row = min(max(before, 0), len(rows) - 1) if row is None else row
        self.cursor = len(rows) - 1 if row is None else row
        if self.cursor >= 0:
            now = rows[self.cursor]
            self._is_on_open_fold = now.is_open
            if call is None or self.following or not now.first < call.number <= now.last + 1:
                self.chosen = self.listed.call_at(self.cursor)
        if self.chosen is not None and self.chosen is not call:
            self.post_message(self.Chosen())
        if not is_growth or self.listed.is_by_duration:
            self.count_when_unfollowed += len(rows) - self._count
        title = self.listed.title(_TITLE)
        if title != self.title:  # setting the title redraws the whole pane
            self.border_title = Content(title)
            self.title = title
        self.show_lines(redraw=redraw)
        if self.scroll_offset.y > self.max_scroll_y:
            self.settle_at(self.max_scroll_y)


# Detects calls that fail while the session is watched.


class NewFailures:
    """Finds failures among the calls that end after a moment."""

    def __init__(self, feed: Feed, moment: int) -> None:
        """Watch the session of a feed from a moment on: a number of bytes of the recording."""
        self._session = feed.session
        self._history = moment
        self._ended = 0

    def go_on(self, feed: Feed) -> None:
        """Watch a feed at another moment of the same session; what comes after it is new."""
        self._session, self._history = feed.session, min(self._history, feed.offset)

    def newest(self) -> Call | None:
        """Return the last call that failed since the previous check; None if no call failed."""
        ended = self._session.ended_calls
        first, self._ended = self._ended, len(ended)
        for index in range(len(ended) - 1, first - 1, -1):
            call = ended[index]
            if call.ended is not None and call.ended.offset < self._history:
                break
            if call.outcome is Outcome.FAILED:
                return call
        return None
