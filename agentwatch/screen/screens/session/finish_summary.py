"""What happened in a finished session, in three lines above the panes: failures, files, result."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import islice
from time import perf_counter
from typing import TYPE_CHECKING

from textual import events
from textual.content import Content
from textual.widgets import Static

from agentwatch.feed.feed import Feed
from agentwatch.screen.panes.calls.list import CallList
from agentwatch.screen.panes.calls.pane import short_note
from agentwatch.screen.panes.header import COLOURS
from agentwatch.screen.terminal.themes import muted
from agentwatch.screen.widgets.line_view import Posted
from agentwatch.session.actions import shown_target
from agentwatch.session.events import Outcome
from agentwatch.session.session import Session
from agentwatch.session.transcript import Kind
from agentwatch.text.amounts import line_counts, plain_markdown, plural
from agentwatch.text.safe import SafeText, columns, cut, safe_line
from agentwatch.text.signs import MINUS, SIGNS

if TYPE_CHECKING:
    from agentwatch.analysis.episodes import RankedFailure
    from agentwatch.analysis.files import TouchedFiles

_SLICE_SECONDS = 0.01
_LEAST_WITH_LABELS = 70
_LABEL = 9
_LEAST_PIECE = 9
_MOST_NAMED = 4
_MOST_TARGET = 40
_MOST_COLUMNS = 64
_MOST_ENTRIES = 500
"""The number of the newest entries among which the last answer is searched."""
_MOST_ANSWER = 1000


class FinishSummary(Static):
    """The open failures, the changed files, and the beginning of the last answer."""

    class LineClicked(Posted):
        """Posted when a line is clicked: 0 for the failures, 1 for the files, 2 for the result."""

        line: int

    def __init__(self) -> None:
        super().__init__(id="happened")
        self._lines: list[tuple[str, list[tuple[SafeText, str]]]] = []
        """The label and the pieces of each line; none while the calls are read."""

        self.first_failure: int | None = None
        """The number of the failed call that matters most."""

    @property
    def is_reading(self) -> bool:
        return not self._lines

    def read(self, feed: Feed, calls: CallList, touched: TouchedFiles) -> None:
        """Read the calls of a session in time slices, and then show what happened."""
        until, is_more = perf_counter() + _SLICE_SECONDS, True
        while is_more and perf_counter() < until:
            is_more = touched.update() | calls.facts.episodes.update()
        if is_more:
            self.set_timer(_SLICE_SECONDS, partial(self.read, feed, calls, touched))
            return
        ranked = calls.ranked_failures(_SLICE_SECONDS)
        self.first_failure = ranked[0].number if ranked else None
        self._lines = [
            ("failed", [*_open_failures(feed, ranked)]),
            ("changed", _changed_files(touched)),
            ("result", [*_result(feed.session)]),
        ]
        self._draw()

    def on_resize(self) -> None:
        self._draw()

    def on_click(self, event: events.Click) -> None:
        event.stop()
        self.post_message(self.LineClicked(event.y))

    def _draw(self) -> None:
        if self.size.width < 1:
            return
        reading = [("failed", [(SafeText("still reading"), muted(self.app.current_theme))])]
        lines = [self._line(*line) for line in self._lines or reading]
        self.update(Content("\n").join(lines), layout=False)

    def _line(self, label: str, pieces: list[tuple[SafeText, str]]) -> Content:
        """Return a line with as many pieces as fit after its label."""
        room, dim = self.size.width, muted(self.app.current_theme)
        styled: list[tuple[str, str]] = []
        if room >= _LEAST_WITH_LABELS:
            styled.append((f"{label:<{_LABEL}}", dim))
            room -= _LABEL
        for nth, (words, style) in enumerate(pieces):
            gap = SafeText(" · " if nth else "")
            shown = cut(words, max(room - len(gap), 0))
            if nth and columns(shown) < min(columns(words), _LEAST_PIECE):
                break
            styled += [(gap, dim), (shown, style)]
            room -= len(gap) + columns(shown)
        return Content.assemble(*styled)


def _open_failures(feed: Feed, ranked: list[RankedFailure]) -> Iterator[tuple[SafeText, str]]:
    """Yield how many failures nothing mended, and some of them; or that there are none."""
    from agentwatch.analysis.episodes import Rank
    from agentwatch.analysis.verdict_history import call_verdict

    left = [each for each in ranked if each.rank in (Rank.RED, Rank.OPEN)]
    if not left:
        failed = f"{plural(len(ranked), 'failure')}, none still open" if ranked else "no call failed"
        is_good = feed.session.outcome is Outcome.SUCCEEDED  # a tick is not shown beside `exit 3`
        sign, style = (f"{SIGNS[Outcome.SUCCEEDED]} ", "$text-success") if is_good else ("", "")
        yield SafeText(f"{sign}{failed}"), style
    elif len(left) > 1:
        yield SafeText(f"{len(left):,} open"), "bold $text-error"
    for each in left[:_MOST_NAMED]:
        call = feed.session.calls[each.number - 1]
        found = call_verdict(feed, call) if each.rank is Rank.RED else None
        note = f"still red: {found.words}" if found is not None else short_note(call)
        target = cut(shown_target(call) or safe_line(call.tool), _MOST_TARGET)
        words = safe_line(f"{SIGNS[Outcome.FAILED]} #{call.number} {target} ({note})")
        yield cut(words, _MOST_COLUMNS), "$text-error"


def _changed_files(touched: TouchedFiles) -> list[tuple[SafeText, str]]:
    changed = [file for file in touched.newest_first() if file.is_changed]
    if not changed:
        return [(SafeText("no file was changed"), "")]
    added = sum(file.lines_added or 0 for file in changed)
    removed = sum(file.lines_removed or 0 for file in changed)
    lines = f" {line_counts(added, removed, MINUS)}" if added or removed else ""
    names = [(safe_line(file.shown), "") for file in changed[:_MOST_NAMED]]
    return [(SafeText(f"{plural(len(changed), 'file')}{lines}"), "bold"), *names]


def _result(session: Session) -> Iterator[tuple[SafeText, str]]:
    """Yield the first line of the last answer after the outcome's sign. The outcome is in words without an
    answer, or if the exit code contradicts it."""
    outcome, answer = session.outcome or Outcome.UNFINISHED, ""
    words = session.outcome_words or outcome
    for entry in islice(reversed(session.transcript), _MOST_ENTRIES):
        if entry.kind is Kind.ANSWER and entry.parent is None:
            lines = map(plain_markdown, entry.content.part(0, _MOST_ANSWER).split("\n"))
            answer = next(filter(None, lines), "")
            break
    if not answer or session.outcome is not session.result_outcome:
        yield safe_line(f"{SIGNS[outcome]} {words}"), COLOURS[outcome]
    if answer:
        sign = f"{SIGNS[outcome]} " if session.outcome is session.result_outcome else ""
        yield safe_line(f"{sign}{answer}"), ""
