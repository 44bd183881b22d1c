"""The lines of a preview: the last lines of a session, its open calls with clocks, and its to-do list."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from textual.strip import Strip

from agentwatch.actions import action
from agentwatch.analysis.silence import call_clock
from agentwatch.events import Outcome, PlanEntry, PlanStatus
from agentwatch.screen.lines.line_view import LineView
from agentwatch.screen.markup.syntax import code_theme
from agentwatch.screen.transcript.entries import (
    EntryRenderer,
    call_line,
    rule_line,
    shown_length,
    thought_for,
)
from agentwatch.session import Call, Entry, Kind, Session
from agentwatch.session.rules import DONE_ENTRIES
from agentwatch.text.safe import SafeText, columns, cut, fitted, safe_line
from agentwatch.text.signs import PLAN_SIGNS, SIGNS

_MOST_CALLS = 4
_MOST_PLAN = 8
_MOST_CHARACTERS = 4000
"""Of a longer text, only the end is laid out: it fills a screen."""


class PreviewLines:
    """The lines of one session, for a pane of a certain size."""

    def __init__(self, pane: LineView, session: Session, width: int, height: int) -> None:
        """Lay out the lines.

        Args:
            pane: The pane that shows them; it has the styles.
            session: The session.
            width: The width of the pane, in columns.
            height: The number of rows; the last lines of the session fill what the rest leaves.
        """
        self._pane = pane
        self._width = width
        most_calls = min(_MOST_CALLS, max(height // 4, 1))
        self._calls = list(session.open_calls.values())[-most_calls:]
        plan = _plan_lines(session.plan, max(height // 3, 1))
        self._plan = [pane.strip_of([(cut(words, width), style)]) for words, style in plan]
        below = len(self._plan) + len(self._calls) + bool(self._plan) + bool(self._calls)
        self._last = self._last_lines(session, max(height - below, 1))

    @property
    def has_clocks(self) -> bool:
        """Whether a line changes with the time."""
        return bool(self._calls)

    def lines(self, now_ms: int) -> list[Strip]:
        """Return all lines as they are at a time, in ms since the epoch."""
        found = list(self._last)
        if self._calls:
            found.append(rule_line(self._pane, SafeText("now"), self._width))
            found += [self._call_line(call, now_ms) for call in self._calls]
        if self._plan:
            found.append(rule_line(self._pane, SafeText("to-do list"), self._width))
            found += self._plan
        return found

    def _call_line(self, call: Call, now_ms: int) -> Strip:
        clock = SafeText(call_clock(call, now_ms))
        sign = SafeText(f"{SIGNS[Outcome.RUNNING]} ")
        words = fitted(action(call), self._width - columns(sign) - columns(clock) - 1)
        pieces = [(sign, "running"), (words, "plain"), (SafeText(f" {clock}"), "running")]
        return self._pane.strip_of(pieces)

    def _last_lines(self, session: Session, count: int) -> list[Strip]:
        """Return the last lines of the transcript, at most `count`."""
        entries = EntryRenderer(self._pane, code_theme(self._pane.app.current_theme))
        found: list[Strip] = []
        later: Kind | None = None
        for entry in _backwards(session.transcript):
            if later is not None and (entry.kind, later) != (Kind.CALL, Kind.CALL):
                found.insert(0, Strip.blank(self._width))
            found[:0] = self._entry_lines(entries, entry)
            later = entry.kind
            if len(found) >= count:
                break
        return found[-count:]

    def _entry_lines(self, entries: EntryRenderer, entry: Entry) -> list[Strip]:
        if entry.call is not None:
            return [call_line(self._pane, entry.call, SafeText(""), self._width)]
        if entry.kind is Kind.REASONING:
            return [self._pane.strip_of([(thought_for(entry), "reasoning")])]
        end = shown_length(entry)
        start = max(end - _MOST_CHARACTERS, 0)
        return entries.render(entry, start, end, self._width, is_code=False)


def _plan_lines(plan: Sequence[PlanEntry], most: int) -> list[tuple[SafeText, str]]:
    """Return the number of completed entries of a to-do list, and the entries from the first open one on.

    Args:
        plan: The to-do list.
        most: The number of lines that there is room for.

    Returns:
        The words of each line and their style.
    """
    if not plan:
        return []
    done = sum(entry.status is PlanStatus.COMPLETED for entry in plan)
    room = min(max(most - 1, 0), _MOST_PLAN)
    opened = next((number for number, entry in enumerate(plan) if entry.status not in DONE_ENTRIES), 0)
    first = min(opened, max(len(plan) - room, 0))
    shown = plan[first : first + room]
    count = SafeText(f"{done} of {len(plan)} done")
    return [(count, "muted"), *((_words(entry), _style(entry)) for entry in shown)]


def _words(entry: PlanEntry) -> SafeText:
    return safe_line(f"{PLAN_SIGNS[entry.status]} {entry.text}")


def _style(entry: PlanEntry) -> str:
    if entry.status is PlanStatus.IN_PROGRESS:
        return "accent"
    return "muted" if entry.status in DONE_ENTRIES else "plain"


def _backwards(transcript: Sequence[Entry]) -> Iterator[Entry]:
    return (transcript[number] for number in range(len(transcript) - 1, -1, -1))
