"""The screen of what was found in the contents of all sessions; it fills while the search goes on."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.screen import ModalScreen

from agentwatch.agents.session_entry import Key
from agentwatch.base.clock import now_ms
from agentwatch.catalog.contents import ContentsSearch, marked_words
from agentwatch.catalog.hits import Hit, not_searched_words
from agentwatch.catalog.row import Row
from agentwatch.screen.screens.sessions.list import Opened
from agentwatch.screen.screens.sessions.watching import Background
from agentwatch.screen.screens.sessions.words import foreign, repository, title
from agentwatch.screen.terminal.base_app import TerminalApp
from agentwatch.screen.widgets.line_view import HeadedView, RowView, Spans
from agentwatch.text.amounts import plural
from agentwatch.text.durations import age_words
from agentwatch.text.safe import SafeText, columns, cut, fitted, marked, safe_line

# Searches the contents of sessions in a thread, and reports what it finds to the screen.

_SLICE_SECONDS = 0.01
_YIELD_SECONDS = 0.001
"""The pause after a slice: the screen gets the interpreter's lock."""
_REPORT_SECONDS = 0.1
"""The time between two reports; the first hits are reported at once."""


class Searching(Background):
    """Runs a search until it is over. Only the thread uses `search`, and calls `report`: with new hits, the
    number of searched sessions, those not searched by the reason, and whether it is over."""

    def __init__(
        self,
        search: ContentsSearch,
        report: Callable[[list[Hit], int, Mapping[str, int], bool], object],
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
        has_hits = False
        while not search.is_over and not self._ended.wait(_YIELD_SECONDS):
            hits += search.advance(_SLICE_SECONDS)
            now = time.monotonic()
            if search.is_over or (hits and not has_hits) or now >= reported_at + _REPORT_SECONDS:
                if self._ended.is_set():
                    return  # the screen may be gone
                reported_at, has_hits = now, has_hits or bool(hits)
                self._report(hits, search.searched, {**search.not_searched}, search.is_over)
                hits = []


_AGENT, _PROJECT, _CALL, _AGE, _GAP = 9, 16, 14, 9, 2
_LEAST_WITH_CALL = 50
_LEAST_WITH_NAMES = 60
_MOST_WORDS = 40


class FoundView(RowView, HeadedView):
    """A line for each session with its agent and project, and below it a line for each hit with the text
    around the words. A hit takes nearly the whole width. Only hits can be selected."""

    def __init__(self, rows: Mapping[Key, Row], words: str) -> None:
        super().__init__("", id="found")
        self.rows = rows
        self.progress = self.not_searched = SafeText("")
        self._words = marked_words(words)
        self._lines: list[Hit | Key] = []
        self._call = 0
        """The width of the widest call; 0 without one."""

    @property
    def hits(self) -> list[Hit]:
        return [line for line in self._lines if isinstance(line, Hit)]

    @property
    def chosen(self) -> Hit | None:
        line = self._lines[self.cursor] if self._lines else None
        return line if isinstance(line, Hit) else None

    def add(self, hits: Iterable[Hit]) -> None:
        last = self._lines[-1] if self._lines else None
        for hit in hits:
            if not isinstance(last, Hit) or last.key != hit.key:
                self._lines.append(hit.key)
            self._lines.append(hit)
            self._call = max(self._call, min(columns(_origin(hit)), _CALL) + _GAP)
            last = hit
        self.cursor = max(self.cursor, min(len(self._lines) - 1, 1))
        self.show_lines()

    def line_count(self) -> int:
        return len(self._lines)

    def choose(self, row: int) -> None:
        """Select a hit. On the line of a session, select the next hit in the direction of the move."""
        row = max(0, min(row, len(self._lines) - 1))
        if self._lines and not isinstance(self._lines[row], Hit):
            row += 1 if row > self.cursor or not row else -1
        super().choose(row)
        if row == 1:
            self.bring_into_view(0)

    def heading(self, width: int) -> Spans:
        said = [*filter(None, (self.progress if width < _LEAST_WITH_NAMES else "", self.not_searched))]
        return [(cut(SafeText(" · ".join(said)), width), "muted")]

    def row(self, y: int, width: int) -> Spans:
        line = self._lines[y]
        return self._hit(line, width) if isinstance(line, Hit) else self._session(self.rows[line], width)

    def _session(self, row: Row, width: int) -> Spans:
        project = min(_PROJECT, width // 4)
        texts = ((foreign(row.agent), _AGENT), (repository(row), project))
        names = "".join(fitted(cut(text, size - _GAP), size) for text, size in texts)
        return [(SafeText(names), "muted"), (cut(title(row), max(width - len(names), 1)), "strong")]

    def _hit(self, hit: Hit, width: int) -> Spans:
        at_ms = self.rows[hit.key].seen_ms if hit.at_ms is None else hit.at_ms
        lead = fitted(SafeText("" if at_ms is None else f"  {age_words(now_ms() - at_ms)}"), _AGE)
        if self._call and width >= _LEAST_WITH_CALL:
            lead = SafeText(lead + fitted(cut(_origin(hit), self._call - _GAP), self._call))
        return [
            (lead, "muted"),
            *marked(cut(safe_line(hit.text), width - columns(lead)), self._words, "plain"),
        ]


class FoundScreen(ModalScreen[None]):
    """Shows the hits of a search, which starts then. A hit opens its session, from which esc returns here."""

    app: TerminalApp[None]
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (100, "-wide")]
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
        take = partial(self._take, search.total)
        take([], 0, {}, search.is_over)
        self._searching = Searching(
            search, partial(self.call_later, take), partial(self.call_later, self.app.fail)
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

    def _take(
        self, total: int, hits: list[Hit], searched: int, not_searched: Mapping[str, int], is_over: bool
    ) -> None:
        self._found.empty_words = SafeText(" nothing found" if is_over else " searching …")
        words = cut(safe_line(self._words), _MOST_WORDS)
        sessions = plural(total, "session")
        said = [f"“{words}”", plural(len(self._found.hits) + len(hits), "hit")]
        said.append(sessions if is_over else f"{searched:,} of {sessions}")
        if not_searched:
            self._found.not_searched = safe_line(not_searched_words(not_searched))
        self._found.progress = SafeText(" · ".join(said))
        self._found.border_title = Content(self._found.progress)
        self._found.add(hits)


def _origin(hit: Hit) -> SafeText:
    """Return the origin of a hit: its call and the tool, `#12 Bash`, or else the kind of text, `prompt`."""
    return safe_line(f"#{hit.call} {hit.tool}" if hit.call else hit.kind)


def _findable(words: str, text: str) -> str:
    """Return what a search for one text finds: the words, or the longest one if they are apart."""
    marked = marked_words(words)
    phrase = " ".join(marked)
    return phrase if phrase in text.lower() else max(marked, key=len, default="")
