"""The rows of the detail of a pair of calls."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import ClassVar, NamedTuple

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.screen import ModalScreen

from agentwatch.analysis.block_text import bounded, named_places, whole_text
from agentwatch.analysis.silence import call_clock
from agentwatch.output.compare.alignment import matching
from agentwatch.output.compare.comparison import Comparison, Row, Side
from agentwatch.output.compare.reports import UNKNOWN
from agentwatch.screen.keys import bindings
from agentwatch.screen.screens.compare.calls_view import CallsView
from agentwatch.screen.widgets.line_view import PopupLines, Spans
from agentwatch.session.actions import change_size, shown_note, shown_tool
from agentwatch.session.call import Call
from agentwatch.text.safe import SafeText, columns, cut, exact_line, fitted, wrapped
from agentwatch.text.signs import MINUS, SIGNS
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
    outcome, note = str(call.outcome), shown_note(call)
    found = {
        "call": f"{letter} #{call.number}",
        "tool": shown_tool(call.tool),
        "target": call.target or UNKNOWN,
        "outcome": note if note.startswith(outcome) else f"{outcome}: {note}" if note else outcome,
        "exit code": "" if call.exit_code is None else str(call.exit_code),
        "error": call.error if call.error and "\n" in call.error.strip() else "",
        "verdict": "" if verdict is None else verdict.words,
        "lines": change_size(call, MINUS) or "",
        "duration": call_clock(call, None),
        "started": time_of_day(call.started_ms),
    }
    return {name: exact_line(words) for name, words in found.items() if words}


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


# The pane of a pair of calls, side by side or in one column.

_LABEL = 11
_LEAST_FOR_TWO = 50
_MOST_WRAPPED = 8
"""The largest number of lines of a fact."""
_OWN = ("call", "started")
"""Facts that differ in all pairs."""


class PairView(PopupLines):
    """The facts of both calls, then their texts; what differs has a sign and a colour."""

    def __init__(self) -> None:
        super().__init__("Both calls", self._laid_out, id="pair")
        self._rows: Sequence[Heading | Pair] = ()
        self._is_alone = False

    def show_rows(self, rows: Sequence[Heading | Pair], *, is_alone: bool) -> None:
        """Show the rows of a pair, from the first.

        Args:
            rows: The rows.
            is_alone: Whether only one of the runs has the call, so that it differs from nothing.
        """
        self._rows, self._is_alone = rows, is_alone
        self.show_from_top()

    def at_end(self) -> bool:
        """Return False: the end is never followed."""
        return False

    def _laid_out(self, width: int) -> Iterator[Spans]:
        return chain.from_iterable(self._lines_of(row, width) for row in self._rows)

    def _lines_of(self, row: Heading | Pair, width: int) -> Iterator[Spans]:
        if isinstance(row, Heading):
            yield []
            yield [(cut(SafeText(f"── {row.words}"), width), "heading")]
        elif not self._is_alone and width >= _LEAST_FOR_TWO:
            yield from _side_by_side(row, width)
        elif self._is_alone or not row.differs:
            gutter = "" if self._is_alone else "  "
            style = "plain" if self._is_alone or row.label else "muted"
            yield from _one(row, row.b if row.a is None else row.a, gutter, style, width)
        else:
            yield from _one(row, row.a, "A ", "plain", width)
            yield from _one(row, row.b, "B ", "plain", width)


def _side_by_side(row: Pair, width: int) -> Iterator[Spans]:
    label = _LABEL if row.label else 0
    half = (width - label - 3) // 2
    a, b = (_cells(words, half, folds=bool(label)) for words in (row.a, row.b))
    sign, style = _sign(row)
    for nth in range(max(len(a), len(b), 1)):
        name = fitted(row.label if nth == 0 else SafeText(""), label)
        yield [
            (name, "muted"),
            _half(row, a, nth, half),
            (SafeText(f" {sign if nth == 0 else ' '} "), style),
            _half(row, b, nth, half),
        ]


def _half(row: Pair, cells: list[SafeText], nth: int, width: int) -> tuple[SafeText, str]:
    words = fitted(cells[nth] if nth < len(cells) else SafeText(""), width)
    is_marked = row.differs and row.label not in _OWN
    if is_marked and row.label:
        return words, _tone(row, words) or "strong"
    return words, _tone(row, words) or ("plain" if is_marked or row.label else "muted")


def _tone(row: Pair, words: SafeText) -> str:
    """Return the style of an outcome; empty for another fact, and for a call that succeeded."""
    outcome = words.split(":")[0].strip()
    return outcome if row.label == "outcome" and outcome in SIGNS and outcome != "succeeded" else ""


def _one(row: Pair, words: SafeText | None, gutter: str, style: str, width: int) -> Iterator[Spans]:
    """Yield a fact or a line of a text of one call, over the whole width, after the letter of its run."""
    if words is None:
        return
    label = _LABEL if row.label else 0
    for nth, cell in enumerate(_cells(words, width - label - len(gutter), folds=bool(label))):
        name = fitted(row.label if nth == 0 else SafeText(""), label)
        yield [(name, "muted"), (SafeText(gutter), "muted"), (cell, _tone(row, words) or style)]


def _cells(words: SafeText | None, width: int, *, folds: bool) -> list[SafeText]:
    """Return words as lines of at most `width` columns; those of a text are cut."""
    if words is None:
        return []
    if not folds or columns(words) <= width:
        return [cut(words, width)]
    return wrapped(words, width)[:_MOST_WRAPPED]


def _sign(row: Pair) -> tuple[str, str]:
    if not row.differs or row.label in _OWN:
        return " ", "plain"
    if row.a is None:
        return "+", "accent"
    return ("-", "accent") if row.b is None else ("~", "rejected")


# The screen of a pair of calls, over the comparison.


class PairScreen(ModalScreen[None]):
    """Both calls of the selected line; the keys for the next difference show its calls."""

    VERTICAL_BREAKPOINTS = [(0, "-short"), (16, "-tall")]
    BINDINGS: ClassVar[list[BindingType]] = [
        *bindings("differences"),
        Binding("escape,q,enter", "dismiss", "Back", show=False),
    ]

    def __init__(self, comparison: Comparison, calls: CallsView) -> None:
        """Create the screen for the line that is selected in a list."""
        super().__init__(id="pair-screen")
        self._comparison, self._calls = comparison, calls
        self._view = PairView()

    def compose(self) -> ComposeResult:
        """Lay out the pane."""
        yield self._view

    def on_mount(self) -> None:
        """Show the selected calls."""
        self._view.border_subtitle = Content("n N next, previous difference · esc back")
        self._show()

    def action_step(self, direction: int) -> None:
        """Show the calls of the next (1) or previous (-1) difference."""
        self._calls.step_with_notice(direction)
        self._show()

    def _show(self) -> None:
        row = self._calls.chosen
        if row is None:
            return
        words = SafeText(" · ".join(filter(None, (self._calls.position(), self._calls.words()))))
        room = max(self.app.size.width - 20, 20)
        self._view.border_title = Content(cut(words, room) if columns(words) > room else words)
        self._view.show_rows(pair_rows(self._comparison, row), is_alone=row.a is None or row.b is None)
