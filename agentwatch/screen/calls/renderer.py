"""Draws a row of the calls pane: bracket, sign, tool, target, note, clock and time strip."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import islice

from textual.strip import Strip

from agentwatch.actions import change_size, outcome_note, target
from agentwatch.events import Outcome
from agentwatch.safe_text import SafeText, columns, cut, safe_line
from agentwatch.screen.calls.list import CallList
from agentwatch.screen.calls.rows_by_time import Row
from agentwatch.screen.lines.format import SIGNS, UNKNOWN, call_clock, clock, fitted
from agentwatch.screen.lines.line_view import LineView
from agentwatch.session import Call

_CLOCK = 8
_TOOL = 12
_NOTE = 16
_LEAST_TARGET = 14
_LEAST_NOTE = 5
"""Minimum width of a note; below it, the target gets the whole width."""
_WORD = 9
"""Notes of at most this width (`rejected`) are shown whole or not at all."""
_NEAR_A_WORD = 8
"""Minimum target width beside the note of a call that did not succeed."""
_LEAST_FOR_STRIP = 60
_STRIP = (10, 20)
_ADDRESS = re.compile(r"\A[a-z]++://\S++$")
_MOST_SUMMED_UP = 200
"""Rows that fold more calls than this show no totals: summing them on each draw would cost O(calls)."""


class CallRenderer:
    """Renders the rows of a call list in the styles of a pane."""

    def __init__(self, pane: LineView, listed: CallList) -> None:
        self._pane = pane
        self._list = listed

    def render(self, y: int, width: int, now_ms: int | None) -> Strip:
        """Return a row; it is exactly `width` columns wide unless the pane is very narrow.

        Args:
            y: The row.
            width: The width of the pane, in columns.
            now_ms: The current time, for running clocks, in ms since the epoch; None shows their durations as
                unknown.
        """
        row = self._list.rows[y]
        calls = self._list.calls_of(row)
        call = calls[-1]
        state = str(call.outcome)
        style = "plain" if call.outcome is Outcome.SUCCEEDED else state
        strip_width = 0 if width < _LEAST_FOR_STRIP else min(max(width // 6, _STRIP[0]), _STRIP[1])
        tool_width = min(_TOOL, width // 4)
        room = max(width - 3 - tool_width - _CLOCK - (strip_width and strip_width + 1), 1)
        note = _note(calls) if row.is_same and not row.is_open else SafeText("")
        name_width = columns(_name(row, calls, room))
        least = min(name_width, max(_LEAST_TARGET, room - _NOTE))
        note_width = min(columns(note) + 1, room - least)
        if columns(note) <= _WORD:
            if call.outcome is not Outcome.SUCCEEDED and not row.is_fold:
                least = min(name_width, _NEAR_A_WORD)
            note_width = columns(note) + 1 if room - columns(note) > least else 0
        if note_width < min(_LEAST_NOTE, columns(note) + 1):
            note_width = 0
        note = cut(note, note_width - 1) if note_width else SafeText("")
        name = fitted(_name(row, calls, room - note_width), room - note_width)
        spans = [
            (SafeText(self._list.rows.group_mark(y)), "muted"),
            (SafeText(f"{SIGNS[call.outcome]} "), state),
            (fitted(safe_line(call.tool), tool_width - 1), "muted"),
            (SafeText(f" {name}"), style),
            (
                SafeText(" " * (note_width - columns(note)) + note if note_width else ""),
                "muted" if style == "plain" else style,
            ),
            (SafeText(f"{_clock(row, calls, now_ms):>{_CLOCK}}"), "muted"),
        ]
        if strip_width:
            shown = calls if len(calls) <= _MOST_SUMMED_UP else (calls[0], calls[-1])
            bar = self._list.strip.bar(shown, strip_width, now_ms)
            spans.append((SafeText(f" {bar}"), "muted" if style == "plain" else style))
        return self._pane.strip_of(spans)


def short_note(call: Call) -> SafeText:
    """Return the outcome, or what else is known about it: `exit 1`, `+8 −3`, `54 lines`."""
    if call.outcome is Outcome.FAILED and call.exit_code:
        return SafeText(f"exit {call.exit_code}")
    if call.outcome is Outcome.SUCCEEDED and not call.note:
        return SafeText((change_size(call) or "").replace("-", "−"))
    return outcome_note(call)


def _note(calls: Sequence[Call]) -> SafeText:
    """Return the note of a row; for several calls, the sum of their changed lines."""
    call = calls[-1]
    if len(calls) == 1:
        return short_note(call)
    if len({each.note for each in islice(calls, _MOST_SUMMED_UP)}) > 1 or len(calls) > _MOST_SUMMED_UP:
        return SafeText("")
    if call.lines_added is None and call.lines_removed is None:
        return short_note(call)
    added = sum(each.lines_added or 0 for each in calls)
    removed = sum(each.lines_removed or 0 for each in calls)
    return SafeText(f"+{added} −{removed}")


def _name(row: Row, calls: Sequence[Call], width: int) -> SafeText:
    """Return a row's name, in at most `width` columns: `▸ pytest -q ×3`, `▸ 5 files: a.py, b.py, …`."""
    call = calls[-1]
    if not row.is_fold:
        indent = SafeText("  " if row.fold >= 0 else "")
        return SafeText(indent + _fitting_target(call, width - len(indent)))
    mark = "▾" if row.is_open else "▸"
    if row.is_same:
        times = f" ×{len(calls)}"
        return SafeText(f"{mark} {_fitting_target(call, width - len(times) - 2)}{times}")
    names = dict.fromkeys((each.target or "").rpartition("/")[2] for each in islice(calls, _MOST_SUMMED_UP))
    files = {each.target for each in islice(calls, _MOST_SUMMED_UP)}
    is_each_once = len(files) == len(calls)
    head = f"{mark} {len(calls)} {'files' if is_each_once else 'reads'}: "
    return cut(safe_line(head + ", ".join(names)), width)


def _fitting_target(call: Call, width: int) -> SafeText:
    """Return a call's target; paths and URLs are cut in the middle, other targets at the end."""
    whole = target(call)
    is_path = call.path is not None or _ADDRESS.match(whole) is not None
    return fitted(whole, min(max(width, 1), columns(whole)), is_path=is_path)


def _clock(row: Row, calls: Sequence[Call], now_ms: int | None) -> str:
    """Return a row's duration; for several calls, the time that any of them ran, overlaps counted once."""
    if not row.is_fold:
        return call_clock(calls[-1], now_ms)
    if len(calls) > _MOST_SUMMED_UP or any(call.duration_ms is None for call in calls):
        return UNKNOWN
    total = until = 0
    for begin, end in sorted((call.started_ms or 0, call.ended_ms or 0) for call in calls):
        total += max(end - max(begin, until), 0)
        until = max(until, end)
    return clock(total)
