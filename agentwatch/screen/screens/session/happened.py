"""What happened in a finished session, in three lines above the panes: failures, files, result."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from time import perf_counter

from textual import events
from textual.content import Content
from textual.message import Message
from textual.widgets import Static

from agentwatch.analysis.episodes import Rank, RankedFailure
from agentwatch.analysis.files import TouchedFiles
from agentwatch.analysis.verdict_history import call_verdict
from agentwatch.feed.feed import Feed
from agentwatch.screen.panes.calls.cells import short_note
from agentwatch.screen.panes.calls.list import CallList
from agentwatch.screen.panes.header import COLOURS
from agentwatch.screen.terminal.themes import muted
from agentwatch.session.actions import shown_target
from agentwatch.session.events import Outcome
from agentwatch.session.session import Session
from agentwatch.session.transcript import Kind
from agentwatch.text.amounts import plural
from agentwatch.text.safe import SafeText, columns, cut, safe_line
from agentwatch.text.signs import MINUS, SIGNS

_SLICE_SECONDS = 0.01
"""Seconds of reading per slice, and the pause after it."""
_LEAST_WITH_LABELS = 70
_LABEL = 9
_LEAST_WITH_KEYS = 100
_FOLDS = SafeText("D folds")
_NO_KEYS = SafeText("")
_LEAST_PIECE = 9
_MOST_NAMED = 4
_MOST_TARGET = 40
_MOST_COLUMNS = 64
_MOST_ENTRIES = 500
"""The newest entries among which the last answer is searched."""
_MOST_ANSWER = 1000


class WhatHappened(Static):
    """What failed and is still open, the files that were changed, and how the last answer begins."""

    class LineClicked(Message):
        """Posted when a line is clicked: 0 for the failures, 1 for the files, 2 for the result."""

        def __init__(self, line: int) -> None:
            super().__init__()
            self.line = line

    def __init__(self, feed: Feed, calls: CallList, touched: TouchedFiles) -> None:
        """Create the lines.

        Args:
            feed: Has read the session.
            calls: The list of its calls.
            touched: The files that it has touched, perhaps not read yet.
        """
        super().__init__(id="happened")
        self._feed, self._calls, self._touched = feed, calls, touched
        self._failures: list[tuple[SafeText, str]] = []
        self.is_reading = True
        """Whether the calls are not all read yet."""

    def on_mount(self) -> None:
        """Begin to read."""
        self._read()

    def on_resize(self) -> None:
        """Fit the lines to the new width."""
        self._draw()

    def on_click(self, event: events.Click) -> None:
        """Report which line was clicked."""
        event.stop()
        self.post_message(self.LineClicked(event.y))

    def _read(self) -> None:
        """Read calls for one time slice; continue after a pause if more are left."""
        until, is_more = perf_counter() + _SLICE_SECONDS, True
        while is_more and perf_counter() < until:
            is_more = self._touched.update() | self._calls.facts.episodes.update()
        if is_more:
            self.set_timer(_SLICE_SECONDS, self._read)
        else:
            self.is_reading = False
            ranked = self._calls.ranked_failures(_SLICE_SECONDS)
            self._failures = [*self._open_failures(ranked)]
        self._draw()

    def _open_failures(self, ranked: list[RankedFailure]) -> Iterator[tuple[SafeText, str]]:
        """Yield how many failures nothing mended, and some of them; or that there are none."""
        left = [each for each in ranked if each.rank in (Rank.RED, Rank.OPEN)]
        if not left:
            failed = f"{plural(len(ranked), 'failure')}, none still open" if ranked else "nothing failed"
            yield SafeText(f"{SIGNS[Outcome.SUCCEEDED]} {failed}"), "$text-success"
        elif len(left) > 1:
            yield SafeText(f"{len(left)} open"), "bold $text-error"
        for each in left[:_MOST_NAMED]:
            call = self._feed.session.calls[each.number - 1]
            found = call_verdict(self._feed, call) if each.rank is Rank.RED else None
            note = f"still red: {found.words}" if found is not None else short_note(call)
            target = cut(shown_target(call) or safe_line(call.tool), _MOST_TARGET)
            words = safe_line(f"{SIGNS[Outcome.FAILED]} #{call.number} {target} ({note})")
            yield cut(words, _MOST_COLUMNS), "$text-error"

    def _files(self) -> list[tuple[SafeText, str]]:
        """Return the number of changed files with their lines, and the names of those changed last."""
        changed = [file for file in self._touched.newest_first() if file.is_changed]
        if not changed:
            return [(SafeText("no file was changed"), "")]
        added = sum(file.lines_added or 0 for file in changed)
        removed = sum(file.lines_removed or 0 for file in changed)
        lines = f" +{added} {MINUS}{removed}" if added or removed else ""
        names = [(safe_line(file.shown), "") for file in changed[:_MOST_NAMED]]
        return [(SafeText(f"{plural(len(changed), 'file')}{lines}"), "bold"), *names]

    def _draw(self) -> None:
        width = self.size.width
        if width < 1:
            return
        reading = [(SafeText("still reading"), muted(self.app.current_theme))]
        lines = (
            self._line("failed", reading if self.is_reading else self._failures, _FOLDS),
            self._line("changed", reading if self.is_reading else self._files()),
            self._line("result", [_result(self._feed.session)]),
        )
        self.update(Content("\n").join(lines), layout=False)

    def _line(self, label: str, pieces: list[tuple[SafeText, str]], keys: SafeText = _NO_KEYS) -> Content:
        """Return a line with as many pieces as fit, after its label and before its keys if there is room."""
        room, dim = self.size.width, muted(self.app.current_theme)
        styled: list[tuple[str, str]] = []
        if room >= _LEAST_WITH_LABELS:
            styled.append((f"{label:<{_LABEL}}", dim))
            room -= _LABEL
        if keys and room >= _LEAST_WITH_KEYS:
            room -= columns(keys) + 2
        else:
            keys = _NO_KEYS
        for nth, (words, style) in enumerate(pieces):
            gap = SafeText(" · " if nth else "")
            shown = cut(words, max(room - len(gap), 0))
            if nth and columns(shown) < min(columns(words), _LEAST_PIECE):
                break
            styled += [(gap, dim), (shown, style)]
            room -= len(gap) + columns(shown)
        styled.append((f"{' ' * (room + 2)}{keys}" if keys else "", dim))
        return Content.assemble(*styled)


def _result(session: Session) -> tuple[SafeText, str]:
    """Return the sign of the outcome and the first line of the last answer, and their colour."""
    outcome = session.outcome or Outcome.UNFINISHED
    words: str = outcome
    for entry in islice(reversed(session.transcript), _MOST_ENTRIES):
        if entry.kind is Kind.ANSWER and entry.parent is None:
            lines = (line.strip("#*_> \t") for line in entry.content.part(0, _MOST_ANSWER).split("\n"))
            words = next(filter(None, lines), words)
            break
    return safe_line(f"{SIGNS[outcome]} {words}"), COLOURS[outcome] if words == outcome else ""
