"""Where enter leads in the goto box, and the words for it."""

from __future__ import annotations

from typing import NamedTuple

from agentwatch.analysis.moments import End, Named, Problem, offset_of, parse
from agentwatch.screen.overlays.goto.mark_filter import MarkFilter
from agentwatch.screen.overlays.goto.marks import Mark, Marks
from agentwatch.text.safe import SafeText, safe_line

HINT = SafeText("a time, +95s, -10s, #12, 50%, start, live, a name")
_KEYS = SafeText("enter go · ctrl+r rename · ctrl+x delete")
_PARTS = frozenset("0123456789:+-#%.TZsmh ")
"""The characters of times, durations, calls and percentages: half of one is no mistake yet."""

Goal = int | End | None
"""A moment; `End.LIVE` for the live end, whose offset grows; None to stay."""


class Note(NamedTuple):
    """The line below the list."""

    words: SafeText
    is_problem: bool = False


def goal_of(text: str, chosen: Mark | None, marks: Marks, moment: int) -> Goal | Problem:
    """Return where enter leads; None if nothing is typed or selected.

    Args:
        text: What is typed.
        chosen: The selected mark, which counts before the text.
        marks: The marked moments of the session.
        moment: The moment that is shown.
    """
    if chosen is not None:
        return chosen.offset
    if not text.strip():
        return None
    parsed = parse(text)
    if isinstance(parsed, Problem) or parsed is End.LIVE:
        return parsed
    return offset_of(parsed, marks.session, marks.timeline, moment, marks.bookmarks.by_name())


def suggested_row(found: MarkFilter, marks: Marks, moment: int) -> int | None:
    """Return the row to select while the user has selected none; None for none.

    It is the bookmark of the present moment while nothing is typed, and the bookmark whose name is typed. For
    words that are no moment of the session, it is the first mark that matches: `09:14` is no moment of a
    session that began at 09:14:06, and the start of the times of its marks.
    """
    if not found.text.strip():
        return found.row_of_bookmark(moment)
    parsed = parse(found.text)
    exact = marks.bookmarks.by_name().get(parsed.name) if isinstance(parsed, Named) else None
    row = None if exact is None else found.row_of_bookmark(exact)
    is_moment = row is not None or not isinstance(goal_of(found.text, None, marks, moment), Problem)
    return row if is_moment or not len(found) else 0


def note_of(goal: Goal | Problem, found: MarkFilter, chosen: Mark | None, marks: Marks) -> Note:
    """Return the line below the list: where enter leads, what is wrong with the text, or what can be typed.

    Args:
        goal: Where enter leads.
        found: The marks that match the text.
        chosen: The selected mark.
        marks: The marked moments of the session.
    """
    if isinstance(goal, Problem):
        text = found.text.strip()
        is_part = _PARTS.issuperset(text) or any(end.value.startswith(text.lower()) for end in End)
        is_named = isinstance(parse(text), Named)
        if (is_part and is_named) or not found.is_complete:
            return Note(HINT)
        words = SafeText(f"no marked moment matches {safe_line(text)}") if is_named else goal.words
        return Note(words, is_problem=True)
    if goal is None:
        return Note(HINT)
    if chosen is not None and chosen.bookmark is not None:
        return Note(_KEYS)
    where = "returns to live" if isinstance(goal, End) else f"goes to {marks.time(goal)}"
    return Note(SafeText(f"enter {where} · ctrl+r names it"))
