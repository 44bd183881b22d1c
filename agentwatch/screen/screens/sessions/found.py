"""The screen of what was found in the contents of all sessions; it fills while the search goes on."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import ClassVar, NamedTuple

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.screen import ModalScreen

from agentwatch.agents.session_entry import Key
from agentwatch.base.clock import now_ms
from agentwatch.catalog.contents import ContentsSearch, Hit, marked_words
from agentwatch.catalog.row import Row
from agentwatch.screen.screens.sessions.list import Opened
from agentwatch.screen.screens.sessions.watching import Background
from agentwatch.screen.screens.sessions.words import foreign, repository, title
from agentwatch.screen.terminal.base_app import TerminalApp
from agentwatch.screen.widgets.line_view import HeadedView, RowView, Spans
from agentwatch.text.amounts import plural
from agentwatch.text.durations import age_words
from agentwatch.text.safe import SafeText, cut, fitted, safe_line

# Searches the contents of sessions in a thread, and reports what it finds to the screen.

_SLICE_SECONDS = 0.01
_YIELD_SECONDS = 0.001
"""The pause after a slice: the screen gets the interpreter's lock."""
_REPORT_SECONDS = 0.1
"""The time between two reports; the first hits are reported at once."""


class Progress(NamedTuple):
    hits: list[Hit]
    searched: int
    total: int
    skipped: int
    is_over: bool


class Searching(Background):
    """Goes on with a search until it is over; only the thread uses `search`, and calls `report`."""

    def __init__(
        self,
        search: ContentsSearch,
        report: Callable[[Progress], object],
        fail: Callable[[Exception], object],
    ) -> None:
        super().__init__("contents", fail)
        self._search = search
        self._report = report

    def _close(self) -> None:
        self._search.close()

    def _work(self) -> None:
        search = self._search
        hits: list[Hit] = []
        reported_at = 0.0
        has_hits = is_over = False
        while not is_over and not self._ended.wait(_YIELD_SECONDS):
            hits += search.advance(_SLICE_SECONDS)
            is_over, now = search.is_over, time.monotonic()
            if is_over or (hits and not has_hits) or now >= reported_at + _REPORT_SECONDS:
                if self._ended.is_set():
                    return  # the screen may be gone
                reported_at, has_hits = now, has_hits or bool(hits)
                self._report(Progress(hits, search.searched, search.total, search.skipped, is_over))
                hits = []


_AGENT, _PROJECT, _CALL, _AGE, _GAP = 9, 16, 14, 8, 2
_LEAST_WITH_AGENT = 124
_LEAST_WITH_PROJECT = 104
_LEAST_WITH_CALL = 62
_LEAST_WITH_NAMES = 60
_TITLES = (12, 32)
"""The least and the greatest width of the titles: a quarter of the row, or a third without calls."""
_MOST_WORDS = 40


class FoundView(RowView, HeadedView):
    """One row for each hit: its session, if the row above has another one, and the text around the words."""

    def __init__(self, rows: Mapping[Key, Row], words: str) -> None:
        super().__init__("", id="found")
        self.rows = rows
        self.progress = SafeText("")
        self._words = marked_words(words)
        self.hits: list[Hit] = []

    @property
    def chosen(self) -> Hit | None:
        return self.hits[self.cursor] if self.hits else None

    def add(self, hits: Iterable[Hit]) -> None:
        self.hits += hits
        self.show_lines()

    def line_count(self) -> int:
        return len(self.hits)

    def heading(self, width: int) -> Spans:
        if width < _LEAST_WITH_NAMES:
            return [(cut(self.progress, width), "muted")]
        names = ("agent", "repository", "session", "call", "age")
        cells = [fitted(SafeText(name), size) for name, size in zip(names, _sizes(width), strict=True)]
        return [(SafeText("".join([*cells, "found"])), "muted")] if self.hits else []

    def row(self, y: int, width: int) -> Spans:
        hit = self.hits[y]
        row, sizes = self.rows[hit.key], _sizes(width)
        texts = [foreign(row.agent), repository(row), title(row)]
        if y and self.hits[y - 1].key == hit.key:
            texts = [SafeText("")] * 3
        at_ms = row.seen_ms if hit.at_ms is None else hit.at_ms
        age = SafeText("" if at_ms is None else age_words(now_ms() - at_ms))
        texts += [safe_line(f"#{hit.call} {hit.tool}" if hit.call else hit.kind), age]
        cells = [
            fitted(cut(text, size - _GAP), size) if size else ""
            for text, size in zip(texts, sizes, strict=True)
        ]
        return [
            (SafeText("".join(cells[:2])), "muted"),
            (SafeText(cells[2]), "strong"),
            (SafeText("".join(cells[3:])), "muted"),
            *self._marked(cut(safe_line(hit.text), width - sum(sizes))),
        ]

    def _marked(self, text: SafeText) -> Spans:
        lowered = text.lower()
        if len(lowered) != len(text):
            return [(text, "plain")]
        spans: Spans = []
        at = 0
        while places := [(place, word) for word in self._words if (place := lowered.find(word, at)) >= 0]:
            place, word = min(places)
            spans += [
                (SafeText(text[at:place]), "plain"),
                (SafeText(text[place : place + len(word)]), "accent"),
            ]
            at = place + len(word)
        return [*spans, (SafeText(text[at:]), "plain")]


class FoundScreen(ModalScreen[None]):
    """What was found; a hit opens its session, from which esc returns here. The search starts when shown."""

    app: TerminalApp[None]
    VERTICAL_BREAKPOINTS = [(0, "-short"), (16, "-tall")]
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "dismiss", "Back"),
        Binding("enter", "open", "Open"),
    ]

    def __init__(self, words: str, rows: Mapping[Key, Row]) -> None:
        super().__init__()
        self._words = words
        self._found = FoundView(rows, words)
        self._searching: Searching | None = None

    def compose(self) -> ComposeResult:
        yield self._found

    def on_mount(self) -> None:
        search = ContentsSearch(self._words, list(self._found.rows.values()))
        self._found.border_subtitle = Content("enter open · esc back")
        self._take(Progress([], 0, search.total, 0, search.is_over))
        self._searching = Searching(
            search, partial(self.call_later, self._take), partial(self.call_later, self.app.fail)
        )
        self._searching.begin()

    def on_unmount(self) -> None:
        if self._searching is not None:
            self._searching.stop()

    def show_rows(self, rows: Mapping[Key, Row]) -> None:
        """Show what is known of the sessions now; one that has vanished keeps its row."""
        self._found.rows = {**self._found.rows, **rows}
        self._found.show_lines()

    def action_open(self) -> None:
        """Open the session of the selected hit, at the first match of what the hit contains."""
        hit = self._found.chosen
        if hit is not None:
            row = self._found.rows[hit.key]
            self.app.post_message(Opened(row, _findable(self._words, hit.text)))

    def _take(self, progress: Progress) -> None:
        self._found.empty_words = SafeText(" nothing found" if progress.is_over else " searching …")
        words = cut(safe_line(self._words), _MOST_WORDS)
        said = [f"“{words}”", plural(len(self._found.hits) + len(progress.hits), "hit")]
        if progress.is_over:
            said.append(plural(progress.total, "session"))
        else:
            said.append(f"{progress.searched:,} of {plural(progress.total, 'session')}")
        if progress.skipped:
            said.append(f"{progress.skipped:,} not searched")
        self._found.progress = SafeText(" · ".join(said))
        self._found.border_title = Content(self._found.progress)
        self._found.add(progress.hits)


def _sizes(width: int) -> tuple[int, int, int, int, int]:
    """Return the widths of the columns before the text; 0 for one that has no room."""
    titles = max(_TITLES[0], min(width // (4 if width >= _LEAST_WITH_CALL else 3), _TITLES[1]))
    return (
        _AGENT if width >= _LEAST_WITH_AGENT else 0,
        _PROJECT if width >= _LEAST_WITH_PROJECT else 0,
        titles,
        _CALL if width >= _LEAST_WITH_CALL else 0,
        _AGE if width >= _LEAST_WITH_CALL else 0,
    )


def _findable(words: str, text: str) -> str:
    """Return what a search for one text finds: the words, or the longest one if they are apart."""
    marked = marked_words(words)
    phrase = " ".join(marked)
    return phrase if phrase in text.lower() else max(marked, key=len, default="")
