"""The result of a call in few words: its test verdict, its outcome, or what else is known about it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING

from agentwatch.actions import change_size, outcome_note
from agentwatch.events import Outcome
from agentwatch.session import Call
from agentwatch.text.safe import SafeText, columns, cut
from agentwatch.text.signs import SIGNS

if TYPE_CHECKING:
    from agentwatch.analysis.verdicts import Verdict

MOST_SUMMED_UP = 200
"""Rows that fold more calls than this show no totals: summing them on each draw would cost O(calls)."""
_MOST_COLUMNS = 16
"""The width that a long note may take from the target."""
_LEAST_COLUMNS = 5
"""Minimum width of a note; below it, the target gets the whole width."""
_WORD = 9
"""Notes of at most this width (`rejected`) are shown whole or not at all."""
_LEAST_TARGET = 14
_LEAST_WITH_SOURCE = 40
"""Columns of the target beside which a verdict is shown with its source, if the target needs fewer."""
_LEAST_FOR_WIDE_GAP = 26
"""Columns of target and result below which every column is needed for text."""
_NEAR_A_WORD = 8
"""Minimum target width beside the note of a call that did not succeed."""


def gap(room: int) -> int:
    """Return the blanks between a target and its result, which share `room` columns: 2, or 1 if narrow."""
    return 2 if room >= _LEAST_FOR_WIDE_GAP else 1


def short_note(call: Call) -> SafeText:
    """Return the outcome, the reason of a failure, or what else is known: `exit 1`, `+8 −3`, `54 lines`."""
    if call.outcome is Outcome.FAILED and call.exit_code:
        return SafeText(f"exit {call.exit_code}")
    if call.outcome is Outcome.SUCCEEDED and not call.note:
        return SafeText((change_size(call) or "").replace("-", "−"))
    note = outcome_note(call)
    return SafeText(note.removeprefix("failed: "))  # the sign of the row says that it failed


def note_of(calls: Sequence[Call]) -> SafeText:
    """Return the note of a row; for several calls, the sum of their changed lines."""
    call = calls[-1]
    if len(calls) == 1:
        return short_note(call)
    if len({each.note for each in islice(calls, MOST_SUMMED_UP)}) > 1 or len(calls) > MOST_SUMMED_UP:
        return SafeText("")
    if call.lines_added is None and call.lines_removed is None:
        return short_note(call)
    added = sum(each.lines_added or 0 for each in calls)
    removed = sum(each.lines_removed or 0 for each in calls)
    return SafeText(f"+{added} −{removed}")


def fitting_note(note: SafeText, name_width: int, room: int, *, is_urgent: bool) -> SafeText:
    """Return as much of a note as fits beside the target; empty if the target needs the room.

    Args:
        note: The note.
        name_width: The width that the whole target needs, in columns.
        room: The columns that target and note share. A gap separates them.
        is_urgent: Whether the note matters more than the end of a long target.
    """
    if columns(note) <= _WORD:
        least = _NEAR_A_WORD if is_urgent else max(_LEAST_TARGET, room - _MOST_COLUMNS)
        return note if room - columns(note) - gap(room) >= min(name_width, least) else SafeText("")
    left = room - min(name_width, max(_LEAST_TARGET, room - _MOST_COLUMNS)) - gap(room)
    return cut(note, min(columns(note), left)) if left >= _LEAST_COLUMNS - 1 else SafeText("")


def fitting_verdict(verdict: Verdict, name_width: int, room: int) -> SafeText:
    """Return a verdict with its sign, in the longest form that fits beside the target; empty if none does.

    The longest form has the source: `✗ 1 failed, 4 passed (pattern)`. It is shown only beside a whole target.

    Args:
        verdict: The verdict.
        name_width: The width that the whole target needs, in columns.
        room: The columns that target and verdict share. A gap separates them.
    """
    whole = SafeText(_lead(verdict) + verdict.words_and_source)
    if room - columns(whole) - gap(room) >= max(name_width, _LEAST_WITH_SOURCE):
        return whole
    for words in _shorter_forms(verdict):
        if room - columns(words) - gap(room) >= min(name_width, _LEAST_TARGET):
            return words
    return SafeText("")


def verdict_style(verdict: Verdict) -> str:
    """Return the name of the style of a verdict."""
    return "failed" if verdict.is_red else "succeeded" if verdict.is_green else "unfinished"


def _lead(verdict: Verdict) -> str:
    sign = SIGNS[Outcome.FAILED if verdict.is_red else Outcome.SUCCEEDED]
    return f"{sign} " if verdict.is_red or verdict.is_green else ""


def _shorter_forms(verdict: Verdict) -> Iterator[SafeText]:
    words = verdict.words
    while words:
        yield SafeText(_lead(verdict) + words)
        words = words.rpartition(", ")[0]
