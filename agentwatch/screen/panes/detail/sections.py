"""Sections of a detail: lines that are fitted to a width immediately, and styled only when they are drawn."""

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from agentwatch.screen.widgets.folding import CONTINUED, Run, Window, fits, folds, styled, widest, window
from agentwatch.session.blocks import Block
from agentwatch.text.safe import SafeText, columns
from agentwatch.text.signs import SIGNS

StyleOf = Callable[[str], Style]
_LEAST_ROOM = 4
_LEAST_WITH_SIGN = 8


class Stretch(NamedTuple):
    line: int
    first: int
    end: int
    at: int


class Section:
    gutter = 0
    """The width of the gutter before each line, for its number or sign."""
    block: Block | None = None
    field: str | None = None
    """The field of the block that the section shows; None for the whole block."""
    has_room = True
    is_prose = True
    """Whether long lines are always folded; those of code and output are cut unless the user folds them."""
    left = 0
    """The first column that is in view of lines that are cut."""

    def __init__(self, lines: Sequence[SafeText], style_name: str = "plain") -> None:
        self.lines = lines
        self.style_name = style_name
        self._room = 1
        self._is_cut = False
        self._tops: list[int] | None = None
        """The row at which each line begins; None while every line takes one row."""

    def lay_out(self, width: int, *, wraps: bool = True) -> int:
        """Fold or cut the lines; return the number of rows. `wraps` is for lines of code and output."""
        self.has_room = width - self.gutter >= _LEAST_ROOM
        self._room = max(width - self.gutter if self.has_room else width, 1)
        self._tops, self._is_cut = None, not (wraps or self.is_prose)
        lines, room = self.lines, self._room
        if self._is_cut or all(fits(line, room) for line in lines):
            return len(lines)
        tops, rows = [], 0
        for line in lines:
            tops.append(rows)
            rows += len(self._folds(line))
        self._tops = tops
        return rows

    def _folds(self, line: SafeText) -> list[int]:
        """Return the offsets at which the pieces of a line begin; those of code leave room for their sign."""
        if fits(line, self._room):
            return [0]
        return folds(line, max(self._room - self._sign_columns, 1))

    @property
    def _sign_columns(self) -> int:
        """The columns of the sign before a piece that continues a line of code, if no gutter has it."""
        return 0 if self.is_prose or self.gutter or self._room < _LEAST_WITH_SIGN else len(CONTINUED)

    def hidden_columns(self) -> int:
        """Return how many columns of the longest line are beyond the right edge; 0 if lines are folded."""
        return max(widest(self.lines) - self._room, 0) if self._is_cut else 0

    def left_for(self, number: int, start: int, end: int) -> int:
        """Return the column at which the view must begin to show `start` to `end` of a line."""
        if not self._is_cut:
            return self.left
        text, room = self.lines[number], self._room
        first, last = columns(SafeText(text[:start])), columns(SafeText(text[:end]))
        for left in (self.left, 0):
            if left <= first and last < left + room:
                return left
        return max(first - room // 3, 0)

    def line_at(self, row: int) -> int:
        return row if self._tops is None else bisect_right(self._tops, row) - 1

    def row_of(self, number: int, column: int) -> int:
        if self._tops is None:
            return number
        return self._tops[number] + bisect_right(self._folds(self.lines[number]), column) - 1

    def stretches(self, row: int, style_of: StyleOf) -> Iterator[Stretch]:
        number, nth = self._piece_at(row)
        at = sum(len(segment.text) for segment in self.lead(number, nth, style_of))
        pad, first, end, _ = self._window(number, nth)
        yield Stretch(number, first, end, at + pad)

    def row(self, row: int, style_of: StyleOf) -> Strip:
        number, nth = self._piece_at(row)
        return Strip([*self.lead(number, nth, style_of), *self.piece(number, nth, style_of)])

    def lead(self, number: int, nth: int, style_of: StyleOf) -> Iterator[Segment]:
        """Yield the gutter before the `nth` piece of a line, if the width leaves room for it."""
        if nth and not self.is_prose and (self.has_room if self.gutter else self._sign_columns):
            style = self.style(number, style_of) + style_of("muted")
            yield Segment(f"{CONTINUED:>{max(self.gutter, len(CONTINUED))}}", style)
        elif self.gutter and self.has_room:
            blanks = Segment(" " * self.gutter, self.style(number, style_of))
            yield blanks if nth else self.mark(number, style_of)

    def mark(self, number: int, style_of: StyleOf) -> Segment:
        del number
        return Segment(" " * self.gutter, style_of(self.style_name))

    def piece(self, number: int, nth: int, style_of: StyleOf) -> list[Segment]:
        """Return the styled `nth` piece of a folded line, or the part of a cut line that is in view."""
        return self.shown_part(number, self._window(number, nth), style_of)

    def shown_part(self, number: int, shown: Window, style_of: StyleOf) -> list[Segment]:
        style = self.style(number, style_of)
        runs = self.runs(number, style_of)
        segments = styled(self.lines[number], shown.first, shown.end, style, runs)
        if shown.pad:
            segments.insert(0, Segment(" ", style))
        if shown.is_cut:
            segments.append(Segment("…", style + style_of("muted")))
        return segments

    def style(self, number: int, style_of: StyleOf) -> Style:
        del number
        return style_of(self.style_name)

    def runs(self, number: int, style_of: StyleOf) -> list[Run]:
        """Return the parts of a line that have their own style, in order."""
        del number, style_of
        return []

    def text(self) -> str:
        return "\n".join(self.lines)

    def _piece_at(self, row: int) -> tuple[int, int]:
        number = self.line_at(row)
        return number, 0 if self._tops is None else row - self._tops[number]

    def _window(self, number: int, nth: int) -> Window:
        text = self.lines[number]
        if self._is_cut:
            return window(text, self.left, self._room)
        if self._tops is None or fits(text, self._room):
            return Window(0, 0, len(text), False)
        starts = [*self._folds(text), len(text)]
        return Window(0, starts[nth], starts[nth + 1], False)


class Output(Section):
    """Lines of a program or of code: a long line is cut, unless the user folds it."""

    is_prose = False


class Heading(Section):
    """The title of a block, after a blank line unless it is the first row."""

    def __init__(self, title: SafeText, *, is_first: bool = False) -> None:
        blank = [] if is_first else [SafeText("")]
        super().__init__([*blank, SafeText(f"── {title}")], "heading")


class Signed(Section):
    """Lines whose first sign selects their style: the items of to-do lists and the steps of subagents."""

    _STYLES = {
        **{sign: outcome for outcome, sign in SIGNS.items()},
        "!": "asks",
        "~": "reasoning",
        "›": "accent",
        "○": "muted",
    }
    _WHOLE = ("reasoning", "asks")

    def runs(self, number: int, style_of: StyleOf) -> list[Run]:
        """Return the style of the sign; a line of reasoning, or of what asks, is styled as a whole."""
        line = self.lines[number]
        name = self._STYLES.get(line[:1])
        return [] if name is None else [(0, len(line) if name in self._WHOLE else 1, style_of(name))]


class Matches(Output):
    """Lines found in files, in ripgrep's format: the file name, followed by line numbers and lines."""

    def runs(self, number: int, style_of: StyleOf) -> list[Run]:
        line = self.lines[number]
        digits = len(line) - len(line.lstrip("0123456789"))
        if line[digits : digits + 1] == ":":
            return [(0, digits + 1, style_of("accent"))]
        if digits and line[digits : digits + 1] == "-":
            return [(0, len(line), style_of("muted"))]
        return [(0, len(line), style_of("strong"))]


def number_width(most: int) -> int:
    return len(str(max(most, 0)))
