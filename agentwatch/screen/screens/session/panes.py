"""The four panes of a session, updated together."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping
from functools import partial
from itertools import accumulate
from operator import itemgetter
from time import monotonic
from typing import ClassVar

from textual import events
from textual.binding import BindingType
from textual.content import Content
from textual.strip import Strip
from textual.widgets import Static

from agentwatch.analysis.status import NO_WAITS, Waits
from agentwatch.feed.feed import Feed
from agentwatch.screen.keys import bindings
from agentwatch.screen.panes.calls.list import NewFailures
from agentwatch.screen.panes.calls.pane import CallTable
from agentwatch.screen.panes.detail.pane import DetailView
from agentwatch.screen.panes.transcript.pane import Transcript
from agentwatch.screen.panes.transcript.viewport import same_call
from agentwatch.screen.terminal.themes import muted
from agentwatch.screen.widgets.line_view import CursorView, LineView, Posted
from agentwatch.session.call import Call
from agentwatch.session.session import Session
from agentwatch.text.safe import SafeText, columns, cut, safe_line, wrapped

# The pane of what the agent wrote to stderr.

_MOST_LINES = 5_000
_MOST_CHARACTERS = 5_000_000
_SHOWN = 1_000
"""The characters of a line that are shown; fewer fit into a row of a terminal."""


class StderrView(CursorView):
    """The first 5,000 lines of the agent's stderr, cut or wrapped. They have no times, so every moment shows
    all of them. The selected line is marked while the pane has the focus."""

    BINDINGS: ClassVar[list[BindingType]] = bindings("stderr")

    def __init__(self) -> None:
        super().__init__("4 stderr", id="stderr")
        self.set_reactive(StderrView.is_lit, False)
        self._lines: list[SafeText] = []
        self._characters = 0
        self._is_full = self._wraps = False
        self._rows: list[tuple[int, SafeText]] = []
        """The index of the line in each row, and the part of the line that the row shows."""

    def line_count(self) -> int:
        return len(self._rows)

    def draw_row(self, y: int, width: int) -> Strip:
        return self.strip_of([(cut(self._rows[y][1], width), "plain")])

    def add(self, lines: list[str]) -> None:
        first = len(self._lines)
        for line in lines:
            self._characters += len(line)
            if len(self._lines) < _MOST_LINES and self._characters <= _MOST_CHARACTERS:
                self._lines.append(safe_line(line))
            elif not self._is_full:
                self._is_full = True
                self._lines.append(SafeText("… the rest is in the .stderr file beside the recording"))
        self._lay_out(first)

    def take_over(self, preview: StderrView) -> None:
        """Show what the pane of a preview shows, which the source returns only once."""
        self._lines, self._characters = preview._lines, preview._characters
        self._is_full = preview._is_full
        self._lay_out()

    def copied(self) -> tuple[SafeText, SafeText]:
        """Return what `y` copies in words, and its text: all lines."""
        return SafeText("stderr" if self._lines else ""), SafeText("\n".join(self._lines))

    def choose(self, row: int) -> None:
        before, self.cursor = self.cursor, max(0, min(row, self.line_count() - 1))
        self.following = self.cursor == self.line_count() - 1
        self.refresh_line(before)
        self.refresh_line(self.cursor)
        self.bring_into_view(self.cursor)

    def at_end(self) -> bool:
        return super().at_end() and self.cursor >= self.line_count() - 1

    def on_focus(self) -> None:
        self.is_lit = True

    def on_blur(self) -> None:
        self.is_lit = False

    def on_resize(self) -> None:
        if self._wraps:
            self._lay_out()
        super().on_resize()

    def action_open(self) -> None:
        if self._rows:
            number = self._rows[self.cursor][0]
            line = self._lines[number]
            from agentwatch.screen.screens.session.dialogs import LinesDialog

            self.app.push_screen(
                LinesDialog(
                    f"stderr, line {number + 1:,}",
                    lambda width: ([(part, "plain")] for part in wrapped(line, max(width, 1))),
                )
            )

    def action_wrap(self) -> None:
        self._wraps = not self._wraps
        self._lay_out()
        self.bring_into_view(self.cursor)

    def _lay_out(self, first: int = 0) -> None:
        """Make the rows from a line on. The cursor stays on its line, or at the end that is followed."""
        width, chosen, before = self.scrollable_content_region.width - 1, 0, len(self._rows)
        if self._rows:
            chosen = self._rows[min(self.cursor, len(self._rows) - 1)][0]
        del self._rows[bisect_left(self._rows, first, key=itemgetter(0)) :]
        for number, line in enumerate(self._lines[first:], first):
            shown = wrapped(line, width) if self._wraps and width > 0 else [SafeText(line[:_SHOWN])]
            self._rows += [(number, part) for part in shown]
        if self.following:
            self.cursor = max(len(self._rows) - 1, 0)
        elif not first:
            self.count_when_unfollowed += len(self._rows) - before  # the same lines in other rows
            self.cursor = bisect_left(self._rows, chosen, key=itemgetter(0))
        self.show_lines()


_NEWEST_SECONDS = 0.004
_CALLS_SECONDS = 0.1
"""Seconds between two updates of calls and detail while lines arrive: a frame with a new call costs twice as
much as one with text. The transcript shows the line of the call at once."""
NAMES = ("transcript", "calls", "detail", "stderr")


class Panes:
    """Transcript, calls, detail and stderr, as attributes and by name. A preview's calls have no numbers."""

    def __init__(self, feed: Feed, *, is_preview: bool = False) -> None:
        self.has_numbers = not is_preview
        self.transcript = Transcript(feed.session)
        self.transcript.viewport.renderer.has_numbers = self.has_numbers
        self.calls = CallTable(feed, has_numbers=self.has_numbers)
        self.detail = DetailView(feed)
        self.stderr = StderrView()
        self.names: tuple[str, ...] = NAMES[:-1]
        """The panes that `tab` visits; stderr only while it is shown."""
        self.feed = feed
        self._waits: Waits = NO_WAITS
        self._synced_calls = (0, 0, 0)
        self._synced_at = 0.0
        """The time of the last update of calls and detail, by the monotonic clock."""

    @property
    def session(self) -> Session:
        return self.feed.session

    def show(self, feed: Feed) -> None:
        self.feed, session = feed, feed.session
        self._synced_calls = (len(session.calls), len(session.ended_calls), len(session.open_calls))
        self.transcript.show(session)
        self.calls.show(session)
        self.detail.show(feed)

    def follow(self, chosen: int | None) -> None:
        """Show the end of a moment to which the user has moved; select its last call or `chosen`."""
        self.transcript.action_bottom()
        with self.calls.prevent(CallTable.Picked):
            self.calls.follow_moment()
        if chosen is not None and chosen <= len(self.session.calls):
            self.calls.choose_call(self.session.calls[chosen - 1])

    def bring_chosen(self) -> None:
        """Bring the selected call into view in every pane, in a hidden one when it is shown. While the newest
        calls are followed, the panes follow their ends."""
        self.transcript.leave_thought()
        for pane in (self.transcript, self.calls):
            pane.once_shown(partial(self._bring_chosen, pane))

    def _bring_chosen(self, pane: Transcript | CallTable) -> None:
        chosen = self.calls.chosen
        if self.calls.following and not self.feed.is_over:
            LineView.action_bottom(pane)
            pane.show_lines()
        elif isinstance(pane, CallTable):
            pane.bring_into_view(pane.cursor)
        elif chosen is not None:
            pane.bring_call(chosen)

    def take_newest(self) -> None:
        """Prepare the panes for the newest moment, for some milliseconds, while an earlier one is shown."""
        self.transcript.viewport.take_newest(_NEWEST_SECONDS)
        if self.calls.newest is not self.calls.listed:
            self.calls.newest.take(_NEWEST_SECONDS)

    def named(self, name: str) -> LineView:
        return (self.transcript, self.calls, self.detail, self.stderr)[NAMES.index(name)]

    def take(self, width: int, seconds: float) -> bool:
        """Process a part of the session before the panes are shown; return whether all of it is processed."""
        width = max(width - self.transcript.times.columns, 1)
        return self.transcript.viewport.take(width, seconds) and self.calls.listed.take(seconds)

    def restore_from_preview(self, preview: Panes) -> None:
        """Show what the panes of a preview of the same session show, each line in the same row."""
        before, calls = preview.calls, self.calls
        call = None if before.chosen is None else same_call(self.session.calls, before.chosen)
        if call is not None and not before.following:
            with calls.prevent(CallTable.Picked):
                calls.choose_call(call)
            calls.following = False
            calls.settle_at(calls.cursor - before.cursor + before.scroll_offset.y)
        if preview.detail.is_raw:
            self.detail.toggle_raw()
        position = self.transcript.reader.same_position(preview.transcript.reader)
        if position is not None:
            self.transcript.restore(position)

    def sync(self, now_ms: int | None, *, is_streaming: bool = False) -> float:
        """Update the panes; while lines arrive (`is_streaming`), calls and detail ten times a second. Return
        the seconds until these two are due; 0 if they are up to date."""
        session = self.session
        calls = (len(session.calls), len(session.ended_calls), len(session.open_calls))
        are_calls_new = calls != self._synced_calls
        self.transcript.sync(are_calls_new=are_calls_new)
        is_running = self.detail.call is not None and self.detail.call.ended is None
        if are_calls_new or is_running:  # the output of a running call may grow
            wait = self._synced_at + _CALLS_SECONDS - monotonic() if is_streaming else 0.0
            if wait > 0:
                return wait
            self._synced_calls, self._synced_at = calls, monotonic()
            if are_calls_new:
                self.calls.sync(now_ms)
            self.detail.sync()
        return 0.0

    def tick(self, now_ms: int | None, waits: Waits) -> None:
        if waits != self._waits:
            self._waits = waits
            for pane in (self.transcript, self.calls, self.detail):
                pane.show_waits(waits)
        self.calls.tick(now_ms)
        self.detail.tick(now_ms)

    def mark_calls(self, pinned: Call | None) -> None:
        """Mark the call that is selected in the calls pane in all panes, and the `pinned` failure."""
        chosen = self.calls.chosen
        self.transcript.mark_calls(chosen, pinned)
        self.calls.pinned = pinned

    def light_calls(self, has_thought: bool) -> None:
        self.calls.is_lit = not has_thought

    def copied(self, name: str) -> tuple[SafeText, SafeText]:
        """Return what `y` copies in a pane, in a few words, and the copied text. The text has no newline at
        its end: with one, a shell would run it as soon as it is pasted."""
        panes = (self.transcript, self.calls, self.detail, self.stderr)
        what, text = panes[NAMES.index(name)].copied()
        return what, SafeText(text.rstrip("\n"))


# The tab line: the titles of the panes, on screens that are too narrow for more than one pane.


class TabLine(Static):
    """The titles of tabs; a click opens one. In little space only the open one shows more than its number."""

    class Clicked(Posted):
        name: str

    _titles: Mapping[str, str] = {}
    _shown = ""
    _drawn: tuple[str, ...] = ()

    def show(self, titles: Mapping[str, str], shown: str) -> None:
        self._titles, self._shown = titles, shown
        if columns(SafeText("".join(titles.values()))) > self.size.width:
            titles = {name: title if name == shown else title[:2] for name, title in titles.items()}
        dim = muted(self.app.current_theme)
        drawn = (shown, dim, *titles.values())
        if drawn == self._drawn:
            return
        self._drawn = drawn
        styled = ((title, "$text-accent bold" if name == shown else dim) for name, title in titles.items())
        self.update(Content.assemble(*styled), layout=False)

    def on_resize(self) -> None:
        self.show(self._titles, self._shown)

    def on_click(self, event: events.Click) -> None:
        ends = accumulate(columns(SafeText(title)) for title in self._drawn[2:])
        for name, end in zip(self._titles, ends, strict=True):
            if event.x < end:
                self.post_message(self.Clicked(name))
                return


class PaneTabs(TabLine):
    def __init__(self, panes: Panes) -> None:
        super().__init__(id="tabs")
        self._panes = panes

    def on_mount(self) -> None:
        self.watch(self._panes.calls, "title", lambda: self.highlight(self._shown), init=False)

    def highlight(self, shown: str) -> None:
        panes = {name: self._panes.named(name) for name in self._panes.names}
        self.show({name: f" {pane.tab_title or pane.border_title}" for name, pane in panes.items()}, shown)


# The selected call, which all panes mark, and a failure that the detail shows in its place.


class Selection:
    """Decides which call the detail shows. This is the selected call. While the newest calls are followed, a
    failed call stays until the user selects another call or releases it."""

    def __init__(self, feed: Feed, panes: Panes) -> None:
        self._panes = panes
        self._failures = NewFailures(feed, feed.reader.growth.size())
        self._pinned: Call | None = None

    def show(self, feed: Feed) -> None:
        self._failures = NewFailures(feed, feed.offset)
        self._pinned = None
        chosen = self._panes.calls.chosen
        if chosen is not None:
            self._panes.detail.show_call(chosen)
        self._panes.mark_calls(None)

    def go_on(self, feed: Feed) -> None:
        """Show a later moment of the same session during play. A failure before this moment stays pinned."""
        self._failures.go_on(feed)
        pinned, calls = self._pinned, feed.session.calls
        if pinned is not None:
            call = calls[pinned.number - 1] if pinned.number <= len(calls) else None
            self._pinned = None if call is None or call.ended is None else call
        shown = self._pinned or self._panes.calls.chosen
        if shown is not None:
            self._panes.detail.show_call(shown)
        self._panes.mark_calls(self._pinned)

    def sync(self) -> None:
        calls, detail = self._panes.calls, self._panes.detail
        failure = self._failures.newest()
        if failure is not None and calls.following:
            self._pinned = failure
            detail.show_call(failure)
        if self._pinned is not None and self._pinned is detail.call:
            detail.show_call(self._pinned, is_pinned=self._pinned is not calls.chosen)
        self._panes.mark_calls(self._pinned)

    def follow(self, call: Call) -> None:
        """Show the detail of a call that was selected, unless calls are followed and a failure is pinned."""
        if self._pinned is None or not self._panes.calls.following:
            self._pinned = None
            self._panes.detail.show_call(call)
        self._panes.mark_calls(self._pinned)

    def release(self) -> bool:
        """Show the selected call in the detail instead of a failure; return whether there was a failure."""
        pinned, self._pinned = self._pinned, None
        if pinned is None:
            return False
        if self._panes.calls.chosen is not None:
            self._panes.detail.show_call(self._panes.calls.chosen)
        self._panes.mark_calls(None)
        return pinned is not self._panes.calls.chosen

    def step(self, step: int) -> None:
        """Select the call after (1) or before (-1) the one that the detail shows; folds open."""
        calls, shown = self._panes.calls, self._panes.detail.call
        self._pinned = None
        if shown is not None:
            calls.choose_call(shown)
        calls.choose_beside(step)
        if calls.chosen is not None:
            self._panes.detail.show_call(calls.chosen)
        self._panes.mark_calls(None)
