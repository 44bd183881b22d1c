"""An edit as a diff: parsed or worked out at once, drawn line by line, unified or side by side."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from agentwatch.safe_text import SafeText, columns, safe_text
from agentwatch.screen.sections import Look, Section, bounded, cut_line, fits, folds, number_width

SPLIT_COLUMNS = 100
"""From this width on the old and the new lines stand side by side."""
_ONE_NUMBER_COLUMNS = 50
_HUNK = re.compile(r"@@ -(\d{1,9})(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@")
_CONTEXT = 3
_MOST_COMPARED = 2_000
"""Lines of each side that are compared one by one; what is larger has been replaced as a whole."""
_LOOKS = {"+": "added", "-": "removed", "@": "hunk", "\\": "muted", "f": "heading"}


class DiffLine(NamedTuple):
    """A line of a diff."""

    sign: str
    """` `, `+`, `-`; `@` is the head of a hunk, `f` a file's name, `\\` a remark."""
    old: int | None
    new: int | None
    text: SafeText


def parsed(diff: str, most: int) -> tuple[list[DiffLine], int]:
    """Return at most so many lines of a unified diff with their numbers, and how many more there are.

    The name of its only file is left out. Lines before the first hunk's head are shown as they are; without
    any head they have no numbers.
    """
    lines: list[DiffLine] = []
    old: int | None = None
    new: int | None = None
    old_left = new_left = 0
    files = 0
    told, left_out = bounded(diff, most)
    for line in told:
        text = SafeText(line[1:])
        match line[:1]:
            case " " | "" if (old_left > 0 and new_left > 0) or old is None:
                lines.append(DiffLine(" ", old, new, text))
                old, new = old and old + 1, new and new + 1
                old_left, new_left = old_left - 1, new_left - 1
            case "-" if old_left > 0 or (old is None and not line.startswith("--- ")):
                lines.append(DiffLine("-", old, None, text))
                old, old_left = old and old + 1, old_left - 1
            case "+" if new_left > 0 or (old is None and not line.startswith("+++ ")):
                lines.append(DiffLine("+", None, new, text))
                new, new_left = new and new + 1, new_left - 1
            case "@" if found := _HUNK.match(line):
                old, new = int(found[1]), int(found[3])
                old_left, new_left = int(found[2] or 1), int(found[4] or 1)
                lines.append(DiffLine("@", None, None, line))
            case "\\":
                lines.append(DiffLine("\\", None, None, line))
            case _:
                files += line.startswith("+++ ")
                lines.append(DiffLine("f", None, None, line))
    if files <= 1:
        lines = [line for line in lines if line.sign != "f" or not line.text.startswith(("--- ", "+++ "))]
    return lines, left_out


def compared(before: str, after: str, most: int) -> tuple[list[DiffLine], int]:
    """Return how a text came from another, line by line, with a little of what stayed around it.

    Of a very long one at most so many lines are told, and how many more there are.
    """
    old, new = (safe_text(text).split("\n") for text in (before, after))
    old, new = (lines[:-1] if lines[-1] == "" else lines for lines in (old, new))
    start = _shared(old, new)
    end = _shared(old[start:][::-1], new[start:][::-1])
    old_end, new_end = len(old) - end, len(new) - end
    if max(old_end, new_end) - start > _MOST_COMPARED:
        codes = [("replace", start, old_end, start, new_end)]
    else:
        matcher = SequenceMatcher(None, old[start:old_end], new[start:new_end])
        codes = [
            (tag, start + old_from, start + old_to, start + new_from, start + new_to)
            for tag, old_from, old_to, new_from, new_to in matcher.get_opcodes()
        ]
    lines = list(_hunks(old, new, [code for code in codes if code[0] != "equal"]))
    return lines[:most], max(len(lines) - most, 0)


def _shared(old: Sequence[str], new: Sequence[str]) -> int:
    """Return with how many equal lines both begin."""
    pairs = zip(old, new, strict=False)
    return next((nth for nth, (one, other) in enumerate(pairs) if one != other), min(len(old), len(new)))


def _hunks(
    old: Sequence[str], new: Sequence[str], changes: Sequence[tuple[str, int, int, int, int]]
) -> Iterator[DiffLine]:
    at = 0  # of the old lines, up to where they are told
    for nth, (_, old_from, old_to, new_from, new_to) in enumerate(changes):
        offset = new_from - old_from
        first = max(old_from - _CONTEXT, at)
        if first > at or nth == 0:
            head = f"@@ line {first + 1}, now {first + offset + 1} @@"
            yield DiffLine("@", None, None, SafeText(head))
        for number in range(first, old_from):
            yield DiffLine(" ", number + 1, number + offset + 1, cut_line(old[number]))
        for number in range(old_from, old_to):
            yield DiffLine("-", number + 1, None, cut_line(old[number]))
        for number in range(new_from, new_to):
            yield DiffLine("+", None, number + 1, cut_line(new[number]))
        following = changes[nth + 1][1] if nth + 1 < len(changes) else len(old)
        at = min(old_to + _CONTEXT, following)
        for number in range(old_to, at):
            yield DiffLine(" ", number + 1, number + new_to - old_to + 1, cut_line(old[number]))


class Diff(Section):
    """The lines of a diff with their old and new numbers."""

    def __init__(self, lines: Sequence[DiffLine]) -> None:
        super().__init__([line.text for line in lines])
        self._diff = lines
        self._pairs: list[tuple[int | None, int | None]] = []
        """Side by side: which old and which new line stand in a row; a head is both."""
        self._pair_tops: list[int] | None = None
        self._is_split = False
        self._has_one_number = False
        most = max((max(line.old or 0, line.new or 0) for line in lines), default=0)
        self._digits = number_width(most) if most else 0

    def lay_out(self, width: int) -> int:
        """Fold the lines to a width, side by side where it is enough for both."""
        self._is_split = width >= SPLIT_COLUMNS and any(line.sign == "-" for line in self._diff)
        self._has_one_number = width < _ONE_NUMBER_COLUMNS
        numbers = (
            0 if not self._digits else self._digits + 1 if self._has_one_number else 2 * self._digits + 2
        )
        self.gutter = numbers + 2
        if not self._is_split:
            return super().lay_out(width)
        self._side = (width - 1) // 2
        self._room = self._side - (self._digits + 1 if self._digits else 0) - 2
        return self._lay_out_pairs(width)

    def row(self, row: int, look: Look) -> Strip:
        """Return one row."""
        if not self._is_split:
            return super().row(row, look)
        index = row if self._pair_tops is None else bisect_right(self._pair_tops, row) - 1
        nth = 0 if self._pair_tops is None else row - self._pair_tops[index]
        left, right = self._pairs[index]
        if left is not None and self._diff[left].sign in "@f\\":
            text = self.lines[left]
            starts = [*folds(text, 2 * self._side + 1), len(text)]
            return Strip([Segment(text[starts[nth] : starts[nth + 1]], self.style(left, look))])
        rule = Segment("│", look("rule"))
        return Strip([*self._half(left, nth, look, True), rule, *self._half(right, nth, look, False)])

    def mark(self, number: int, look: Look) -> Segment:
        """Return a line's numbers and its sign."""
        line = self._diff[number]
        style = self.style(number, look) if line.sign in "+-" else look("muted")
        sign = line.sign if line.sign in " +-" else " "
        if not self._digits:
            return Segment(f"{sign} ", style)
        digits = self._digits
        told = [line.new or line.old] if self._has_one_number else [line.old, line.new]
        numbers = "".join(f"{'' if number is None else number:>{digits}} " for number in told)
        return Segment(f"{numbers}{sign} ", style)

    def lead(self, number: int, nth: int, look: Look) -> Iterator[Segment]:
        """Yield numbers and sign; a head of a hunk begins at the margin."""
        if self._diff[number].sign in "+- ":
            yield from super().lead(number, nth, look)

    def style(self, number: int, look: Look) -> Style:
        """Return the look of a line's sign."""
        return look(_LOOKS.get(self._diff[number].sign, "plain"))

    def piece(self, number: int, nth: int, look: Look) -> list[Segment]:
        """Return a piece of a line, filled up where it has a ground of its own."""
        segments = super().piece(number, nth, look)
        if self._diff[number].sign in "+-":
            taken = sum(segment.cell_length for segment in segments)
            segments.append(Segment(" " * (self._room - taken), self.style(number, look)))
        return segments

    def text(self) -> str:
        """Return the diff as it is copied."""
        return "\n".join(f"{line.sign if line.sign in ' +-' else ''}{line.text}" for line in self._diff)

    def _lay_out_pairs(self, width: int) -> int:
        if not self._pairs:
            self._pairs = list(_side_by_side(self._diff))
        tops, rows, room = [], 0, self._room
        for left, right in self._pairs:
            tops.append(rows)
            if left is not None and self._diff[left].sign in "@f\\":
                rows += len(folds(self.lines[left], width - 1))
            else:
                rows += max(self._height(left, room), self._height(right, room))
        self._pair_tops = tops if rows > len(tops) else None
        return rows

    def _height(self, number: int | None, room: int) -> int:
        if number is None:
            return 1
        line = self.lines[number]
        return 1 if fits(line, room) else len(folds(line, room))

    def _half(self, number: int | None, nth: int, look: Look, is_old: bool) -> Iterator[Segment]:
        """Yield one side of a row, as wide as a side is."""
        if number is None:
            yield Segment(" " * self._side)
            return
        line = self._diff[number]
        starts = [*folds(line.text, self._room), len(line.text)]
        piece = SafeText(line.text[starts[nth] : starts[nth + 1]]) if nth + 1 < len(starts) else SafeText("")
        style = self.style(number, look)
        known = line.old if is_old else line.new
        told = f"{'' if known is None or nth else known:>{self._digits}} " if self._digits else ""
        yield Segment(told, style if line.sign in "+-" else look("muted"))
        yield Segment(f"{line.sign if not nth else ' '} {piece}{' ' * (self._room - columns(piece))}", style)


def _side_by_side(lines: Sequence[DiffLine]) -> Iterator[tuple[int | None, int | None]]:
    """Yield which lines stand in a row: what was removed beside what was added in its place."""
    removed: list[int] = []
    added: list[int] = []

    def pairs() -> Iterator[tuple[int | None, int | None]]:
        for nth in range(max(len(removed), len(added))):
            yield (
                removed[nth] if nth < len(removed) else None,
                added[nth] if nth < len(added) else None,
            )
        removed.clear()
        added.clear()

    for number, line in enumerate(lines):
        if line.sign == "-":
            if added:
                yield from pairs()
            removed.append(number)
        elif line.sign == "+":
            added.append(number)
        elif line.sign != "\\" or not (removed or added):
            yield from pairs()
            yield number, number
        else:
            continue  # that the last line has no line end: told where the diff is not split
    yield from pairs()
