"""The find bar at the bottom: the input, the incremental search, the position of the current match."""

from __future__ import annotations

from typing import ClassVar, NamedTuple

from textual import on
from textual.binding import BindingType
from textual.timer import Timer
from textual.widgets import Input

from agentwatch.analysis.search import Match, Search
from agentwatch.feed.feed import Feed
from agentwatch.screen.keys import bindings
from agentwatch.screen.panes.calls.pane import CallTable
from agentwatch.screen.panes.detail.pane import BlockMatch
from agentwatch.screen.panes.moment import Reach
from agentwatch.screen.panes.transcript.viewport import ReadingPosition
from agentwatch.screen.screens.session.panes import Panes
from agentwatch.screen.widgets.input_bar import InputBar
from agentwatch.screen.widgets.line_view import PaneWanted, Posted
from agentwatch.session.call import Call
from agentwatch.text.safe import SafeText

_SLICE_SECONDS = 0.012
_LEAST_FOR_TIME = 40
"""The least width of the note for the time of a match; in less, only the status line shows it."""
_EVERY_SECONDS = 0.016
"""The pause between two slices of the search, in which keys are handled."""


class ViewState(NamedTuple):
    pane: str
    transcript: ReadingPosition
    call: Call | None
    calls_follow: bool
    calls_top: int
    detail_top: int


def view_state(panes: Panes, pane: str) -> ViewState:
    return ViewState(
        pane,
        panes.transcript.reader.position(),
        panes.calls.chosen,
        panes.calls.following,
        panes.calls.scroll_offset.y,
        panes.detail.scroll_offset.y,
    )


def restore(panes: Panes, before: ViewState) -> None:
    panes.transcript.restore(before.transcript)
    if before.calls_follow:
        with panes.calls.prevent(CallTable.Picked):
            panes.calls.action_bottom()
    elif before.call is not None:
        if before.call is not panes.calls.chosen:
            with panes.calls.prevent(CallTable.Picked):
                panes.calls.choose_call(before.call)
        panes.calls.following = False
        panes.calls.settle_at(before.calls_top)
    if panes.calls.chosen is not None:
        panes.detail.show_call(panes.calls.chosen)
        panes.detail.settle_at(before.detail_top)


class FindBar(InputBar):
    """Searches while the user types, and shows the current match. The counts of a preview are incomplete."""

    class Shown(Posted):
        """Posted when the panes show another match, or the place where the search began."""

        pane: str

    BINDINGS: ClassVar[list[BindingType]] = bindings("find bar")

    def __init__(self, feed: Feed, panes: Panes, *, is_preview: bool = False) -> None:
        super().__init__("Find", "text, targets, arguments, results", id="find")
        self._is_preview = is_preview
        self._feed = feed
        self._panes = panes
        self.reach: Reach | None = None
        self._search: Search | None = None
        self._match: Match | None = None
        self._pending = 0
        self._wrapped = ""
        self._last = ""
        self._begin = (0, 0)
        self._origin: ViewState | None = None
        self._pane = "transcript"

    def on_mount(self) -> None:
        self._timer: Timer = self.set_interval(_EVERY_SECONDS, self._slice, pause=True)

    def open(self, pane: str) -> None:
        self._start_from(pane)
        self._origin = view_state(self._panes, pane)
        self._end_search()
        self.show_text("", takes_keys=True)
        self._show_count()

    def resume(self, before: FindBar, pane: str) -> None:
        self._last = before._last
        if before.styles.display == "none":
            return
        self.show_text(before.input.value, takes_keys=before.input.can_focus)

        def show() -> None:
            self._start_from(pane)
            self._origin = view_state(self._panes, pane)
            if self.input.value.split():
                self._search_for(self.input.value)

        self.call_after_refresh(show)

    def close(self) -> bool:
        """Hide the bar and remove the highlights, without moving; return whether the bar was visible."""
        was_there = bool(self.display)
        self._end_search()
        self.display = False
        return was_there

    def sync(self) -> None:
        if self._search is not None and self._search.is_complete:
            self._slice()

    def step(self, direction: int, pane: str) -> bool:
        """Go to the next (1) or previous (-1) match; return whether there is a current or earlier search."""
        if self._search is None:
            if not self._last:
                return False
            self._start_from(pane)
            self.show_text(self._last, takes_keys=False)
            self._search_for(self._last)
        else:
            self.action_step(direction)
        return True

    def look_for(self, text: str, pane: str) -> None:
        self._end_search()
        self._last = text
        self.step(1, pane)

    def action_step(self, direction: int) -> None:
        if self._search is not None and self._match is not None:
            self._pending = direction
            self._resolve()
            self._show_count()

    def action_cancel(self) -> None:
        """Close the bar and restore the view from before the search."""
        self.close()
        if self._origin is not None:
            self._restore(self._origin)
            self.post_message(PaneWanted(self._origin.pane))

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        event.stop()
        if event.value.split():
            self._search_for(event.value)
            return
        self._end_search()
        if self._origin is not None:
            self._restore(self._origin)
            self.post_message(self.Shown(self._origin.pane))
        self._show_count()

    @on(Input.Submitted)
    def _entered(self, event: Input.Submitted) -> None:
        event.stop()
        if not event.value.split():
            if not self._last:
                self.action_cancel()
                return
            self.show_text(self._last, takes_keys=True)
            self._search_for(self._last)
        self._last = self.input.value
        self.input.can_focus = False
        self.post_message(PaneWanted(self._pane))

    def _start_from(self, pane: str) -> None:
        self._pane = pane
        if self.reach is not None and not self._is_preview:
            self.reach.begin()
        transcript, chosen = self._panes.transcript, self._panes.calls.chosen
        is_at_call = pane in ("calls", "detail") and chosen is not None
        self._begin = (
            (transcript.viewport.blocks.entry_of_call(chosen.number) or 0, 0)
            if is_at_call and chosen
            else transcript.reader.top_entry()
        )

    def _search_for(self, text: str) -> None:
        self._search = Search(self._feed, text, *self._begin)
        self._match, self._pending, self._wrapped = None, 0, ""
        self._panes.transcript.mark(self._search.query)
        self._timer.resume()
        self._slice()

    def _slice(self) -> None:
        search = self._search
        if search is None:
            self._timer.pause()
            return
        search.advance(_SLICE_SECONDS)
        if self._match is None and (first := search.first()) is not None:
            self._go_to(first)
        self._resolve()
        if search.is_complete:
            self._timer.pause()
        else:
            self._timer.resume()
        self._show_count()

    def _resolve(self) -> None:
        """Take the pending step once the search knows the match that it leads to."""
        search, match = self._search, self._match
        if not self._pending or search is None or match is None:
            return
        following = search.step(match, self._pending)
        if following is None:
            self._timer.resume()
            return
        is_later = following > match
        self._wrapped = ""
        if following == match or is_later != (self._pending > 0):
            self._wrapped = "wrapped to the start" if self._pending > 0 else "wrapped to the end"
        self._pending = 0
        self._go_to(following)

    def _go_to(self, match: Match) -> None:
        """Show a match: at a moment that has it, scroll to it, and select its call if it is in one."""
        search, panes = self._search, self._panes
        if search is None:
            return
        self._match = match
        if self.reach is not None and not self._is_preview:
            self.reach.show(search, match, returns=self.input.can_focus)
        call = search.call(match)
        if call is None:
            panes.transcript.reveal_text(search.query, match.entry, match.start)
        else:
            call = panes.session.calls[call.number - 1]  # as it was at the moment that is shown
            panes.transcript.mark(search.query)
            panes.transcript.reveal_call(call)
            panes.calls.choose_call(call)
            panes.detail.show_call(call)
        panes.detail.mark(
            search.query, BlockMatch(call, *search.block(match)) if call and match.side else None
        )
        self._pane = "transcript" if call is None else "detail" if match.side else "calls"
        self.post_message(self.Shown(self._pane))

    def _restore(self, origin: ViewState) -> None:
        if self.reach is not None:
            self.reach.back()
        restore(self._panes, origin)

    def _end_search(self) -> None:
        self._search = self._match = None
        self._pending, self._wrapped = 0, ""
        self._panes.transcript.mark(None)
        self._panes.detail.mark(None)

    def _show_count(self) -> None:
        search, match = self._search, self._match
        moved = "" if self.reach is None else self.reach.words()
        moved = moved if self.note_width >= _LEAST_FOR_TIME else moved and "moved on"
        after = "searching …" if self._pending else " · ".join(filter(None, (self._wrapped, moved)))
        words = SafeText("")
        if search is not None:
            words = _position(search, match, after, self.note_width, is_preview=self._is_preview)
        self.show_note(words)


def _position(search: Search, match: Match | None, after: str, width: int, *, is_preview: bool) -> SafeText:
    """Return the number of matches and the position of the current one: `3 of 41 · call 12 …`."""
    is_open = is_preview or not search.is_complete
    if match is None:
        return SafeText("searching …" if is_open else "not found")
    found = f"{len(search.found):,}{'+' if search.is_full else '…' if is_open else ''}"
    number = None if is_preview else search.number(match)
    count = f"{found} found" if number is None else f"{number:,} of {found}"
    room = width - len(count) - len(after) - 3 * (1 + bool(after))
    return SafeText(" · ".join(filter(None, (count, search.place(match, room), after))))
