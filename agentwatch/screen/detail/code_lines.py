"""A section that shows the content of a file with syntax highlighting."""

from __future__ import annotations

from collections.abc import Sequence

from rich.segment import Segment

from agentwatch.screen.detail.sections import Output, StyleOf, number_width
from agentwatch.screen.lines.folding import Run
from agentwatch.screen.markup.syntax import CodeStyle, SyntaxColours
from agentwatch.text.safe import SafeText


class CodeLines(Output):
    """Numbered, highlighted lines of a file."""

    def __init__(self, lines: Sequence[SafeText], code: CodeStyle, *, first_line: int | None = 1) -> None:
        """Create the section.

        Args:
            lines: The lines of the file.
            code: The name of the file and the theme of its colours.
            first_line: The number of the first line; None hides the line numbers.
        """
        super().__init__(lines)
        self._first = first_line
        self._colours = SyntaxColours(lines, code)
        if first_line is not None:
            self.gutter = number_width(first_line + len(lines) - 1) + 1

    def mark(self, number: int, style_of: StyleOf) -> Segment:
        """Return the number of a line."""
        return Segment(f"{(self._first or 0) + number:>{self.gutter - 1}} ", style_of("muted"))

    def runs(self, number: int, style_of: StyleOf) -> list[Run]:
        """Return the syntax colours of a line."""
        del style_of
        return self._colours.runs(number)
