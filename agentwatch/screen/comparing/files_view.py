"""The files that two runs changed, and the last verdicts on their commands."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from agentwatch.analysis.verdict_history import CommandVerdict
from agentwatch.comparing import CommandRow, Comparison, FileRow
from agentwatch.comparing.reports.figures import UNKNOWN, lines_words
from agentwatch.screen.comparing.differences_view import DifferencesView
from agentwatch.screen.lines.line_view import Spans
from agentwatch.text.amounts import plural
from agentwatch.text.safe import SafeText, fitted, safe_line

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
    a, b = (SafeText(lines_words(lines)) for lines in (row.a, row.b))
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
