"""The pane of a pair of calls, side by side or in one column."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from textual.strip import Strip

from agentwatch.screen.comparing.pair.rows import Heading, Pair
from agentwatch.screen.lines.line_view import LineView, Spans
from agentwatch.text.safe import SafeText, columns, cut, fitted, wrapped

_LABEL = 11
_LEAST_FOR_TWO = 50
_MOST_WRAPPED = 8
"""The largest number of lines of a fact."""
_OWN = ("call", "started")
"""Facts that differ in all pairs."""


class PairView(LineView):
    """The facts of both calls, then their texts; what differs has a sign and a colour."""

    def __init__(self) -> None:
        super().__init__("Both calls", id="pair")
        self._rows: Sequence[Heading | Pair] = ()
        self._is_alone = False
        self._lines: list[Spans] = []

    def show_rows(self, rows: Sequence[Heading | Pair], *, is_alone: bool) -> None:
        """Show the rows of a pair, from the first.

        Args:
            rows: The rows.
            is_alone: Whether only one of the runs has the call, so that it differs from nothing.
        """
        self._rows, self._is_alone = rows, is_alone
        self._lay_out()
        self.settle_at(0)

    def line_count(self) -> int:
        """Return the number of lines."""
        return len(self._lines)

    def draw(self, y: int, width: int) -> Strip:
        """Return a line."""
        del width
        return self.strip_of(self._lines[y])

    def at_end(self) -> bool:
        """Return False: the end is never followed."""
        return False

    def show_below(self) -> None:
        """Do nothing: new lines are not counted."""

    def on_mount(self) -> None:
        """Start at the top."""
        self.following = False

    def on_resize(self) -> None:
        """Lay the rows out for the new width."""
        self._lay_out()
        super().on_resize()

    def _lay_out(self) -> None:
        width = self.scrollable_content_region.width
        if width > 0:
            self._lines = [line for row in self._rows for line in self._lines_of(row, width)]
            self.painter.forget()
            self.show_lines()

    def _lines_of(self, row: Heading | Pair, width: int) -> Iterator[Spans]:
        if isinstance(row, Heading):
            yield []
            yield [(cut(SafeText(f"── {row.words}"), width), "heading")]
        elif not self._is_alone and width >= _LEAST_FOR_TWO:
            yield from _side_by_side(row, width)
        elif self._is_alone or not row.differs:
            yield from _one(row, row.b if row.a is None else row.a, "", "plain", width)
        else:
            yield from _one(row, row.a, "- ", "removed", width)
            yield from _one(row, row.b, "+ ", "added", width)


def _side_by_side(row: Pair, width: int) -> Iterator[Spans]:
    label = _LABEL if row.label else 0
    half = (width - label - 3) // 2
    a, b = (_cells(words, half, folds=bool(label)) for words in (row.a, row.b))
    sign, style = _sign(row)
    for nth in range(max(len(a), len(b), 1)):
        name = fitted(row.label if nth == 0 else SafeText(""), label)
        yield [
            (name, "muted"),
            _half(row, a, nth, half, "removed"),
            (SafeText(f" {sign if nth == 0 else ' '} "), style),
            _half(row, b, nth, half, "added"),
        ]


def _half(row: Pair, cells: list[SafeText], nth: int, width: int, style: str) -> tuple[SafeText, str]:
    is_there = nth < len(cells)
    words = fitted(cells[nth] if is_there else SafeText(""), width)
    if row.label:  # a value is no line that was removed or added
        style = "strong"
    is_marked = row.differs and is_there and row.label not in _OWN
    return words, style if is_marked else "plain" if row.label else "muted"


def _one(row: Pair, words: SafeText | None, sign: str, style: str, width: int) -> Iterator[Spans]:
    """Yield a fact or a line of a text of one call, over the whole width."""
    label = _LABEL if row.label else 0
    for nth, cell in enumerate(_cells(words, width - label - len(sign), folds=bool(label))):
        name = fitted(row.label if nth == 0 else SafeText(""), label)
        yield [(name, "muted"), (SafeText(f"{sign}{cell}"), style)]


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
        return "+", "succeeded"
    return ("-", "failed") if row.b is None else ("~", "rejected")
