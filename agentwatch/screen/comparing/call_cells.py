"""The cells of a call in a column of one run: number, outcome, tool, target, result and clock."""

from __future__ import annotations

from typing import NamedTuple

from agentwatch.actions import outcome_note, shown_target
from agentwatch.analysis.silence import call_clock
from agentwatch.analysis.verdicts import Verdict
from agentwatch.events import Outcome
from agentwatch.screen.calls.cells.targets import cut_apart, is_path
from agentwatch.screen.lines.line_view import Spans
from agentwatch.session import Call
from agentwatch.text.safe import SafeText, columns, cut, fitted, safe_line
from agentwatch.text.signs import SIGNS

_CLOCK = 9
_TOOL = (5, 12)
_LEAST_WITH_CLOCK = 34
_LEAST_WITH_NOTE = 50
_NOTE_GAP = 2


class Cells(NamedTuple):
    """The widths of the cells of a call; 0 for a cell that is not shown."""

    number: int
    tool: int
    target: int
    """The result shares these columns."""
    clock: int
    has_note: bool

    @property
    def width(self) -> int:
        """The width of all cells together."""
        return self.number + 3 + self.tool + 1 + self.target + self.clock


def cells_in(width: int, calls: int, tool: int) -> Cells:
    """Return the widths of the cells of a call.

    Args:
        width: The width of all cells together.
        calls: The number of calls of the longer run.
        tool: The width of the longest name of a tool.
    """
    number = len(str(calls))
    clock = _CLOCK if width >= _LEAST_WITH_CLOCK else 0
    tool = max(min(tool, _TOOL[1], width // 5), _TOOL[0])
    target = max(width - number - 3 - tool - 1 - clock, 1)
    return Cells(number, tool, target, clock, width >= _LEAST_WITH_NOTE)


def call_spans(
    call: Call, other: Call | None, verdict: Verdict | None, cells: Cells, style: str, clock_style: str
) -> Spans:
    """Return a call as cells.

    Args:
        call: The call.
        other: The call of the other run, from which a cut target has to differ; None without one.
        verdict: The verdict on the call.
        cells: The widths of the cells.
        style: The name of the style of the target.
        clock_style: The name of the style of the clock.
    """
    shown = shown_target(call)
    note = _note(call, verdict, cells.target - columns(shown)) if cells.has_note else SafeText("")
    room = cells.target - (columns(note) + _NOTE_GAP if note else 0)
    near = [] if other is None else [shown_target(other)]
    if columns(shown) > room:
        shown = cut_apart(shown, near, room, is_path=is_path(call, shown) and not call.more_paths)
    state = str(call.outcome)
    is_red = verdict.is_red if verdict is not None else call.outcome is not Outcome.SUCCEEDED
    return [
        (SafeText(f"{call.number:>{cells.number}} "), "muted"),
        (SafeText(f"{SIGNS[call.outcome]} "), state),
        (fitted(safe_line(call.tool), cells.tool), "muted"),
        (SafeText(f" {fitted(shown, room)}"), style),
        (SafeText(f"{' ' * _NOTE_GAP}{note}" if note else ""), "failed" if is_red else "muted"),
        (SafeText(f"{call_clock(call, None):>{_CLOCK}}" if cells.clock else ""), clock_style),
    ]


def _note(call: Call, verdict: Verdict | None, room: int) -> SafeText:
    """Return the result of a call in a few words; empty if the target leaves no space."""
    words = outcome_note(call) if verdict is None else safe_line(verdict.words)
    room -= _NOTE_GAP
    if call.outcome is Outcome.SUCCEEDED and verdict is None:
        return words if columns(words) <= room else SafeText("")
    return cut(words, room) if room >= min(columns(words), _TOOL[1]) else SafeText("")
