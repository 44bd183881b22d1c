"""A list in which some lines are differences, and the steps from one difference to the next."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from textual.strip import Strip

from agentwatch.analysis.verdict_history import CommandVerdict
from agentwatch.output.compare.comparison import CommandRow, Comparison, FileRow, Part, TextDifference
from agentwatch.output.compare.reports import UNKNOWN, lines_words
from agentwatch.screen.widgets.folding import folds, styled
from agentwatch.screen.widgets.line_view import RowView, Spans, rows_in_view
from agentwatch.text.amounts import plural
from agentwatch.text.safe import SafeText, fitted, safe_line, safe_text
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

_SIDE = (10, 30)
"""The least and the greatest width of the cells of a side."""


class _Item(NamedTuple):
    """A file, or a command that runs tests, a linter or a build."""

    sign: str
    style: str
    name: SafeText
    a: SafeText
    b: SafeText
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
        return SafeText(f"{line.name} · A: {line.a} · B: {line.b}")

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
            *((SafeText(f" {fitted(words, side)}"), style) for words in (line.a, line.b)),
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
    return _Item(*_sign(row.a, row.b), safe_line(row.path), a, b, is_path=True)


def _command(row: CommandRow) -> _Item:
    a, b = _verdict(row.a), _verdict(row.b)
    sign, style = _sign(row.a and a, row.b and b)
    return _Item(sign, style, safe_line(row.command), a, b, is_path=False)


def _sign(a: object, b: object) -> tuple[str, str]:
    """Return the sign of a line and its style; None means that the run has no such file or command."""
    if a is None:
        return "+", "succeeded"
    if b is None:
        return "-", "failed"
    return ("=", "muted") if a == b else ("~", "rejected")


def _verdict(found: CommandVerdict | None) -> SafeText:
    if found is None:
        return SafeText(UNKNOWN)
    return SafeText(found.state) if found.verdict is None else safe_line(found.verdict.words)


# The final texts of two runs as one, in which the words of only one of them are marked.

_SIGNS = {Part.ONLY_A: ("[-", "-]"), Part.ONLY_B: ("{+", "+}")}
"""The signs of wdiff, as in the report."""
_STYLES = {Part.ONLY_A: "removed", Part.ONLY_B: "added"}
_MOST_COLUMNS = 100
"""Longer lines of prose are hard to read."""


class _Line(NamedTuple):
    """A line of the texts, before it is folded."""

    text: SafeText
    marks: list[tuple[int, int, Part]]
    """The first and the end character of the words of one run, and the run."""


class _Row(NamedTuple):
    line: int
    start: int
    end: int


class TextView(DifferencesView):
    """The words of both final texts: `[-only in A-]`, `{+only in B+}`."""

    def __init__(self, difference: TextDifference) -> None:
        super().__init__("Final texts", id="compared-texts")
        self._texts = _lines(difference)
        self._is_equal, self._is_cut = difference.is_equal, difference.is_cut
        self._rows: list[_Row] = []
        self._differing: list[int] = []
        self._width = 0
        self.empty_words = SafeText(" neither run has a final text")

    def line_count(self) -> int:
        """Return the number of rows."""
        return len(self._rows)

    def differing(self) -> Sequence[int]:
        """Return the rows in which words of only one text begin."""
        return self._differing

    def amount(self) -> str:
        """Return whether the texts differ. The number of differing rows depends on the width."""
        return "=" if self._is_equal else "≠"

    def words(self) -> SafeText:
        """Return whether the texts differ."""
        words = "both have the same words" if self._is_equal else "[-only in A-] {+only in B+}"
        return SafeText(f"{words} · only the first 65,536 characters" if self._is_cut else words)

    def on_resize(self) -> None:
        """Fold the lines to the new width."""
        self.lay_out(self.size.width)
        super().on_resize()
        self.bring_into_view(self.cursor)

    def draw_row(self, y: int, width: int) -> Strip:
        """Return a row; the words of one text have its colour."""
        del width
        row = self._rows[y]
        line = self._texts[row.line]
        runs = [(start, end, self.line_style(_STYLES[part])) for start, end, part in line.marks]
        return Strip(styled(line.text, row.start, row.end, self.line_style("plain"), runs))

    def lay_out(self, width: int) -> None:
        """Fold the lines to the width of the view, in columns."""
        width = min(width - 3, _MOST_COLUMNS)
        if width == self._width or width < 1:
            return
        line_before = self._rows[self.cursor].line if self._rows else 0
        self._width, self._rows, self._differing = width, [], []
        for number, line in enumerate(self._texts):
            starts = folds(line.text, width)
            begins = [start for start, _, part in line.marks if line.text.startswith(_SIGNS[part][0], start)]
            for start, end in zip(starts, [*starts[1:], len(line.text)], strict=True):
                if any(start <= begin < end for begin in begins):
                    self._differing.append(len(self._rows))
                self._rows.append(_Row(number, start, end))
        self.painter.forget()
        first = next((at for at, row in enumerate(self._rows) if row.line >= line_before), 0)
        self.cursor = first


def _lines(difference: TextDifference) -> list[_Line]:
    """Return the lines of both texts together, with the places of the words of only one text."""
    lines = [_Line(SafeText(""), [])]
    for piece in difference.pieces:
        begin, end = _SIGNS.get(piece.part, ("", ""))
        text = piece.text.rstrip()
        words = f"{begin}{text}{end}{piece.text[len(text) :]}" if text else piece.text
        for nth, part in enumerate(safe_text(words).split("\n")):
            if nth:
                lines.append(_Line(SafeText(""), []))
            before = lines[-1]
            if piece.part is not Part.BOTH and part:
                marks = (len(before.text), len(before.text) + len(part.rstrip()), piece.part)
                before.marks.append(marks)
            lines[-1] = _Line(SafeText(before.text + part), before.marks)
    return lines if len(lines) > 1 or lines[0].text else []
