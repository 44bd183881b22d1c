"""Sections of a detail: lines that are folded to a width at once, drawn when they are looked at.

A section knows its height at a width from the lengths of its lines; the looks of a line are asked for when
it is drawn.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from agentwatch.blocks import Block
from agentwatch.safe_text import SafeText, fitting, safe_text

StyleOf = Callable[[str], Style]
"""Gives the style of a look by its name."""
Run = tuple[int, int, Style]
"""The characters from one position to another, and the style that they have."""

_MOST_LINE = 20_000
_LEAST_ROOM = 4


class Stretch(NamedTuple):
    """What a row shows of a line."""

    line: int
    first: int
    """The first of the line's characters."""
    end: int
    """The character behind the last."""
    at: int
    """At which character of the row it begins."""


class Section:
    """Lines of one look."""

    gutter = 0
    """How many columns stand before each line, for its number or sign."""
    block: Block | None = None
    """The block of a call that this section shows, if any."""
    has_room = True
    """Whether the gutter fits the width."""

    def __init__(self, lines: Sequence[SafeText], style_name: str = "plain") -> None:
        self.lines = lines
        self.style_name = style_name
        self._room = 1
        self._tops: list[int] | None = None
        """The row at which each line begins; None while each takes one row."""

    def lay_out(self, width: int) -> int:
        """Fold the lines to a width; return how many rows they take."""
        self.has_room = width - self.gutter >= _LEAST_ROOM
        self._room = max(width - self.gutter if self.has_room else width, 1)
        self._tops = None
        lines, room = self.lines, self._room
        if all(fits(line, room) for line in lines):
            return len(lines)
        tops, rows = [], 0
        for line in lines:
            tops.append(rows)
            rows += 1 if fits(line, room) else len(folds(line, room))
        self._tops = tops
        return rows

    def line_at(self, row: int) -> int:
        """Return which line a row is of."""
        return row if self._tops is None else bisect_right(self._tops, row) - 1

    def row_of(self, number: int, column: int) -> int:
        """Return the row in which a character of a line stands."""
        if self._tops is None:
            return number
        return self._tops[number] + bisect_right(folds(self.lines[number], self._room), column) - 1

    def stretches(self, row: int, style_of: StyleOf) -> Iterator[Stretch]:
        """Yield what of which lines stands in a row, from left to right."""
        number, nth = self._piece_at(row)
        at = sum(len(segment.text) for segment in self.lead(number, nth, style_of))
        yield Stretch(number, *self._stretch(number, nth), at)

    def row(self, row: int, style_of: StyleOf) -> Strip:
        """Return one row."""
        number, nth = self._piece_at(row)
        return Strip([*self.lead(number, nth, style_of), *self.piece(number, nth, style_of)])

    def lead(self, number: int, nth: int, style_of: StyleOf) -> Iterator[Segment]:
        """Yield what stands before the `nth` piece of a line: its gutter, where there is room for it."""
        if self.gutter and self.has_room:
            yield (
                self.mark(number, style_of)
                if nth == 0
                else Segment(" " * self.gutter, self.style(number, style_of))
            )

    def mark(self, number: int, style_of: StyleOf) -> Segment:
        """Return a line's gutter."""
        del number
        return Segment(" " * self.gutter, style_of(self.style_name))

    def piece(self, number: int, nth: int, style_of: StyleOf) -> list[Segment]:
        """Return the `nth` piece of a folded line in its looks."""
        start, end = self._stretch(number, nth)
        return styled(
            self.lines[number], start, end, self.style(number, style_of), self.runs(number, style_of)
        )

    def style(self, number: int, style_of: StyleOf) -> Style:
        """Return the look of a whole line."""
        del number
        return style_of(self.style_name)

    def runs(self, number: int, style_of: StyleOf) -> list[Run]:
        """Return what in a line has a style of its own, in order."""
        del number, style_of
        return []

    def text(self) -> str:
        """Return the lines as they are copied."""
        return "\n".join(self.lines)

    def _piece_at(self, row: int) -> tuple[int, int]:
        """Return which line a row is of, and which piece of it."""
        number = self.line_at(row)
        return number, 0 if self._tops is None else row - self._tops[number]

    def _stretch(self, number: int, nth: int) -> tuple[int, int]:
        text = self.lines[number]
        if self._tops is None or fits(text, self._room):
            return 0, len(text)
        starts = [*folds(text, self._room), len(text)]
        return starts[nth], starts[nth + 1]


class Heading(Section):
    """The title of a piece, after a blank line."""

    def __init__(self, title: SafeText) -> None:
        super().__init__([SafeText(""), SafeText(f"── {title}")], "heading")


class Signed(Section):
    """Lines that begin with a sign, which tells their look; lists of to-dos and of a subagent's steps."""

    _STYLES = {
        "✓": "succeeded",
        "✗": "failed",
        "⊘": "rejected",
        "◌": "unfinished",
        "◐": "running",
        "~": "reasoning",
        "›": "accent",
        "○": "muted",
    }

    def __init__(self, lines: Sequence[SafeText]) -> None:
        super().__init__(lines)

    def runs(self, number: int, style_of: StyleOf) -> list[Run]:
        """Return the look of the sign; what is thought has its own altogether."""
        line = self.lines[number]
        name = self._STYLES.get(line[:1])
        return [] if name is None else [(0, len(line) if name == "reasoning" else 1, style_of(name))]


class Matches(Section):
    """Lines that were found in files, as ripgrep shows them: the file's name, then number and line."""

    def runs(self, number: int, style_of: StyleOf) -> list[Run]:
        """Return the look of a file's name, or of a line's number and, of context, of the line."""
        line = self.lines[number]
        digits = len(line) - len(line.lstrip("0123456789"))
        if line[digits : digits + 1] == ":":
            return [(0, digits + 1, style_of("accent"))]
        if digits and line[digits : digits + 1] == "-":
            return [(0, len(line), style_of("muted"))]
        return [(0, len(line), style_of("strong"))]


def fits(text: SafeText, width: int) -> bool:
    """Return whether a line surely takes one row; one of wide characters is told by folding it."""
    length = len(text)
    return length <= width and (text.isascii() or 2 * length <= width)


def folds(text: SafeText, width: int) -> list[int]:
    """Return where the pieces of a line begin that is folded to a width, behind a blank where one is near."""
    starts, start = [0], 0
    while (end := fitting(text, start, width)) < len(text):
        blank = text.rfind(" ", start, end) + 1
        start = blank if blank - start > width // 2 else end
        starts.append(start)
    return starts


def styled(text: SafeText, start: int, end: int, style: Style, runs: Sequence[Run]) -> list[Segment]:
    """Return the part of a line from `start` to `end`, each of its runs in its style."""
    segments, at = [], start
    for first, last, own in runs:
        first, last = max(first, at), min(last, end)  # noqa: PLW2901 - cut to the part
        if first < last:
            if at < first:
                segments.append(Segment(text[at:first], style))
            segments.append(Segment(text[first:last], style + own))
            at = last
    if at < end:
        segments.append(Segment(text[at:end], style))
    return segments


def bounded(text: str, most: int) -> tuple[list[SafeText], int]:
    """Return at most so many of a text's lines, made safe, and how many more there are.

    A very long line is cut, and says at its end how much is missing.
    """
    end = -1
    for _ in range(most):
        end = text.find("\n", end + 1)
        if end < 0:
            break
    rest = "" if end < 0 else text[end + 1 :].rstrip("\n")
    if not rest:
        return [cut_line(line) for line in safe_text(text).rstrip("\n").split("\n")], 0
    told = safe_text(text[: end + 1]).removesuffix("\n")
    return [cut_line(line) for line in told.split("\n")], rest.count("\n") + 1


def number_width(most: int) -> int:
    """Return how many columns numbers up to one take."""
    return len(str(max(most, 0)))


def cut_line(line: str) -> SafeText:
    """Return a line of safe text; one of more than 20,000 characters is cut, and says how much is missing."""
    if len(line) <= _MOST_LINE:
        return SafeText(line)
    return SafeText(f"{line[:_MOST_LINE]} … {len(line) - _MOST_LINE:,} more characters in this line")
