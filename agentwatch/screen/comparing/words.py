"""The signs and words for what differs between two calls."""

from __future__ import annotations

from typing import NamedTuple

from agentwatch.actions import shown_target
from agentwatch.comparing import Aspect, Comparison, Match, Row, took_ms
from agentwatch.comparing.reports.steps import aspect_words
from agentwatch.text.safe import SafeText


class Kind(NamedTuple):
    """A kind of difference."""

    sign: str
    """One character, as in the report."""
    word: str
    style: str
    """The name of its style."""


_EQUAL = Kind("=", "", "muted")
_MATCHES = {
    Match.ONLY_A: Kind("-", "only A", "removed"),
    Match.ONLY_B: Kind("+", "only B", "added"),
    Match.REPLACED: Kind("!", "target", "rejected"),
    Match.MOVED: Kind(">", "moved", "accent"),
}
_ASPECTS = {
    Aspect.OUTCOME: Kind("~", "outcome", "rejected"),
    Aspect.VERDICT: Kind("~", "verdict", "rejected"),
    Aspect.EXIT_CODE: Kind("~", "exit", "rejected"),
    Aspect.LINES: Kind("~", "lines", "rejected"),
}
_SLOWER, _FASTER = Kind("~", "slower", "accent"), Kind("~", "faster", "accent")
WORD_COLUMNS = 7
"""The width of the longest word."""


def kind_of(comparison: Comparison, row: Row) -> Kind:
    """Return the most important kind of difference in a row."""
    if row.match in _MATCHES:
        return _MATCHES[row.match]
    found = next((kind for aspect, kind in _ASPECTS.items() if aspect in row.aspects), None)
    if found is not None:
        return found
    if Aspect.DURATION in row.aspects:
        a, b = (None if call is None else took_ms(call) for call in comparison.calls(row))
        return _SLOWER if (a or 0) < (b or 0) else _FASTER
    return _EQUAL


def what_differs(comparison: Comparison, row: Row) -> SafeText:
    """Return all differences in a row, in words: `outcome: succeeded → failed · 1.2 s → 9.0 s`."""
    words = [str(each) for each in aspect_words(comparison, row)]
    match row.match:
        case Match.ONLY_A:
            words = [f"only A has #{row.a}"]
        case Match.ONLY_B:
            words = [f"only B has #{row.b}"]
        case Match.MOVED:
            words = [f"moved from #{row.a} in A to #{row.b} in B", *words]
        case Match.REPLACED:
            targets = [shown_target(call) for call in comparison.calls(row) if call is not None]
            words = [f"another target: {' → '.join(targets)}"]
        case _:
            kind = kind_of(comparison, row)
            return SafeText(f"{kind.word}: {' · '.join(words)}" if words else "the same in both")
    return SafeText(" · ".join(words))
