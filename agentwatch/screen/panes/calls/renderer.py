"""Draws a row of the calls pane: bracket, number, sign, tool, target, result, clock and time strip."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from textual.strip import Strip

from agentwatch.analysis.silence import call_clock
from agentwatch.analysis.status import NO_WAITS, Wait, Waits
from agentwatch.screen.panes.calls.cells import (
    MOST_SUMMED_UP,
    Scales,
    VerdictCache,
    fitting_note,
    fitting_result,
    fitting_target,
    gap,
)
from agentwatch.screen.panes.calls.list import CallList, Row
from agentwatch.screen.widgets.line_view import LineView, Spans, rows_in_view
from agentwatch.session.actions import shown_target, shown_tool
from agentwatch.session.call import Call
from agentwatch.session.events import Outcome
from agentwatch.text import UNKNOWN
from agentwatch.text.durations import duration_words
from agentwatch.text.safe import SafeText, columns, cut, fitted, safe_line
from agentwatch.text.signs import ASKS_SIGN, SIGNS

_CLOCK = 8
_LEAST_TOOL = 4
"""The width of the heading `tool`."""
_LEAST_FOR_NUMBER = 44
_UNKNOWN_DIGITS = 4
"""The width that is left free for the numbers of a large recording, until it is loaded."""
_LEAST_FOR_STRIP = 56
_STRIP = (8, 20)
_NEIGHBOURS = 2
"""The number of rows above and below from which a cut target has to differ."""


class Layout(NamedTuple):
    """The widths of the columns in a pane of a certain width; 0 for a column that is not shown."""

    number: int
    tool: int
    name: int
    """Target and result share these columns."""
    strip: int


class CallRenderer:
    """Renders the rows of a call list in the styles of a pane."""

    def __init__(
        self, pane: LineView, listed: CallList, verdicts: VerdictCache, *, has_numbers: bool
    ) -> None:
        self._pane = pane
        self._has_numbers = has_numbers
        self._list = listed
        self._verdicts = verdicts
        self._scales: Scales = {}
        self._scaled: tuple[object, ...] = ()
        """What the scales were computed from."""
        self.waits: Waits = NO_WAITS
        """The calls that wait for the user."""

    def show(self, listed: CallList) -> None:
        """Draw the rows of another moment of the same session."""
        self._list = listed

    def render(self, y: int, width: int, now_ms: int | None) -> Strip:
        """Return a row; it is exactly `width` columns wide unless the pane is very narrow. Without `now_ms`,
        running clocks are unknown."""
        row = self._list.rows[y]
        calls = self._list.calls_of(row)
        call = calls[-1]
        layout = self.layout(width)
        wait = self.waits.get(call.number)
        state = str(call.outcome) if wait is None else "asks"
        style = "plain" if call.outcome is Outcome.SUCCEEDED else state
        if row.is_fold and not row.is_same:
            name, result, result_style = _names(row, calls, layout.name), SafeText(""), ""
        else:
            name, result, result_style = self._target_and_result(y, row, calls, layout.name)
        name = fitted(name, layout.name - (columns(result) + gap(layout.name) if result else 0))
        number = f"{call.number if self._has_numbers else '':>{layout.number - 1}} " if layout.number else ""
        spans = [
            (SafeText(self._list.rows.group_mark(y)), "muted"),
            (SafeText(number), "muted"),
            (SafeText(f"{SIGNS[call.outcome] if wait is None else ASKS_SIGN} "), state),
            (fitted(shown_tool(call.tool), layout.tool), "muted"),
            (SafeText(f" {name}"), style),
            (SafeText(f"{' ' * gap(layout.name)}{result}" if result else ""), result_style),
            (SafeText(f"{_clock(row, calls, wait, now_ms):>{_CLOCK}}"), "muted"),
        ]
        if layout.strip:
            shown = calls if len(calls) <= MOST_SUMMED_UP else (calls[0], calls[-1])
            bar = self._list.strip.bar(shown, layout.strip, self.scales(now_ms), now_ms)
            spans.append((SafeText(f" {bar}"), "muted" if style == "plain" else style))
        return self._pane.strip_of(spans)

    def heading(self, width: int, now_ms: int | None) -> Spans:
        """Return the heading of the columns; that of the time strip is the duration that it covers."""
        layout = self.layout(width)
        number = f"{'#':>{layout.number - 1}} " if layout.number else ""
        name = fitted(SafeText(f"target{'result':>{max(layout.name - 6, 7)}}"), layout.name)
        strip = ""
        if layout.strip:
            scales = [*self.scales(now_ms).values()]
            covered = f" {duration_words(scales[0][1])}" if len(scales) == 1 else ""
            strip = f" {cut(SafeText(f'▏{covered}'), layout.strip)}"
        words = f" {number}  {fitted(SafeText('tool'), layout.tool)} {name}{'time':>{_CLOCK}}{strip}"
        return [(SafeText(words), "muted")]

    def layout(self, width: int) -> Layout:
        """Return the widths of the columns in a pane of `width` columns."""
        digits = len(str(self._list.count)) if self._has_numbers else _UNKNOWN_DIGITS
        number = digits + 1 if width >= _LEAST_FOR_NUMBER else 0
        strip = 0 if width < _LEAST_FOR_STRIP else min(max(width // 7, _STRIP[0]), _STRIP[1])
        tool = min(max(self._list.tool_width, _LEAST_TOOL), max(width // 4 - 1, 1))
        name = max(width - 1 - number - 2 - tool - 1 - _CLOCK - (strip and strip + 1), 1)
        return Layout(number, tool, name, strip)

    def scales(self, now_ms: int | None) -> Scales:
        """Return the scales of the time strip for the rows in view."""
        rows, view = self._list.rows, rows_in_view(self._pane)
        basis = (id(rows), len(rows), self._list.revision, view, now_ms)
        if basis != self._scaled:
            self._scaled = basis
            self._scales = self._list.strip.scales(self._calls_in_view(), now_ms)
        return self._scales

    def _calls_in_view(self) -> Iterator[Call]:
        for y in rows_in_view(self._pane):
            calls = self._list.calls_of(self._list.rows[y])
            yield from islice(calls, MOST_SUMMED_UP)
            yield calls[-1]

    def _target_and_result(
        self, y: int, row: Row, calls: Sequence[Call], room: int
    ) -> tuple[SafeText, SafeText, str]:
        """Return the target of a row, its result and the style of the result.

        Both fit together in `room` columns, with a gap between them. The result is empty if there is none,
        or if the target needs the room. A call without a target shows its result in its place.
        """
        call = calls[-1]
        lead = ("▾ " if row.is_open else "▸ ") if row.is_fold else "  " if row.fold >= 0 else ""
        lead += _branch(call)
        end = f" ×{len(calls)}" if row.is_fold else ""
        shown, extra = shown_target(call), len(lead) + len(end)
        result, style, name_width = SafeText(""), "", columns(shown) + extra
        if call.number in self.waits and not row.is_open:
            result, style = fitting_note(SafeText("asks"), name_width, room, is_urgent=True), "asks"
        elif not row.is_open:
            result, style = fitting_result(
                calls, self._verdicts.get(call), name_width, room, is_fold=row.is_fold
            )
        if not (shown or extra) and call.outcome is Outcome.SUCCEEDED:
            return result, SafeText(""), ""
        width = max(room - (columns(result) + gap(room) if result else 0) - extra, 1)
        shown = fitting_target(call, width, lambda: self._targets_near(y, call))
        return SafeText(f"{lead}{shown}{end}"), result, style

    def _targets_near(self, y: int, call: Call) -> list[SafeText]:
        """Return the targets of the neighbouring rows of the same tool."""
        first, last = max(y - _NEIGHBOURS, 0), min(y + _NEIGHBOURS, len(self._list.rows) - 1)
        near = [self._list.call_at(each) for each in range(first, last + 1) if each != y]
        return [shown_target(other) for other in near if other.tool == call.tool]


def _names(row: Row, calls: Sequence[Call], width: int) -> SafeText:
    """Return the name of a row of several reads."""
    names = dict.fromkeys((each.target or "").rpartition("/")[2] for each in islice(calls, MOST_SUMMED_UP))
    files = {each.target for each in islice(calls, MOST_SUMMED_UP)}
    noun = "files" if len(files) == len(calls) else "reads"
    head = f"{'▾' if row.is_open else '▸'} {_branch(calls[-1])}{len(calls)} {noun}: "
    return cut(safe_line(head + ", ".join(names)), width)


def _branch(call: Call) -> str:
    """Return the sign before the target of a subagent's call; empty for a call of the main agent."""
    return "" if call.parent is None else "└ "


def _clock(row: Row, calls: Sequence[Call], wait: Wait | None, now_ms: int | None) -> str:
    """Return a row's duration; for several calls, the time that any of them ran, overlaps counted once.

    That of a call that waits for the user is how long it waits.
    """
    if wait is not None:
        return wait.clock(now_ms) or UNKNOWN
    if not row.is_fold:
        return call_clock(calls[-1], now_ms)
    if len(calls) > MOST_SUMMED_UP or any(call.duration_ms is None for call in calls):
        return UNKNOWN
    total = until = 0
    for begin, end in sorted((call.started_ms or 0, call.ended_ms or 0) for call in calls):
        total += max(end - max(begin, until), 0)
        until = max(until, end)
    return duration_words(total)
