"""Home: the list of sessions with the lines above and below it, and the keys that work in all of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar, NamedTuple

from textual import on
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Input, Static

from agentwatch.agents.session_entry import Key
from agentwatch.catalog.limits import NewestLimits, forms, is_scarce
from agentwatch.catalog.listing import Listing, Request, Sort
from agentwatch.catalog.row_counts import Counts
from agentwatch.catalog.row_filter import row_filter_offers, row_filter_problem
from agentwatch.recording.remembered import remember, remembered
from agentwatch.rules.language.completion import Offer
from agentwatch.rules.language.errors import RuleError
from agentwatch.screen.keys import bindings, bound_keys, key_label, shortcuts
from agentwatch.screen.panes.key_hints import KeyHints
from agentwatch.screen.screens.sessions.cells import NAMES
from agentwatch.screen.screens.sessions.list import Chosen, Marked, SessionList
from agentwatch.screen.terminal.themes import muted
from agentwatch.screen.widgets.input_bar import InputBar, RuleBar
from agentwatch.text.amounts import plural
from agentwatch.text.safe import SafeText, columns, cut, safe_line


class WordsBar(InputBar):
    """An input whose words take effect while they are typed; enter keeps them, esc clears them."""

    BINDINGS: ClassVar[list[BindingType]] = bindings("words bar")

    class Typed(Message):
        def __init__(self, bar: WordsBar, words: str) -> None:
            super().__init__()
            self.bar, self.words = bar, words

    class Left(Message):
        """Posted when the bar was closed; `is_entered` says whether by enter."""

        def __init__(self, bar: WordsBar, words: str, *, is_entered: bool) -> None:
            super().__init__()
            self.bar, self.words, self.is_entered = bar, words, is_entered

    def action_drop(self) -> None:
        self.display = False
        self.post_message(self.Typed(self, ""))
        self.post_message(self.Left(self, "", is_entered=False))

    def problem(self, words: str) -> RuleError | None:
        del words
        return None

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        event.stop()
        self.post_message(self.Typed(self, event.value))

    @on(Input.Submitted)
    def _entered(self, event: Input.Submitted) -> None:
        event.stop()
        if self.problem(event.value) is None:
            self.display = False
            self.post_message(self.Left(self, event.value, is_entered=True))


class SessionFilterBar(RuleBar, WordsBar):
    """The filter of the list, which offers fields and values while the user types."""

    def problem(self, words: str) -> RuleError | None:
        return row_filter_problem(words)


class HomeBars(Vertical):
    """The two bars, of which at most one is open, and the line that says what the list shows."""

    def __init__(self, offers: Callable[[str], list[Offer]]) -> None:
        super().__init__(id="home-bars")
        self.find = WordsBar(
            "Find", "words of titles and prompts; enter: in the contents too", id="home-find"
        )
        self.filter = SessionFilterBar(
            "Filter", "a word, failed, agent:codex, repo:api, age<2h", offers, id="home-filter"
        )
        self._line = Static(id="request")
        self._words = SafeText("")

    def compose(self) -> ComposeResult:
        yield self._line
        yield self.find
        yield self.filter

    def open(self, name: str, words: str) -> None:
        bar, other = (self.find, self.filter) if name == "find" else (self.filter, self.find)
        other.display = False
        bar.show_text(words, takes_keys=True)

    def show(self, request: Request, matches: int, total: int, hidden: int = 0, marked: str = "") -> None:
        """Say what the list shows, how many sessions match, and how many of the matches are `hidden`.
        `marked` says how many sessions are marked, and what the keys do with them."""
        found = f"{matches - hidden:,} of {plural(total, 'session')}"
        found += f", {hidden:,} hidden" if hidden else ""
        keys = SafeText(f"{found} · enter: keep · esc: clear")
        if self.find.is_typed_in:
            self.find.show_note(keys)
        if self.filter.is_typed_in:
            text = self.filter.input.value
            self.filter.explain(text, self.filter.problem(text), keys)
        is_typed_in = self.find.is_typed_in or self.filter.is_typed_in
        words = SafeText(
            "" if is_typed_in else " · ".join([*filter(None, [marked]), *_request_words(request, found)])
        )
        if words != self._words:
            self._words = words
            self._line.update(Content(f" {words}"), layout=False)
            self._line.display = bool(words)


def _request_words(request: Request, found: str) -> list[str]:
    said = []
    if request.search.split():
        said.append(f"search “{safe_line(request.search)}”")
    if request.filter.split():
        said.append(f"filter “{safe_line(request.filter)}”")
    if said:
        said.append(f"{found} · esc: all")
    if request.sort is not Sort.STATE:
        said.append(f"sorted by {request.sort}")
    if request.shows_hidden:
        said.append("hidden ones shown")
    return said


# The lines above the list: how many sessions need the user, and which machines do not answer.

Piece = tuple[str, str]

_NAME = ("agentwatch", "bold")
_MOST_NOTES = 3
_LEAST_FOR_NOTES = 16
"""The least rows of a terminal for more than one line of notes."""


class HeaderFacts(NamedTuple):
    counts: Counts = Counts()
    hidden: int = 0
    key: str = ""
    """Shows the hidden sessions."""
    is_known: bool = True
    """Whether it is known what runs."""
    limits: Sequence[SafeText] = ()
    """The usage limits, the longest form first."""
    is_scarce: bool = False
    """Whether little is left of one of them."""


class HomeHeader(Static):
    """The counts of the list, the usage limits of the agents, and how many older sessions are not shown. In a
    narrow terminal the words give way in this order: the program's name, the limits but for the fullest
    window, `older`, the ended sessions and the machines, the limits, then all words, which signs replace."""

    def __init__(self) -> None:
        super().__init__(id="header")
        self._drawn: tuple[object, ...] = ()
        self._shown = HeaderFacts()

    def show(self, shown: HeaderFacts) -> None:
        self._shown = shown
        self._draw()

    def on_resize(self) -> None:
        self._draw()

    def _draw(self) -> None:
        shown, width, theme = self._shown, self.size.width, self.app.current_theme
        dim = muted(theme)
        drawn = (shown, width, dim)
        if width and drawn != self._drawn:
            self._drawn = drawn
            working = "$text-accent" if theme.ansi else "$text-primary"
            left, limits, hidden = _fitting(shown, width, working)
            pieces: list[Piece] = []
            for number, (words, style) in enumerate(left):
                pieces += [(_separator(left, number), dim), (words, style or dim)]
            between = SafeText(" │ " if limits and hidden else "")
            gap = " " * max(width - 2 - _width(left) - sum(map(columns, (limits, between, hidden))), 0)
            right = ((limits, "$text-warning" if shown.is_scarce else dim), (between, dim), (hidden, dim))
            self.update(Content.assemble(" ", *pieces, gap, *right, " "), layout=False)


class HomeNotes(Static):
    """Shows one line for each note, as many as there is room for."""

    def __init__(self) -> None:
        super().__init__(id="home-notes")
        self.display = False
        self._notes: tuple[SafeText, ...] = ()
        self._drawn: tuple[object, ...] = ()

    def show(self, notes: Sequence[SafeText]) -> None:
        self._notes = tuple(notes)
        self._draw()

    def on_resize(self) -> None:
        self._draw()

    def _draw(self) -> None:
        width, height = self.app.size
        drawn = (self._notes, width, height)
        if drawn == self._drawn:
            return
        self._drawn = drawn
        most = _MOST_NOTES if height >= _LEAST_FOR_NOTES else 1
        more = f" · {len(self._notes) - most} more" if len(self._notes) > most else ""
        shown = [cut(note, max(width - 2, 1)) for note in self._notes[:most]]
        if more:
            shown[-1] = SafeText(f"{cut(shown[-1], max(width - 2 - len(more), 1))}{more}")
        lines = [Content(f" {line}") for line in shown]
        self.display = bool(lines)
        self.update(Content("\n").join(lines))


def _fitting(header: HeaderFacts, width: int, working: str) -> tuple[list[Piece], SafeText, SafeText]:
    """Return the counts, the limits and the words about hidden sessions, in the longest form that fits."""
    counts, hidden, key, is_known = header[:4]
    older = (f"{hidden:,} older hidden: {key}", f"{hidden:,} hidden: {key}") if hidden else ("", "")
    whole, signs = _pieces(counts, working, is_known=is_known)
    live, _ = _pieces(counts._replace(ended_today=0, machines=0), working, is_known=is_known)
    nothing = SafeText("")
    shown = [*header.limits] or [nothing]
    last = [*dict.fromkeys((shown[-1], nothing))]
    forms = [([_NAME, *whole], each, older[0]) for each in shown[:2]]
    forms += [(whole, each, older[0]) for each in shown]
    forms += [(left, each, older[1]) for each in last for left in (whole, live)]
    forms += [(signs, each, older[1]) for each in last] + [(signs, nothing, "")]
    for left, words, apart in forms:
        right = columns(words) + len(apart) + 3 * bool(words and apart)
        if _width(left) + (right + 2 if right else 0) <= width - 2:
            return left, words, SafeText(apart)
    return signs[:1], nothing, nothing


def _separator(pieces: list[Piece], number: int) -> str:
    return "" if not number else " │ " if pieces[number - 1] == _NAME else " · "


def _pieces(counts: Counts, working: str, *, is_known: bool) -> tuple[list[Piece], list[Piece]]:
    """Return the counts with their words, and with signs in a terminal that is too narrow for words."""
    named = (
        (counts.needs_you, "need you" if counts.needs_you != 1 else "needs you", "!", "bold $text-warning"),
        (counts.failed, "failed", "✗", "$text-error"),
        (counts.working, "working", "◐", working),
        (counts.quiet, "quiet", "?", "$text-warning"),
        (counts.your_turn, "your turn", "›", ""),
        (counts.ended_today, "ended today", "", ""),
    )
    words = [(f"{count:,} {words}", style) for count, words, _, style in named if count]
    words = words or [("no session is running" if is_known else "not known what is running", "")]
    words += [(plural(counts.machines, "machine"), "")] if counts.machines else []
    signs = [(f"{sign} {count:,}", style) for count, _, sign, style in named if count and sign]
    return words, signs or [("none running" if is_known else "not known", "")]


def _width(pieces: list[Piece]) -> int:
    return sum(columns(SafeText(words)) + 3 for words, _ in pieces) - 3


class ListFacts(NamedTuple):
    counts: Counts = Counts()
    notes: Sequence[SafeText] = ()
    is_complete: bool = True
    """Whether every place was searched for sessions."""
    is_settled: bool = True
    """Whether every session that was found was read too."""
    is_known: bool = True
    """Whether it is known what runs on this machine."""


# What an empty list says.

_BEGINNING = """\
No session of a coding agent here yet.

enter   replays one: agentwatch demo
claude  or another agent appears here
agentwatch run -- cursor-agent -p …
cursor-agent -p … | agentwatch"""


def words_for_nothing(request: Request, facts: ListFacts, hidden: int, key: str) -> SafeText:
    wanted = [f"“{safe_line(words)}”" for words in (request.search, request.filter) if words]
    if wanted:
        return SafeText(f"No session matches {' and '.join(wanted)}. esc: all sessions")
    if not facts.is_complete:
        return SafeText("Searching for sessions …")
    if hidden:
        return SafeText(f"No session of the last 7 days. {hidden:,} older hidden: {key}")
    return SafeText("No session is known." if facts.notes else _BEGINNING)


# The list with its bars and lines.

_SORT, _COLUMNS = "sort", "columns"
_OF_MARKED = ("delete-session", "archive-session", "export")


class Requested(Message):
    def __init__(self, request: Request) -> None:
        super().__init__()
        self.request = request


class ContentsWanted(Message):
    """Posted by enter in the search bar: the words are to be found in the contents of all sessions."""

    def __init__(self, words: str) -> None:
        super().__init__()
        self.words = words


class Home(Vertical):
    """Header, list, bars and key hints. A widget beside the list, such as a preview, is optional. `columns`
    are those of the settings; a later choice of the user on the screen has priority."""

    BINDINGS: ClassVar[list[BindingType]] = bindings("home")

    def __init__(
        self, rebound: Mapping[str, str], preview: Widget | None = None, columns: Sequence[str] = ()
    ) -> None:
        super().__init__(id="home")
        sort = remembered(_SORT, str) or ""
        self.request = Request(sort=Sort(sort) if sort in [*Sort] else Sort.STATE)
        self.header = HomeHeader()
        self.notes = HomeNotes()
        self.sessions = SessionList()
        chosen = tuple((remembered(_COLUMNS, str) or "").split())
        self.sessions.show_columns(chosen or columns)
        self.bars = HomeBars(lambda text: row_filter_offers(text, self._listing.rows.values()))
        self._preview = preview
        self._pane = "home"
        self._hints = KeyHints(rebound, lambda: self._pane)
        keys = bound_keys(rebound)
        self._key = key_label(keys["show-hidden"][0])
        labels = {each.id: each.label for each in shortcuts()}
        does = (f"{key_label(keys[name][0])} {labels[name]}" for name in _OF_MARKED)
        self._marked_keys = " · ".join((*does, "esc None"))
        self._listing = Listing()
        self._facts = ListFacts(is_complete=False, is_settled=False)
        self.limits = NewestLimits()
        self._now_ms = 0
        self._answerable: frozenset[Key] = frozenset()

    def compose(self) -> ComposeResult:
        yield self.header
        yield self.notes
        yield Horizontal(self.sessions, *([self._preview] if self._preview else []), id="home-body")
        yield self.bars
        yield self._hints

    def on_mount(self) -> None:
        self.sessions.focus()

    def show(self, listing: Listing, facts: ListFacts, now_ms: int) -> None:
        self.notes.show(facts.notes)
        if listing is not self._listing:
            listing.request(self.request)
        self._listing, self._facts, self._now_ms = listing, facts, now_ms
        self._show()

    def tick(self, now_ms: int) -> None:
        self._now_ms = now_ms
        self._show_header()
        self.sessions.tick(now_ms)

    def ask(self, request: Request) -> None:
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
        """Clear with esc only if there is a search, a filter or a mark; otherwise the screen handles esc."""
        if action == "clear":
            return bool(self.request.search or self.request.filter or self.sessions.marked)
        return super().check_action(action, parameters)

    def action_bar(self, name: str) -> None:
        self.bars.open(name, self.request.search if name == "find" else self.request.filter)
        self._show_request()

    def action_clear(self) -> None:
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
        shown = {*self.sessions.columns} ^ {name}
        chosen = [each for each in NAMES if each in shown] or ["title"]
        self.sessions.show_columns(tuple(chosen))
        remember(_COLUMNS, " ".join(chosen), self.notify)

    def reset_columns(self) -> None:
        self.sessions.show_columns(())
        remember(_COLUMNS, None, self.notify)

    def action_hidden(self) -> None:
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

    def _show(self) -> None:
        request, facts = self.request, self._facts
        self._listing.offer_older(is_offered=facts.is_complete)
        words = words_for_nothing(request, facts, self._listing.hidden_count, self._key)
        self._show_header()
        sessions = self.sessions
        sessions.offers_demo = facts.is_complete and not (self._listing.rows or facts.notes)
        sessions.show(self._listing, self._now_ms, words, is_settled=facts.is_settled)
        self._show_keys()
        self._show_request()

    def offer_answers(self, keys: frozenset[Key]) -> None:
        self._answerable = keys
        self._show_keys()

    @on(Chosen)
    def _show_keys(self) -> None:
        sessions = self.sessions
        pane = "home" if self._listing.lines else "home-unseen" if self._listing.rows else "home-empty"
        if pane == "home" and sessions.chosen is not None and sessions.chosen.key in self._answerable:
            pane = "home-asks"
        pane = "home-demo" if sessions.offers_demo else pane
        self._hints.leave_out(sessions.unfit if pane in ("home", "home-asks") else frozenset())
        if pane != self._pane:
            self._pane = pane
            self._hints.show_pane()

    def _show_header(self) -> None:
        limits, facts = self.limits.shown(self._now_ms), self._facts
        shown, hidden = tuple(forms(limits, self._now_ms)), self._listing.hidden_count
        self.header.show(
            HeaderFacts(facts.counts, hidden, self._key, facts.is_known, shown, is_scarce(limits))
        )

    @on(Marked)
    def _show_request(self) -> None:
        marked = len(self.sessions.marked)
        words = f"{marked:,} marked · {self._marked_keys}" if marked else ""
        total = len(self._listing.rows)
        matches = total - self._listing.filtered_count
        self.bars.show(self.request, matches, total, self._listing.hidden_count, words)
