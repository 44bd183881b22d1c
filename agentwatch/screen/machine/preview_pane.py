"""The preview beside the list: it follows the selected session, and reads its end in a thread."""

from __future__ import annotations

import asyncio
from typing import NamedTuple

from textual.content import Content
from textual.strip import Strip
from textual.timer import Timer

from agentwatch.machine.row import Row
from agentwatch.recording import now_ms
from agentwatch.screen.home.words import tests_words
from agentwatch.screen.lines.line_view import LineView
from agentwatch.screen.machine.preview_lines import PreviewLines
from agentwatch.screen.machine.tail_session import row_session
from agentwatch.session import Session
from agentwatch.text.safe import SafeText, safe_line

_DEBOUNCE_SECONDS = 0.12
"""How long a session is selected before it is read: a held key moves 30 times a second."""
_AGAIN_SECONDS = 1.0
"""The shortest time between two readings of the session that is shown."""
_CLOCK_SECONDS = 1.0


class _Version(NamedTuple):
    """What changes when the session of a row goes on."""

    size: int
    seen_ms: int | None
    now: str


class PreviewPane(LineView, can_focus=False):
    """Shows the last lines of a session, its open calls and its to-do list.

    The keys stay in the list. At most one session is read at a time.
    """

    def __init__(self) -> None:
        super().__init__("Preview", id="preview")
        self.display = False
        self._title = self._tests = ""
        self._row: Row | None = None
        self._session: Session | None = None
        self._read: Row | None = None
        """The row whose session was read last, or is being read."""
        self._is_reading = False
        self._lines: PreviewLines | None = None
        self._strips: list[Strip] = []
        self._due: Timer | None = None

    def on_mount(self) -> None:
        """Start the clocks."""
        self.set_interval(_CLOCK_SECONDS, self._tick)

    def show_row(self, row: Row | None) -> None:
        """Preview the session of a row, or its newer state; None without a session."""
        before, self._row = self._row, row
        is_other = row is None or before is None or row.key != before.key
        if is_other:
            self._session = self._lines = None
            self._strips = []
            self._say("" if row is None else "reading …")
        title = "Preview" if row is None else f"Preview · {safe_line(row.title) or '…'}"
        if title != self._title:  # the list may have read the session's title only now
            self._title, self.border_title = title, Content(title)
        tests = "" if row is None else tests_words(row)
        if tests != self._tests:
            self._tests, self.border_subtitle = tests, Content(tests)
        if row is not None and (self._read is None or _version(row) != _version(self._read) or is_other):
            self._read_within(_DEBOUNCE_SECONDS if is_other else _AGAIN_SECONDS, is_other=is_other)

    def line_count(self) -> int:
        """Return the number of lines; all of them are in view."""
        return len(self._strips)

    def draw(self, y: int, width: int) -> Strip:
        """Return a line."""
        return self._strips[y] if y < len(self._strips) else Strip.blank(width)

    def show_below(self) -> None:
        """Do nothing: new lines are not counted."""

    def on_resize(self) -> None:
        """Lay the lines out for the new size."""
        self._lay_out()
        super().on_resize()

    def notify_style_update(self) -> None:
        """Lay the lines out in the new styles."""
        super().notify_style_update()
        self._lay_out()

    def _read_within(self, seconds: float, *, is_other: bool) -> None:
        if self._due is not None:
            if not is_other:
                return
            self._due.stop()
        self._due = self.set_timer(seconds, self._read_now)

    def _read_now(self) -> None:
        self._due = None
        row = self._row
        if row is None or not self.display or self._is_reading:
            return
        self._read = row
        if not row.can_open:
            self._say("only its metadata can be read")
            return
        self._is_reading = True
        self.run_worker(self._read_tail(row))

    async def _read_tail(self, row: Row) -> None:
        found: Session | OSError
        try:
            found = await asyncio.to_thread(row_session, row)
        except OSError as error:
            found = error
        self._take(row, found)

    def _take(self, row: Row, found: Session | OSError) -> None:
        self._is_reading = False
        wanted = self._row
        if wanted is None or wanted.key != row.key:
            if wanted is not None:
                self._read_within(0, is_other=True)
            return
        if isinstance(found, OSError):
            self._say(f"cannot be read: {safe_line(found.strerror or str(found)).lower()}")
            return
        self._session = found
        self._say("" if len(found.transcript) else "nothing in it yet")
        self._lay_out()
        if _version(wanted) != _version(row):
            self._read_within(_AGAIN_SECONDS, is_other=False)

    def _lay_out(self) -> None:
        region = self.scrollable_content_region
        if self._session is None or region.width < 1 or region.height < 1:
            return
        self._lines = PreviewLines(self, self._session, region.width, region.height)
        self._redraw()

    def _tick(self) -> None:
        if self.display and self._lines is not None and self._lines.has_clocks and self.screen.is_active:
            self._redraw()

    def _redraw(self) -> None:
        if self._lines is not None:
            strips = self._lines.lines(now_ms())
            if strips != self._strips:
                self._strips = strips
                self.painter.forget()
                self.show_lines()

    def _say(self, words: str) -> None:
        """Show words instead of lines."""
        self.empty_words = SafeText(words)
        if not self._strips:
            self.painter.forget()
            self.show_lines()


def _version(row: Row) -> _Version:
    return _Version(row.size, row.seen_ms, row.standing.now)
