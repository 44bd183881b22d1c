"""The rows of the detail of a pair of calls."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from agentwatch.actions import change_size, outcome_note
from agentwatch.analysis.block_text import bounded, named_places, whole_text
from agentwatch.analysis.silence import call_clock
from agentwatch.comparing import Comparison, Row, Side
from agentwatch.comparing.matching import matching
from agentwatch.comparing.reports.figures import UNKNOWN
from agentwatch.session import Call
from agentwatch.text.safe import SafeText, safe_line
from agentwatch.text.times import time_of_day

MOST_LINES = 200
"""The last lines of longer arguments and results are shown."""
_MOST_CHARACTERS = 1 << 15
_MOST_STEPS = 200_000
"""Comparisons of lines: 20 ms."""


class Heading(NamedTuple):
    """A line above the rows of a part."""

    words: SafeText


class Pair(NamedTuple):
    """A fact, or a line of a text, of each call; None if a call does not have it."""

    label: SafeText
    """The name of a fact; empty for a line of a text."""
    a: SafeText | None
    b: SafeText | None

    @property
    def differs(self) -> bool:
        """Whether the calls differ here."""
        return self.a != self.b


def pair_rows(comparison: Comparison, row: Row) -> list[Heading | Pair]:
    """Return the rows about the calls of a row; texts that differ come first.

    The lines of the recordings are read again.
    """
    sides = (comparison.a, comparison.b)
    calls = comparison.calls(row)
    facts = [
        {} if call is None else _facts(letter, side, call)
        for letter, side, call in zip("AB", sides, calls, strict=True)
    ]
    names = dict.fromkeys((*facts[0], *facts[1]))
    rows: list[Heading | Pair] = [
        Pair(SafeText(name), facts[0].get(name), facts[1].get(name)) for name in names
    ]
    texts = [{} if call is None else _texts(side, call) for side, call in zip(sides, calls, strict=True)]
    names = dict.fromkeys((*texts[0], *texts[1]))
    pairs = [(name, texts[0].get(name, ""), texts[1].get(name, "")) for name in names]
    for name, a, b in sorted(pairs, key=lambda pair: pair[1] == pair[2]):
        if a or b:
            rows += _text_rows(name, a, b)
    return rows


def _facts(letter: str, side: Side, call: Call) -> dict[str, SafeText]:
    verdict = side.verdicts.get(call.number)
    outcome, note = str(call.outcome), outcome_note(call)
    found = {
        "call": f"{letter} #{call.number}",
        "tool": call.tool,
        "target": call.target or UNKNOWN,
        "outcome": note if note.startswith(outcome) else f"{outcome}: {note}" if note else outcome,
        "exit code": "" if call.exit_code is None else str(call.exit_code),
        "error": call.error if call.error and "\n" in call.error.strip() else "",
        "verdict": "" if verdict is None else verdict.words,
        "lines": change_size(call) or "",
        "duration": call_clock(call, None),
        "started": time_of_day(call.started_ms),
    }
    return {name: safe_line(words) for name, words in found.items() if words}


def _texts(side: Side, call: Call) -> dict[str, str]:
    """Return the arguments and the result of a call as texts."""
    return {
        name: "\n".join(whole_text(block) for block in side.feed.blocks(place, call.call_id))
        for name, place in named_places(call)
    }


def _text_rows(name: str, a: str, b: str) -> Iterator[Heading | Pair]:
    first, second = _end(a), _end(b)
    is_cut = len(first) < a.count("\n") or len(second) < b.count("\n")
    words = f"{name}, the end" if is_cut else name
    yield Heading(SafeText(f"{words}: the same in both" if a == b else words))
    next_a = next_b = 0
    pairs = matching(first, second, _MOST_STEPS).pairs
    for at, other in (*pairs, (len(first), len(second))):
        for nth in range(max(at - next_a, other - next_b)):
            yield Pair(
                SafeText(""),
                first[next_a + nth] if next_a + nth < at else None,
                second[next_b + nth] if next_b + nth < other else None,
            )
        if at < len(first):
            yield Pair(SafeText(""), first[at], second[other])
        next_a, next_b = at + 1, other + 1


def _end(text: str) -> list[SafeText]:
    """Return the last lines of a text."""
    last = text[-_MOST_CHARACTERS:].rstrip("\n").split("\n")[-MOST_LINES:] if text else []
    return bounded("\n".join(last), MOST_LINES)[0] if last else []
