"""What happened in a finished session, in three lines above the panes: failures, files, result."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice

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
from agentwatch.screen.screens.session.breakdown import take_slice
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
_LEAST_WITH_KEYS = 110
_FOLDS = SafeText("D folds")
_KEYS = SafeText(f"e goes there · {_FOLDS}")
_MOST_NAMED = 4
_MOST_TARGET = 40
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
        self._is_any_open = False
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
        is_more = take_slice(self._touched.update)
        is_more = self._calls.facts.episodes.update() or is_more
        if is_more:
            self.set_timer(_SLICE_SECONDS, self._read)
        else:
            self.is_reading = False
            ranked = self._calls.ranked_failures(_SLICE_SECONDS)
            self._failures = [*self._open_failures(ranked)]
        self._draw()

    def _open_failures(self, ranked: list[RankedFailure]) -> Iterable[tuple[SafeText, str]]:
        """Yield the failures that nothing mended, and how many more there are; or that there are none."""
        left = [each for each in ranked if each.rank in (Rank.RED, Rank.OPEN)]
        self._is_any_open = bool(left)
        for each in left[:_MOST_NAMED]:
            call = self._feed.session.calls[each.number - 1]
            found = call_verdict(self._feed, call) if each.rank is Rank.RED else None
            note = f"still red: {found.words}" if found is not None else short_note(call)
            target = cut(shown_target(call) or safe_line(call.tool), _MOST_TARGET)
            yield safe_line(f"{SIGNS[Outcome.FAILED]} #{call.number} {target} ({note})"), "$text-error"
        if len(left) > _MOST_NAMED:
            yield SafeText(f"{len(left) - _MOST_NAMED} more"), "$text-error"
        elif not left:
            failed = f"{plural(len(ranked), 'failure')}, none still open" if ranked else "nothing failed"
            yield SafeText(f"{SIGNS[Outcome.SUCCEEDED]} {failed}"), "$text-success"

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
        width, dim = self.size.width - 2, muted(self.app.current_theme)
        if width < 1:
            return
        session = self._feed.session
        reading = [(SafeText("still reading"), dim)]
        lines = (
            ("failed", reading if self.is_reading else self._failures),
            ("changed", reading if self.is_reading else self._files()),
            ("result", [_result(session)]),
        )
        drawn: list[Content] = []
        for label, pieces in lines:
            keys = _KEYS if self._is_any_open else _FOLDS
            keys = keys if not drawn and width >= _LEAST_WITH_KEYS else SafeText("")
            room = width - (columns(keys) + 2 if keys else 0)
            styled: list[tuple[str, str]] = (
                [(f"{label:<{_LABEL}}", dim)] if width >= _LEAST_WITH_LABELS else []
            )
            room -= _LABEL * len(styled)
            for nth, (words, style) in enumerate(pieces):
                shown = cut(words, room - 3 * bool(nth))
                if columns(shown) < min(columns(words), _LABEL):
                    break
                styled += [(" · ", dim)] if nth else []
                styled.append((shown, style))
                room -= columns(shown) + 3 * bool(nth)
            if keys:
                styled.append((f"{' ' * (width - _columns(styled) - columns(keys))}{keys}", dim))
            drawn.append(Content.assemble(*styled))
        self.update(Content("\n").join(drawn), layout=False)


def _columns(styled: list[tuple[str, str]]) -> int:
    return sum(columns(SafeText(words)) for words, _ in styled)


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
