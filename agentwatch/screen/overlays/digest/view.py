"""The list of the digest."""

from __future__ import annotations

from textual.content import Content

from agentwatch.analysis.since.digest import Digest
from agentwatch.analysis.since.play import Play
from agentwatch.analysis.since.words import ending_words
from agentwatch.feed import Feed
from agentwatch.recording import now_ms
from agentwatch.screen.lines.line_view import Spans
from agentwatch.screen.overlays.call_rows import CallRowsView
from agentwatch.screen.overlays.digest.rows import Item, Line, Row, digest_rows
from agentwatch.screen.overlays.updating import take_slice
from agentwatch.session import Call
from agentwatch.text.safe import SafeText, columns, cut, cut_middle, wrapped
from agentwatch.text.times import time_of_day

_LEAST_WORDS = 14
"""Minimum width of the words beside a note, which is cut for them."""
_MOST_COLUMNS = 84
"""Maximum width of a row: a note further to the right is hard to connect with its words."""


class DigestView(CallRowsView):
    """What happened since a moment: counts, open failures, verdicts, running calls, files, kinds of calls."""

    def __init__(self, feed: Feed, digest: Digest, play: Play | None) -> None:
        super().__init__("What happened", id="digest")
        self._feed = feed
        self._digest = digest
        self._play = play
        self._rows: list[Row] = []
        self._built: list[Row] = []
        """The rows before wrapping."""
        self._is_reading = True
        """Whether calls from before the screen was opened may still be unread."""

    def call_at(self, row: int) -> Call | None:
        """Return the call that a row is about; None for a heading."""
        found = self._rows[row]
        return found.call if isinstance(found, Item) else None

    def line_count(self) -> int:
        """Return the number of rows."""
        return len(self._rows)

    def sync(self) -> bool:
        """Process new calls for one time slice and show the result; return whether more are left."""
        is_more = take_slice(self._digest.update)
        self.border_title = Content(self._title(is_more=is_more))
        session = self._feed.session
        now = session.last_seen_ms if self._feed.reader.growth.has_ended() else now_ms()
        ending = ending_words(session, self._digest.happened)
        self._show([*digest_rows(self._digest, SafeText(ending), self._play, now)])
        self._is_reading = self._is_reading and is_more
        return is_more

    def on_resize(self) -> None:
        """Wrap the lines again."""
        self._show(self._built)
        super().on_resize()

    def row(self, y: int, width: int) -> Spans:
        """Return a line of text, or what a call was about and what became of it."""
        row, width = self._rows[y], min(width, _MOST_COLUMNS)
        if isinstance(row, Line):
            return [(cut(row.words, width), row.style)]
        sign = SafeText(f"{row.sign} " if row.sign else "")
        room = width - columns(sign)
        note_room = room - min(columns(row.words), _LEAST_WORDS) - 2
        note = cut(row.note, note_room) if note_room > 0 else SafeText("")
        words_width = max(room - (columns(note) + 2 if note else 0), 1)
        words = cut_middle(row.words, words_width) if row.is_path else cut(row.words, words_width)
        gap = SafeText(" " * (room - columns(words) - columns(note)))
        words_style = "plain" if row.sign or row.sign_style == "plain" else row.sign_style
        return [(sign, row.sign_style), (words, words_style), (SafeText(gap + note), "muted")]

    def _title(self, *, is_more: bool) -> str:
        since_ms = self._digest.since.at_ms
        since = f" since {time_of_day(since_ms)}" if since_ms else ""
        return f"What happened{since} · still reading" if is_more else f"What happened{since}"

    def _show(self, built: list[Row]) -> None:
        """Show rows; the selected item stays selected, or the first one while the digest is read."""
        is_first = self._is_reading and self.cursor == next(iter(self.call_rows), -1)
        before = None if is_first or self.chosen is None else self._rows[self.cursor]
        width = min(self.scrollable_content_region.width - 1, _MOST_COLUMNS)
        self._built = built
        self._rows = [line for row in built for line in _wrapped(row, width)]
        self.cursor = self._row_of(before)
        self.show_lines()

    def _row_of(self, before: Row | None) -> int:
        """Return the row of the item that was selected before, or else the first row with a call."""
        items = {row.key: at for at, row in enumerate(self._rows) if isinstance(row, Item)}
        first = next(iter(items.values()), -1)
        return items.get(before.key, first) if isinstance(before, Item) else first


def _wrapped(row: Row, width: int) -> list[Row]:
    """Return a row as rows that fit; only a line of text is wrapped."""
    if isinstance(row, Item) or width < 1:
        return [row]
    return [Line(words, row.style) for words in wrapped(row.words, width)]
