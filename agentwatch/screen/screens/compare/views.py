"""A list in which some lines are differences, and the steps from one difference to the next."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import NamedTuple

from rich.segment import Segment
from textual.strip import Strip

from agentwatch.analysis.verdict_history import CommandVerdict, State
from agentwatch.output.compare.comparison import CommandRow, Comparison, FileRow, Part, TextDifference
from agentwatch.output.compare.reports import UNKNOWN, lines_words
from agentwatch.screen.widgets.folding import folds, styled
from agentwatch.screen.widgets.line_view import RowView, Spans, rows_in_view
from agentwatch.text.amounts import plural
from agentwatch.text.safe import SafeText, exact_text, fitted, safe_line
from agentwatch.text.signs import MINUS

_MARGIN = 3
"""The lines that stay visible before and after a difference."""


class Step(NamedTuple):
    """The difference that a step has selected."""

    number: int
    """Counted from 1; 0 if there is no difference."""
    of: int
    """The number of differences."""
    is_around: bool
    """Whether the step wrapped around the end or the start of the list."""


class DifferencesView(RowView):
    """A list with a cursor; a subclass names the lines that are differences."""

    def differing(self) -> Sequence[int]:
        """Return the lines that are differences, ascending."""
        raise NotImplementedError

    def words(self) -> SafeText:
        """Return the details of the selected line, in words."""
        raise NotImplementedError

    def amount(self) -> str:
        """Return the number of differences, for the tab."""
        count = len(self.differing())
        return f"{count:,} ≠" if count else "="

    def step_with_notice(self, direction: int) -> None:
        """Select the next (1) or previous (-1) difference; a notice reports a wrap to the other end."""
        step = self.step(direction)
        if not step.of:
            self.notify("no difference", markup=False)
        elif step.is_around:
            words = "after the last difference: the first" if direction > 0 else "before the first: the last"
            self.notify(f"{words}, {step.number:,} of {step.of:,}", markup=False)

    def step(self, direction: int) -> Step:
        """Select the next (1) or previous (-1) difference; after the last comes the first."""
        lines = self.differing()
        if not lines:
            return Step(0, 0, is_around=False)
        at = bisect_right(lines, self.cursor) if direction > 0 else bisect_left(lines, self.cursor) - 1
        is_around = not 0 <= at < len(lines)
        at %= len(lines)
        self.choose(lines[at])
        self.show_around()
        return Step(at + 1, len(lines), is_around)

    def position(self) -> SafeText:
        """Return the position of the selected difference: `difference 3 of 17`; empty on other lines."""
        lines = self.differing()
        at = bisect_left(lines, self.cursor)
        if at < len(lines) and lines[at] == self.cursor:
            return SafeText(f"difference {at + 1:,} of {len(lines):,}")
        return SafeText("")

    def show_around(self) -> None:
        """Scroll so that some lines around the selected one are visible too."""
        view = rows_in_view(self)
        margin = min(_MARGIN, len(view) // 3)
        if self.cursor < view.start + margin or self.cursor >= view.stop - margin:
            self.settle_at(max(min(self.cursor - len(view) // 3, self.line_count() - len(view)), 0))


# The files that two runs changed, and the last verdicts on their commands.

Span = tuple[SafeText, str]
_SIDE = (10, 30)
"""The least and the greatest width of the cells of a side."""


class _Item(NamedTuple):
    """A file, or a command that runs tests, a linter or a build."""

    sign: str
    style: str
    name: SafeText
    cells: tuple[Span, Span]
    """The changes or the verdict of each run, and its style."""
    is_path: bool


class FilesView(DifferencesView):
    """One line per file and per command, with the changes or the verdict of each run."""

    def __init__(self, comparison: Comparison) -> None:
        super().__init__("Files and tests", id="compared-files")
        files = [_file(row) for row in comparison.files]
        commands = [_command(row) for row in comparison.commands]
        self._lines: list[_Item | SafeText] = []
        for heading, items in (
            (plural(len(files), "changed file"), files),
            (f"{plural(len(commands), 'command')} with a verdict", commands),
        ):
            if items:
                self._lines += [SafeText(heading), *items]
        self._differing = [
            at for at, line in enumerate(self._lines) if isinstance(line, _Item) and line.sign != "="
        ]
        self.empty_words = SafeText(" neither run changed a file; changes by shell commands are not listed")
        first = next(iter(self._differing), 1 if self._lines else 0)
        self.set_reactive(DifferencesView.cursor, first)

    def line_count(self) -> int:
        """Return the number of lines."""
        return len(self._lines)

    def differing(self) -> Sequence[int]:
        """Return the lines that differ between the runs."""
        return self._differing

    def choose(self, row: int) -> None:
        """Select a line; a heading cannot be selected."""
        row = max(0, min(row, len(self._lines) - 1))
        if self._lines and not isinstance(self._lines[row], _Item):
            row += 1 if row >= self.cursor or row == 0 else -1
        super().choose(row)

    def words(self) -> SafeText:
        """Return the changes of the selected file, or the verdicts on the command, in both runs."""
        line = self._lines[self.cursor] if self._lines else None
        if not isinstance(line, _Item):
            return SafeText("")
        (a, _), (b, _) = line.cells
        return SafeText(f"{line.name} · A: {a} · B: {b}")

    def row(self, y: int, width: int) -> Spans:
        """Return a heading, or a line with a cell for each run."""
        line = self._lines[y]
        if not isinstance(line, _Item):
            return [(fitted(line, max(width - 2 * self._side(width) - 4, 1)), "heading"), *self._heads(width)]
        side = self._side(width)
        name = fitted(line.name, max(width - 4 - 2 * side, 1), is_path=line.is_path)
        style = "muted" if line.sign == "=" else "plain"
        return [
            (SafeText(f"{line.sign} "), line.style),
            (name, style),
            *((SafeText(f" {fitted(words, side)}"), tone or style) for words, tone in line.cells),
        ]

    def _heads(self, width: int) -> Iterator[tuple[SafeText, str]]:
        yield SafeText("  "), "muted"
        for letter in "AB":
            yield SafeText(f" {fitted(SafeText(letter), self._side(width))}"), "heading"

    @staticmethod
    def _side(width: int) -> int:
        return min(max(width // 4, _SIDE[0]), _SIDE[1])


def _file(row: FileRow) -> _Item:
    a, b = (SafeText(lines_words(lines, MINUS)) for lines in (row.a, row.b))
    return _Item(*_sign(row.a, row.b), safe_line(row.path), ((a, ""), (b, "")), is_path=True)


def _command(row: CommandRow) -> _Item:
    cells = _verdict(row.a), _verdict(row.b)
    sign, style = _sign(row.a and cells[0], row.b and cells[1])
    return _Item(sign, style, safe_line(row.command), cells, is_path=False)


def _sign(a: object, b: object) -> tuple[str, str]:
    """Return the sign of a line and its style; None means that the run has no such file or command."""
    if a is None or b is None:
        return "B" if a is None else "A", "muted"
    return ("=", "muted") if a == b else ("~", "rejected")


def _verdict(found: CommandVerdict | None) -> Span:
    """Return a verdict and its style: red is left to what failed."""
    if found is None:
        return SafeText(UNKNOWN), ""
    words = SafeText(found.state) if found.verdict is None else safe_line(found.verdict.words)
    return words, "failed" if found.state is State.RED else ""


# The final texts of two runs. A line that differs is shown as it is in A, and then as it is in B.

_GUTTER = 2
"""The columns before a line: the letter of its run."""
_MOST_COLUMNS = 100
"""Longer lines of prose are hard to read."""


class _Line(NamedTuple):
    """A line of the texts, before it is folded."""

    side: str
    """`A` or `B` for a line of one run; empty for one of both."""
    text: SafeText
    marks: list[tuple[int, int]]
    """The first and the end character of the words that only this run has."""
    begins: bool = False
    """Whether a difference begins here."""


class _Row(NamedTuple):
    line: int
    start: int
    end: int


class TextView(DifferencesView):
    """The lines of both final texts; a line of only one run has its letter, and shared words are dim."""

    def __init__(self, difference: TextDifference) -> None:
        super().__init__("Final texts", id="compared-texts")
        self._texts = [*_lines(difference)]
        self._is_equal, self._is_cut = difference.is_equal, difference.is_cut
        self._rows: list[_Row] = []
        self._differing: list[int] = []
        self._width = 0
        self.empty_words = SafeText(" neither run has a final text")

    def line_count(self) -> int:
        """Return the number of rows."""
        return len(self._rows)

    def differing(self) -> Sequence[int]:
        """Return the rows at which a difference begins."""
        return self._differing

    def amount(self) -> str:
        """Return whether the texts differ. A line that differs may be one of many in a long text."""
        return "=" if self._is_equal else "≠"

    def words(self) -> SafeText:
        """Return whether the texts differ."""
        words = "both have the same words" if self._is_equal else "A and B before the lines of one run"
        return SafeText(f"{words} · only the first 65,536 characters" if self._is_cut else words)

    def on_resize(self) -> None:
        """Fold the lines to the new width."""
        self.lay_out(self.size.width)
        super().on_resize()
        self.bring_into_view(self.cursor)

    def draw_row(self, y: int, width: int) -> Strip:
        """Return a row after the letter of its run; the words that only this run has are not dim."""
        del width
        row = self._rows[y]
        line, dim = self._texts[row.line], self.line_style("muted")
        own = self.line_style("plain")
        gutter = Segment(f"{'' if row.start else line.side:<{_GUTTER}}", dim)
        runs = [(start, end, own) for start, end in line.marks]
        return Strip([gutter, *styled(line.text, row.start, row.end, dim, runs)])

    def lay_out(self, width: int) -> None:
        """Fold the lines to the width of the view, in columns."""
        width = min(width - 3 - _GUTTER, _MOST_COLUMNS)
        if width == self._width or width < 1:
            return
        line_before = self._rows[self.cursor].line if self._rows else 0
        self._width, self._rows, self._differing = width, [], []
        for number, line in enumerate(self._texts):
            starts = folds(line.text, width)
            if line.begins:
                self._differing.append(len(self._rows))
            ends = [*starts[1:], len(line.text)]
            self._rows += (_Row(number, start, end) for start, end in zip(starts, ends, strict=True))
        self.painter.forget()
        first = next((at for at, row in enumerate(self._rows) if row.line >= line_before), 0)
        self.cursor = first


_Words = list[tuple[SafeText, bool]]
"""The pieces of a line, and whether only its run has them."""


def _lines(difference: TextDifference) -> Iterator[_Line]:
    """Yield the lines of both texts: equal ones once, and those that differ first of A, then of B."""
    a: list[_Words] = [[]]
    b: list[_Words] = [[]]
    for part, text in difference.pieces:
        for nth, words in enumerate(map(SafeText, exact_text(text).split("\n"))):
            if nth and part is Part.BOTH:
                yield from _group(a, b)
                a, b = [[]], [[]]
            for lines, only in ((a, Part.ONLY_A), (b, Part.ONLY_B)):
                if nth and part is only:
                    lines.append([])
                if part in (Part.BOTH, only):
                    lines[-1].append((words, part is only))
    if a != [[]] or b != [[]]:
        yield from _group(a, b)


def _group(a: list[_Words], b: list[_Words]) -> Iterator[_Line]:
    """Yield the lines of both texts up to the end of a line that both have."""
    of_a, of_b = [_line("A", line) for line in a], [_line("B", line) for line in b]
    head = _equal(of_a, of_b)
    tail = _equal(of_a[head:][::-1], of_b[head:][::-1])
    own = (of_a[head : len(a) - tail], of_b[head : len(b) - tail])
    yield from (line._replace(side="") for line in of_b[:head])
    begins = True
    for line in chain.from_iterable(lines for lines in own if any(line.text for line in lines)):
        yield line._replace(begins=begins)
        begins = False
    yield from (line._replace(side="") for line in of_b[len(b) - tail :])


def _equal(a: list[_Line], b: list[_Line]) -> int:
    """Return the number of lines at the beginning that both texts have."""
    pairs = zip(a, b, strict=False)
    return next((at for at, pair in enumerate(pairs) if _differ(*pair)), min(len(a), len(b)))


def _differ(a: _Line, b: _Line) -> bool:
    return bool(a.marks or b.marks) or a.text.strip() != b.text.strip()


def _line(side: str, pieces: _Words) -> _Line:
    marks, text = [], ""
    for words, is_own in pieces:
        if text[-1:].isalnum() and words[:1].isalnum():
            text += " "  # a piece of both texts has the blanks of B
        if is_own and words.strip():
            marks.append((len(text), len(text) + len(words.rstrip())))
        text += words
    return _Line(side, SafeText(text), marks)
