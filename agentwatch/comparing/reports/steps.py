"""The lines of a report about the calls of two runs."""

from __future__ import annotations

from collections.abc import Iterator

from agentwatch.actions import action, outcome_note, target
from agentwatch.comparing.alignment import Match
from agentwatch.comparing.comparison import Aspect, Comparison, Row, took_ms
from agentwatch.comparing.reports.figures import UNKNOWN, lines_words
from agentwatch.comparing.reports.report import Gap, StepLine
from agentwatch.comparing.side import Lines, Side
from agentwatch.session import Call
from agentwatch.text.durations import duration_words
from agentwatch.text.safe import SafeText, safe_line

CONTEXT = 1
"""The equal calls that are listed before and after a difference."""
_SIGNS = {
    Match.MOVED: (">", "moved"),
    Match.REPLACED: ("!", "other target"),
    Match.ONLY_A: ("-", "only in A"),
    Match.ONLY_B: ("+", "only in B"),
}


def step_lines(comparison: Comparison, *, every: bool) -> Iterator[StepLine | Gap]:
    """Yield the differences with the calls around them.

    Args:
        comparison: The comparison.
        every: Whether all equal calls are listed too.
    """
    listed = range(len(comparison.rows)) if every else _with_context(comparison)
    end = 0
    for index in (*listed, len(comparison.rows)):
        if index > end:
            yield Gap(index - end)
        if index < len(comparison.rows):
            yield step_line(comparison, comparison.rows[index])
        end = index + 1


def step_line(comparison: Comparison, row: Row) -> StepLine:
    """Return a row in words."""
    sign, word = _SIGNS.get(row.match) or _equal_sign(row)
    number_a, number_b = (f"#{number}" if number is not None else "" for number in (row.a, row.b))
    return StepLine(sign, word, number_a, number_b, tuple(_lines(comparison, row)))


def _equal_sign(row: Row) -> tuple[str, str]:
    if row.is_equal:
        return "=", "same"
    return "~", "other result" if row.parts else "other time"


def aspect_words(comparison: Comparison, row: Row) -> list[SafeText]:
    """Return what differs: `exit 0 → 1`, `20 passed → 3 failed, 17 passed`, `1.2 s → 9.0 s`."""
    a, b = comparison.calls(row)
    if a is None or b is None:
        return []
    return [_aspect(aspect, (comparison.a, a), (comparison.b, b)) for aspect in row.aspects]


def _lines(comparison: Comparison, row: Row) -> Iterator[str]:
    a, b = comparison.calls(row)
    if row.match is Match.REPLACED and a is not None and b is not None:
        yield f"A: {action(a)}"
        yield f"B: {action(b)}"
    elif a is not None and b is not None and row.aspects:
        yield f"{safe_line(b.phrase)} {target(b)}".rstrip()
        yield "; ".join(aspect_words(comparison, row))
    elif (call := b or a) is not None:
        yield action(call)


def _aspect(aspect: Aspect, *calls: tuple[Side, Call]) -> SafeText:
    match aspect:
        case Aspect.OUTCOME:
            words = [outcome_note(call) or str(call.outcome) for _, call in calls]
            words = words if words[0] != words[1] else [str(call.outcome) for _, call in calls]
        case Aspect.EXIT_CODE:
            words = [f"exit {call.exit_code}" for _, call in calls]
        case Aspect.DURATION:
            times = [took_ms(call) for _, call in calls]
            words = [UNKNOWN if time is None else duration_words(time) for time in times]
        case Aspect.LINES:
            words = [lines_words(Lines(call.lines_added, call.lines_removed)) for _, call in calls]
        case Aspect.VERDICT:
            words = [side.verdicts[call.number].words for side, call in calls]
    return safe_line(" → ".join(words))


def _with_context(comparison: Comparison) -> Iterator[int]:
    """Yield the indices of the differences and of the rows around them, ascending."""
    end = 0
    for index in comparison.differences():
        last = min(index + CONTEXT + 1, len(comparison.rows))
        yield from range(max(end, index - CONTEXT), last)
        end = max(end, last)
