"""Sections of a detail: lines that are folded to a width immediately, and styled only when they are drawn.

The lengths of the lines are enough to compute a section's height at a width. The style of a line is requested
when the line is drawn.
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
"""Returns the style for a style name."""
Run = tuple[int, int, Style]
"""The first and end characters of a run of text, and its style."""

_MOST_LINE = 20_000
_LEAST_ROOM = 4


class Stretch(NamedTuple):
    """The part of a line that a row shows."""

    line: int
    first: int
    """Index of the first character, in the line."""
    end: int
    """Index after the last character, in the line."""
    at: int
    """Index in the row of the first character."""


class Section:
    """Lines of one style."""

    gutter = 0
    """Width in columns of the gutter before each line, for its number or sign."""
    block: Block | None = None
    """The block of the call that the section shows; None for other content."""
    has_room = True
    """Whether the current width has enough columns for the gutter."""

    def __init__(self, lines: Sequence[SafeText], style_name: str = "plain") -> None:
        self.lines = lines
        self.style_name = style_name
        self._room = 1
        self._tops: list[int] | None = None
        """The row at which each line begins; None while every line takes one row."""

    def lay_out(self, width: int) -> int:
        """Fold the lines to a width in columns; return the number of rows."""
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
        """Return the number of the line that a row shows."""
        return row if self._tops is None else bisect_right(self._tops, row) - 1

    def row_of(self, number: int, column: int) -> int:
        """Return the row that shows a character of a line."""
        if self._tops is None:
            return number
        return self._tops[number] + bisect_right(folds(self.lines[number], self._room), column) - 1

    def stretches(self, row: int, style_of: StyleOf) -> Iterator[Stretch]:
        """Yield the parts of lines that a row shows, from left to right."""
        number, nth = self._piece_at(row)
        at = sum(len(segment.text) for segment in self.lead(number, nth, style_of))
        yield Stretch(number, *self._stretch(number, nth), at)

    def row(self, row: int, style_of: StyleOf) -> Strip:
        """Return one row."""
        number, nth = self._piece_at(row)
        return Strip([*self.lead(number, nth, style_of), *self.piece(number, nth, style_of)])

    def lead(self, number: int, nth: int, style_of: StyleOf) -> Iterator[Segment]:
        """Yield the gutter before the `nth` piece of a line, if the width leaves room for it."""
        if self.gutter and self.has_room:
            yield (
                self.mark(number, style_of)
                if nth == 0
                else Segment(" " * self.gutter, self.style(number, style_of))
            )

    def mark(self, number: int, style_of: StyleOf) -> Segment:
        """Return the gutter of a line."""
        del number
        return Segment(" " * self.gutter, style_of(self.style_name))

    def piece(self, number: int, nth: int, style_of: StyleOf) -> list[Segment]:
        """Return the styled `nth` piece of a folded line."""
        start, end = self._stretch(number, nth)
        return styled(
            self.lines[number], start, end, self.style(number, style_of), self.runs(number, style_of)
        )

    def style(self, number: int, style_of: StyleOf) -> Style:
        """Return the base style of a line."""
        del number
        return style_of(self.style_name)

    def runs(self, number: int, style_of: StyleOf) -> list[Run]:
        """Return the parts of a line that have their own style, in order."""
        del number, style_of
        return []

    def text(self) -> str:
        """Return the lines as text to copy."""
        return "\n".join(self.lines)

    def _piece_at(self, row: int) -> tuple[int, int]:
        """Return the line that a row shows, and which piece of it."""
        number = self.line_at(row)
        return number, 0 if self._tops is None else row - self._tops[number]

    def _stretch(self, number: int, nth: int) -> tuple[int, int]:
        text = self.lines[number]
        if self._tops is None or fits(text, self._room):
            return 0, len(text)
        starts = [*folds(text, self._room), len(text)]
        return starts[nth], starts[nth + 1]


class Heading(Section):
    """The title of a block, after a blank line."""

    def __init__(self, title: SafeText) -> None:
        super().__init__([SafeText(""), SafeText(f"── {title}")], "heading")


class Signed(Section):
    """Lines whose first sign selects their style: the items of to-do lists and the steps of subagents."""

    _STYLES = {
        "✓": "succeeded",
        "✗": "failed",
        "⊘": "rejected",
        "↵": "returned",
        "◌": "unfinished",
        "◐": "running",
        "~": "reasoning",
        "›": "accent",
        "○": "muted",
    }

    def __init__(self, lines: Sequence[SafeText]) -> None:
        super().__init__(lines)

    def runs(self, number: int, style_of: StyleOf) -> list[Run]:
        """Return the style of the sign; a line of reasoning is styled as a whole."""
        line = self.lines[number]
        name = self._STYLES.get(line[:1])
        return [] if name is None else [(0, len(line) if name == "reasoning" else 1, style_of(name))]


class Matches(Section):
    """Lines found in files, in ripgrep's format: the file name, followed by line numbers and lines."""

    def runs(self, number: int, style_of: StyleOf) -> list[Run]:
        """Return the style of a file name, of the number of a match, or of a context line."""
        line = self.lines[number]
        digits = len(line) - len(line.lstrip("0123456789"))
        if line[digits : digits + 1] == ":":
            return [(0, digits + 1, style_of("accent"))]
        if digits and line[digits : digits + 1] == "-":
            return [(0, len(line), style_of("muted"))]
        return [(0, len(line), style_of("strong"))]


def fits(text: SafeText, width: int) -> bool:
    """Return whether a line certainly fits in one row; if False, it must be folded to find out."""
    length = len(text)
    return length <= width and (text.isascii() or 2 * length <= width)


def folds(text: SafeText, width: int) -> list[int]:
    """Return the offsets at which the pieces of a line begin when it is folded to a width in columns.

    A piece ends after a blank, if there is one in its second half.
    """
    starts, start = [0], 0
    while (end := fitting(text, start, width)) < len(text):
        blank = text.rfind(" ", start, end) + 1
        start = blank if blank - start > width // 2 else end
        starts.append(start)
    return starts


def styled(text: SafeText, start: int, end: int, style: Style, runs: Sequence[Run]) -> list[Segment]:
    """Return the characters `start` to `end` of a line, with the styles of its runs."""
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
    """Return the first lines of a text as safe text.

    A very long line is cut; a note at its end says how much is missing.

    Args:
        text: The text.
        most: The maximum number of lines.

    Returns:
        The lines, and the number of lines that were left out.
    """
    end = -1
    for _ in range(most):
        end = text.find("\n", end + 1)
        if end < 0:
            break
    rest = "" if end < 0 else text[end + 1 :].rstrip("\n")
    if not rest:
        return [cut_line(line) for line in safe_text(text).rstrip("\n").split("\n")], 0
    kept = safe_text(text[: end + 1]).removesuffix("\n")
    return [cut_line(line) for line in kept.split("\n")], rest.count("\n") + 1


def number_width(most: int) -> int:
    """Return the width in columns of the numbers up to `most`."""
    return len(str(max(most, 0)))


def cut_line(line: str) -> SafeText:
    """Return a line of safe text, cut after 20,000 characters with a note of how much is missing."""
    if len(line) <= _MOST_LINE:
        return SafeText(line)
    return SafeText(f"{line[:_MOST_LINE]} … {len(line) - _MOST_LINE:,} more characters in this line")
