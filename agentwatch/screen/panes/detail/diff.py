"""Shows an edit as a diff, unified or side by side, with syntax highlighting."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import groupby

from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from agentwatch.analysis.diff_lines import DiffLine, side_by_side
from agentwatch.screen.panes.detail.sections import Output, Stretch, StyleOf, number_width
from agentwatch.screen.widgets.folding import CONTINUED, Run, Window, fits, folds, window
from agentwatch.screen.widgets.syntax import CodeStyle, SyntaxColours

SPLIT_COLUMNS = 100
"""The least width in which the old and the new lines are side by side."""
_ONE_NUMBER_COLUMNS = 50
_CHANGED = {"+": "added", "-": "removed"}
_STYLES = _CHANGED | {"@": "hunk", "\\": "muted", "f": "heading"}


class Diff(Output):
    """The lines of a diff, numbered. Changed ones have a background, so that text keeps its colours."""

    def __init__(self, lines: Sequence[DiffLine], code: CodeStyle) -> None:
        super().__init__([line.text for line in lines])
        self._diff = lines
        self._colours = SyntaxColours(self.lines, code, self._sides)
        self._pairs: list[tuple[int | None, int | None]] = []
        """The old and the new line in each row of pairs; a header is both."""
        self._pair_of: dict[int, int] = {}
        """The pair in which each line is shown, for lines that are shown side by side."""
        self._pair_tops: list[int] | None = None
        self._is_split = False
        self._has_one_number = False
        most = max((max(line.old or 0, line.new or 0) for line in lines), default=0)
        self._digits = number_width(most) if most else 0

    def lay_out(self, width: int, *, wraps: bool = True) -> int:
        self._is_split = width >= SPLIT_COLUMNS and any(line.sign == "-" for line in self._diff)
        self._has_one_number = width < _ONE_NUMBER_COLUMNS
        numbers = (
            0 if not self._digits else self._digits + 1 if self._has_one_number else 2 * self._digits + 2
        )
        self.gutter = numbers + 2
        if not self._is_split:
            return super().lay_out(width, wraps=wraps)
        self._is_cut = not wraps
        self._side = (width - 1) // 2
        self._room = self._side - (self._digits + 1 if self._digits else 0) - 2
        return self._lay_out_pairs()

    def row_of(self, number: int, column: int) -> int:
        """Return the row of a character; a line that is not shown is located at the line before it."""
        if not self._is_split:
            return super().row_of(number, column)
        while number not in self._pair_of:
            number, column = number - 1, 0
        index = self._pair_of[number]
        top = index if self._pair_tops is None else self._pair_tops[index]
        return top if self._is_cut else top + bisect_right(self._bounds(number)[:-1], column) - 1

    def stretches(self, row: int, style_of: StyleOf) -> Iterator[Stretch]:
        if not self._is_split:
            yield from super().stretches(row, style_of)
            return
        left, right, nth = self._pair_at(row)
        halves = [(left, 0)]
        if left is None or not self._is_head(left):
            margin = self._side - self._room
            begin = sum(len(segment.text) for segment in self._half(left, nth, style_of, True)) + 1
            halves = [(left, margin), (right, begin + margin)]
        for number, at in halves:
            shown = None if number is None else self._part(number, nth)
            if number is not None and shown is not None:
                yield Stretch(number, shown.first, shown.end, at + shown.pad)

    def row(self, row: int, style_of: StyleOf) -> Strip:
        if not self._is_split:
            return super().row(row, style_of)
        left, right, nth = self._pair_at(row)
        if left is not None and self._is_head(left):
            shown = self._part(left, nth)
            return Strip([] if shown is None else self.shown_part(left, shown, style_of))
        rule = Segment("│", style_of("rule"))
        return Strip([*self._half(left, nth, style_of, True), rule, *self._half(right, nth, style_of, False)])

    def mark(self, number: int, style_of: StyleOf) -> Segment:
        line = self._diff[number]
        style = self._sign_style(line, style_of)
        sign = line.sign if line.sign in " +-" else " "
        if not self._digits:
            return Segment(f"{sign} ", style)
        digits = self._digits
        shown = [line.new or line.old] if self._has_one_number else [line.old, line.new]
        numbers = "".join(f"{'' if number is None else number:>{digits}} " for number in shown)
        return Segment(f"{numbers}{sign} ", style)

    def lead(self, number: int, nth: int, style_of: StyleOf) -> Iterator[Segment]:
        if self._diff[number].sign in "+- ":
            yield from super().lead(number, nth, style_of)

    def style(self, number: int, style_of: StyleOf) -> Style:
        """Return the style of a line; a changed line with syntax colours gets only the background colour."""
        sign = self._diff[number].sign
        own = style_of(_STYLES.get(sign, "plain"))
        if sign in _CHANGED and self._colours.is_known:
            return style_of("plain") + Style(bgcolor=own.bgcolor)
        return own

    def runs(self, number: int, style_of: StyleOf) -> list[Run]:
        if self._diff[number].sign not in "+- ":
            return []
        return self._colours.runs(number, self.style(number, style_of))

    def piece(self, number: int, nth: int, style_of: StyleOf) -> list[Segment]:
        """Return a piece of a line; a changed line is padded so that its background fills the row."""
        segments = super().piece(number, nth, style_of)
        if self._diff[number].sign in "+-":
            taken = sum(segment.cell_length for segment in segments)
            segments.append(Segment(" " * (self._room - taken), self.style(number, style_of)))
        return segments

    def text(self) -> str:
        return "\n".join(f"{line.sign if line.sign in ' +-' else ''}{line.text}" for line in self._diff)

    def _lay_out_pairs(self) -> int:
        if not self._pairs:
            self._pairs = list(side_by_side(self._diff))
            self._pair_of = {
                number: nth for nth, pair in enumerate(self._pairs) for number in pair if number is not None
            }
        tops, rows = [], 0
        for pair in self._pairs:
            tops.append(rows)
            rows += max(1 if number is None else len(self._bounds(number)) - 1 for number in pair)
        self._pair_tops = tops if rows > len(tops) else None
        return rows

    def _pair_at(self, row: int) -> tuple[int | None, int | None, int]:
        """Return the old and the new line in a row, and which piece of them the row shows."""
        index = row if self._pair_tops is None else bisect_right(self._pair_tops, row) - 1
        return *self._pairs[index], 0 if self._pair_tops is None else row - self._pair_tops[index]

    def _is_head(self, number: int) -> bool:
        return self._diff[number].sign in "@f\\"

    def _bounds(self, number: int) -> list[int]:
        """Return the offsets at which the pieces of a line begin side by side, and the line's end."""
        text, room = self.lines[number], self._room_of(number)
        return [0, len(text)] if self._is_cut or fits(text, room) else [*folds(text, room), len(text)]

    def _room_of(self, number: int) -> int:
        return 2 * self._side + 1 if self._is_head(number) else self._room

    def _part(self, number: int, nth: int) -> Window | None:
        """Return the `nth` piece of a line side by side, or what is in view of it; None after its end."""
        if self._is_cut:
            return window(self.lines[number], self.left, self._room_of(number))
        bounds = self._bounds(number)
        return Window(0, bounds[nth], bounds[nth + 1], False) if nth + 1 < len(bounds) else None

    def _half(self, number: int | None, nth: int, style_of: StyleOf, is_old: bool) -> Iterator[Segment]:
        """Yield one side of a row, padded to its full width."""
        if number is None:
            yield Segment(" " * self._side)
            return
        line = self._diff[number]
        part = self._part(number, nth)
        style = self.style(number, style_of)
        line_number = line.old if is_old else line.new
        shown = (
            f"{'' if line_number is None or nth else line_number:>{self._digits}} " if self._digits else ""
        )
        sign = f"{line.sign} " if not nth else CONTINUED if part is not None else "  "
        yield Segment(f"{shown}{sign}", self._sign_style(line, style_of))
        segments = [] if part is None else self.shown_part(number, part, style_of)
        yield from segments
        yield Segment(" " * (self._room - sum(segment.cell_length for segment in segments)), style)

    def _sides(self, window: range) -> Iterator[Sequence[int]]:
        """Yield groups of line numbers that form one text: of each hunk, the old lines, then the new ones."""
        for is_hunk, hunk in groupby(window, lambda number: self._diff[number].sign in "+- "):
            if is_hunk:
                numbers = list(hunk)
                for side in ("- ", "+ "):
                    yield [number for number in numbers if self._diff[number].sign in side]

    @staticmethod
    def _sign_style(line: DiffLine, style_of: StyleOf) -> Style:
        return style_of(_CHANGED.get(line.sign, "muted"))
