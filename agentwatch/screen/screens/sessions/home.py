"""Home: the list of sessions with the lines above and below it, and the keys that work in all of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical
from textual.widget import Widget

from agentwatch.agents.found import Key
from agentwatch.catalog.limits import NewestLimits, forms, is_scarce
from agentwatch.catalog.listing import Listing, Request, Sort
from agentwatch.catalog.row_counts import Counts
from agentwatch.catalog.row_filter import row_filter_offers
from agentwatch.recording.remembered import remember, remembered
from agentwatch.rules.language.completion import Offer
from agentwatch.screen.keys import bindings, shortcuts
from agentwatch.screen.panes.key_hints import KeyHints
from agentwatch.screen.screens.sessions.bars import (
    HomeBars,
    HomeHeader,
    HomeNotes,
    WordsBar,
    words_for_nothing,
)
from agentwatch.screen.screens.sessions.cells import NAMES
from agentwatch.screen.screens.sessions.list import SessionList
from agentwatch.screen.screens.sessions.requests import Chosen, ContentsWanted, Marked, Requested
from agentwatch.screen.terminal.keymap import bound_keys, key_label
from agentwatch.text.safe import SafeText

_SORT, _COLUMNS = "sort", "columns"
_OF_MARKED = ("delete-session", "archive-session", "export")
"""The bindings that act on the marked sessions."""


class Home(Vertical):
    """Header, list, bars and key hints; a widget beside the list, such as a preview, is optional. `rebound`
    has the user's own key bindings, by binding id. `beside` is None for nothing. `columns`, those of the
    settings, are empty for those that fit; what the user has chosen on the screen since counts before."""

    BINDINGS: ClassVar[list[BindingType]] = bindings("home")

    def __init__(
        self, rebound: Mapping[str, str], beside: Widget | None = None, columns: Sequence[str] = ()
    ) -> None:
        super().__init__(id="home")
        sort = remembered(_SORT, str) or ""
        self.request = Request(sort=Sort(sort) if sort in [*Sort] else Sort.STATE)
        """What the list shows, and in which order."""
        self.header = HomeHeader()
        self.notes = HomeNotes()
        self.sessions = SessionList()
        chosen = tuple((remembered(_COLUMNS, str) or "").split())
        self.sessions.show_columns(chosen or columns)
        self.bars = HomeBars(self._offers)
        self._beside = beside
        self._pane = "home"
        """The name by which the key line finds the keys that work."""
        self._hints = KeyHints(rebound, lambda: self._pane)
        keys = bound_keys(rebound)
        self._key = key_label(keys["show-hidden"][0])
        labels = {each.id: each.label for each in shortcuts()}
        does = (f"{key_label(keys[name][0])} {labels[name]}" for name in _OF_MARKED)
        self._marked_keys = " · ".join((*does, "esc None"))
        self._listing = Listing()
        self._counts = Counts()
        self.limits = NewestLimits()
        """The usage limits of the agents."""
        self._now_ms = 0
        self._is_complete = self._is_settled = False
        self._answerable: frozenset[Key] = frozenset()
        self._is_known = True

    def compose(self) -> ComposeResult:
        """Lay out the parts from top to bottom."""
        yield self.header
        yield self.notes
        yield Horizontal(self.sessions, *([self._beside] if self._beside else []), id="home-body")
        yield self.bars
        yield self._hints

    def on_mount(self) -> None:
        """Focus the list."""
        self.sessions.focus()

    def show(
        self,
        listing: Listing,
        counts: Counts,
        now_ms: int,
        notes: Sequence[SafeText] = (),
        *,
        is_complete: bool = True,
        is_settled: bool = True,
        is_known: bool = True,
    ) -> None:
        """Show a list and its counts; draw only what differs. `notes` are to be known besides the sessions, a
        line each. `is_complete` says whether every place was searched for sessions. `is_settled` says whether
        every session that was found was read too."""
        self.notes.show(notes)
        if listing is not self._listing:
            listing.request(self.request)
        self._listing, self._counts, self._now_ms = listing, counts, now_ms
        self._is_complete, self._is_settled, self._is_known = is_complete, is_settled, is_known
        self._show()

    def tick(self, now_ms: int) -> None:
        """Draw the clocks in view that show something else at `now_ms`, in ms since the epoch."""
        self._now_ms = now_ms
        self._show_limits()
        self.sessions.tick(now_ms)

    def ask(self, request: Request) -> None:
        """Show other sessions, or another order."""
        if request != self.request:
            has_words = bool(request.search or request.filter)
            if has_words:
                self.sessions.keep_chosen(is_kept=True)
            self.request = request
            self._listing.request(request)
            self._show()
            if not has_words:
                self.sessions.keep_chosen(is_kept=False)
            self.post_message(Requested(request))

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Clear with esc only if there is a search, a filter or a mark. Otherwise the screen handles esc."""
        if action == "clear":
            return bool(self.request.search or self.request.filter or self.sessions.marked)
        return super().check_action(action, parameters)

    def action_bar(self, name: str) -> None:
        """Open the bar `find` or `filter` with its current words."""
        self.bars.open(name, self.request.search if name == "find" else self.request.filter)
        self._show_request()

    def action_clear(self) -> None:
        """Remove the marks; if there are none, clear the search and the filter."""
        if self.sessions.marked:
            self.sessions.unmark()
            return
        self.ask(self.request._replace(search="", filter=""))

    def action_sort(self) -> None:
        """Sort by the next of state, age and repository, and remember it."""
        sorts = [*Sort]
        sort = sorts[(sorts.index(self.request.sort) + 1) % len(sorts)]
        self.ask(self.request._replace(sort=sort))
        remember(_SORT, str(sort), self.notify)

    def toggle_column(self, name: str) -> None:
        """Show or hide a column, and remember it."""
        shown = {*self.sessions.columns} ^ {name}
        chosen = [each for each in NAMES if each in shown] or ["title"]
        self.sessions.show_columns(tuple(chosen))
        remember(_COLUMNS, " ".join(chosen), self.notify)

    def reset_columns(self) -> None:
        """Show the columns that fit, and forget those that were chosen."""
        self.sessions.show_columns(())
        remember(_COLUMNS, None, self.notify)

    def action_hidden(self) -> None:
        """Show or hide the hidden sessions."""
        self.ask(self.request._replace(shows_hidden=not self.request.shows_hidden))

    @on(WordsBar.Typed)
    def _typed(self, event: WordsBar.Typed) -> None:
        event.stop()
        asked, words = self.request, event.words
        is_search = event.bar is self.bars.find
        self.ask(asked._replace(search=words) if is_search else asked._replace(filter=words))

    @on(WordsBar.Left)
    def _left(self, event: WordsBar.Left) -> None:
        event.stop()
        self.sessions.focus()
        self._show_request()
        if event.is_entered and event.bar is self.bars.find and event.words.split():
            self.post_message(ContentsWanted(event.words))

    def _offers(self, text: str) -> list[Offer]:
        return row_filter_offers(text, self._listing.rows.values())

    def _show(self) -> None:
        request, counts = self.request, self._counts
        words = words_for_nothing(
            request, counts.hidden, self._key, is_complete=self._is_complete, has_notes=self.notes.display
        )
        key = "" if request.shows_hidden else self._key
        self.header.show(counts, key, is_known=self._is_known)
        self._show_limits()
        sessions = self.sessions
        sessions.offers_demo = self._is_complete and not (self._listing.rows or self.notes.display)
        sessions.show(self._listing, self._now_ms, words, is_settled=self._is_settled)
        self._show_keys()
        self._show_request()

    def offer_answers(self, keys: frozenset[Key]) -> None:
        """Name the key that answers while one of these sessions is selected."""
        self._answerable = keys
        self._show_keys()

    @on(Chosen)
    def _show_keys(self) -> None:
        sessions = self.sessions
        pane = "home" if self._listing.lines else "home-unseen" if self._listing.rows else "home-empty"
        if pane == "home" and sessions.chosen is not None and sessions.chosen.key in self._answerable:
            pane = "home-asks"
        pane = "home-demo" if sessions.offers_demo else pane
        if pane != self._pane:
            self._pane = pane
            self._hints.show_pane()

    def _show_limits(self) -> None:
        shown = self.limits.shown(self._now_ms)
        self.header.show_limits(forms(shown, self._now_ms), is_scarce=is_scarce(shown))

    @on(Marked)
    def _show_request(self) -> None:
        marked = len(self.sessions.marked)
        words = f"{marked:,} marked · {self._marked_keys}" if marked else ""
        total = len(self._listing.rows)
        hidden = 0 if self.request.search.split() else self._listing.hidden_count
        self.bars.show(self.request, total - self._listing.filtered_count, total, hidden, words)
