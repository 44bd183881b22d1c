"""The lines at the top: both runs, their totals, and the differences of the totals."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from textual.content import Content
from textual.widgets import Static

from agentwatch.output.compare.alignment import Match
from agentwatch.output.compare.comparison import Aspect, Comparison, Row, Side, took_ms
from agentwatch.output.compare.reports import FIGURES, SAME, UNKNOWN, aspect_words, difference, named, shown
from agentwatch.screen.panes.header import COLOURS
from agentwatch.screen.terminal.themes import muted
from agentwatch.session.actions import shown_target
from agentwatch.session.events import Outcome
from agentwatch.text.safe import SafeText, columns, cut, fitted, safe_line
from agentwatch.text.signs import MINUS, SIGNS
from agentwatch.text.times import time_of_day

_LABEL = 7
_GAP = 2
_LEAST_ROWS = 16
"""Terminals with fewer rows have no room for the totals."""
_LEAST_FOR_TWO = 60
_FIRST = ("calls", "failed", "duration", "cost", "tokens out", "tokens in", "files changed", "lines added")
"""The figures that are shown first if not all fit."""
_SHORT = {
    "tokens in": "in",
    "tokens out": "out",
    "from cache": "cached",
    "files changed": "files",
    "lines added": "+lines",
    "lines removed": f"{MINUS}lines",
}


class _Column(NamedTuple):
    """A figure of both runs."""

    name: str
    cells: tuple[str, str, str]
    """The figure of A, the figure of B, and the difference."""
    styles: tuple[str, str, str]

    @property
    def width(self) -> int:
        """The width of the widest cell."""
        return max(columns(SafeText(words)) for words in (self.name, *self.cells))


class TotalsHeader(Static):
    """The names of the runs side by side, and a table of the totals as wide as the terminal."""

    def __init__(self, comparison: Comparison) -> None:
        super().__init__(id="totals")
        self._comparison = comparison
        self._drawn: tuple[object, ...] = ()

    def on_mount(self) -> None:
        """Draw the lines in other colours if the theme changes."""
        self.watch(self.app, "theme", self.draw, init=False)

    def draw(self) -> None:
        """Show as many figures as fit."""
        width, dim = self.app.size.width, muted(self.app.current_theme)
        is_short = self.app.size.height < _LEAST_ROWS
        drawn = (width, is_short, self.app.theme)
        if drawn == self._drawn:
            return
        self._drawn = drawn
        lines = [*self._names(width, dim)]
        if not is_short:
            lines += self._table(width, dim)
        self.styles.height = len(lines)
        self.update(Content("\n").join(lines))

    def _names(self, width: int, dim: str) -> Iterator[Content]:
        """Yield the line with both names, or a line for each."""
        sides = (self._comparison.a, self._comparison.b)
        if width < _LEAST_FOR_TWO:
            for letter, side in zip("AB", sides, strict=True):
                yield _name(letter, side, width - 1, dim)
            return
        half = (width - 3) // 2
        yield Content.assemble(
            _name("A", sides[0], half, dim), (" │", dim), _name("B", sides[1], width - half - 3, dim)
        )

    def _table(self, width: int, dim: str) -> Iterator[Content]:
        fitting = _fitting([*_columns(self._comparison)], width - _LABEL - 1)
        heads = [(f"{'':{_LABEL}}", dim)]
        heads += [(f"{' ' * _GAP}{column.name:>{column.width}}", dim) for column in fitting]
        yield Content.assemble(*heads)
        for nth, label in enumerate(("A", "B", f"B {MINUS} A")):
            cells = [(f" {label:<{_LABEL - 1}}", "bold $text-accent" if nth < 2 else dim)]
            for column in fitting:
                words, style = column.cells[nth], column.styles[nth]
                is_dim = words in (SAME, UNKNOWN)
                cells.append((f"{' ' * _GAP}{words:>{column.width}}", dim if is_dim else style))
            yield Content.assemble(*cells)


def _name(letter: str, side: Side, width: int, dim: str) -> Content:
    """Return the name of a run, its agent and its model, its outcome and when it began."""
    session = side.session
    outcome = side.totals.outcome
    words = "" if outcome is None else f"{SIGNS[outcome]} {outcome}"
    began_ms = session.runs[0].began_seen_ms if session.runs else None
    began = "" if began_ms is None else time_of_day(began_ms)
    end = "  ".join(filter(None, (words, began)))
    room = width - 4 - columns(SafeText(end)) - _GAP
    if room < len(side.name) and began:
        end, room = words, width - 4 - columns(SafeText(words)) - _GAP
    name = fitted(cut(safe_line(named(side)), max(room, 1)), max(room, 1))
    shown_name, rest = name[: len(safe_line(side.name))], name[len(safe_line(side.name)) :]
    return Content.assemble(
        (f" {letter}  ", "bold $text-accent"),
        (shown_name, "bold"),
        (rest, dim),
        (" " * _GAP, ""),
        (end[: len(words)], COLOURS[outcome or Outcome.UNFINISHED]),
        (end[len(words) :], dim),
    )


def _columns(comparison: Comparison) -> Iterator[_Column]:
    a, b = comparison.a.totals, comparison.b.totals
    for figure in FIGURES:
        values = figure.value(a), figure.value(b)
        if any(values) or figure.name in _FIRST:
            more = difference(*values, figure)
            more = more if more == UNKNOWN else more.replace("-", MINUS)
            cells = (shown(values[0], figure), shown(values[1], figure), more)
            yield _Column(_SHORT.get(figure.name, figure.name), cells, ("", "", "$text-accent"))
    states = [UNKNOWN if totals.tests is None else str(totals.tests) for totals in (a, b)]
    styles = [{"green": "$text-success", "red": "$text-error"}.get(state, "") for state in states]
    same = UNKNOWN if UNKNOWN in states else SAME if states[0] == states[1] else ""
    yield _Column("tests", (states[0], states[1], same), (styles[0], styles[1], ""))


def _fitting(found: list[_Column], room: int) -> list[_Column]:
    """Return the columns that fit, in their order; the most important columns are chosen first."""
    names = [_SHORT.get(name, name) for name in _FIRST]
    order = [*names[:3], "tests", *names[3:]]
    ranked = sorted(
        found, key=lambda column: order.index(column.name) if column.name in order else len(order)
    )
    taken = []
    for column in ranked:
        if column.width + _GAP <= room:
            room -= column.width + _GAP
            taken.append(column)
    return [column for column in found if column in taken]


# The signs and words for what differs between two calls.


class Kind(NamedTuple):
    """A kind of difference."""

    sign: str
    """One character, as in the report."""
    word: str
    style: str
    """The name of its style."""


_EQUAL = Kind("=", "", "muted")
_MATCHES = {
    Match.ONLY_A: Kind("-", "only A", "accent"),
    Match.ONLY_B: Kind("+", "only B", "accent"),
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
    words = [str(each) for each in aspect_words(comparison, row, MINUS)]
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
