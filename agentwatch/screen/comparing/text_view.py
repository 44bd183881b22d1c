"""The final texts of two runs as one, in which the words of only one of them are marked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from textual.strip import Strip

from agentwatch.comparing import Part, TextDifference
from agentwatch.screen.comparing.differences_view import DifferencesView
from agentwatch.screen.lines.folding import folds, styled
from agentwatch.text.safe import SafeText, safe_text

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
