"""The pane of what the agent wrote to stderr."""

from __future__ import annotations

from textual.strip import Strip

from agentwatch.screen.widgets.line_view import LineView
from agentwatch.text.safe import SafeText, cut, safe_line

_MOST_LINES = 5_000
_MOST_CHARACTERS = 1_000
"""More than the columns of a terminal. All of a line is in the file of the agent's stderr."""


class StderrView(LineView):
    """The first 5,000 lines of the agent's stderr. They have no times, so each moment has all."""

    def __init__(self) -> None:
        super().__init__("4 stderr", id="stderr")
        self._lines: list[SafeText] = []

    def line_count(self) -> int:
        """Return the number of lines."""
        return len(self._lines)

    def draw(self, y: int, width: int) -> Strip:
        """Return a line, cut to the width."""
        return self.strip_of([(cut(self._lines[y], max(width, 1)), "plain")])

    def add(self, lines: list[str]) -> None:
        """Show more lines."""
        room = _MOST_LINES - len(self._lines)
        self._lines += [safe_line(line[:_MOST_CHARACTERS]) for line in lines[: max(room, 0)]]
        if 0 <= room < len(lines):
            self._lines.append(SafeText("… the rest is in the .stderr file beside the recording"))
        self.show_lines()

    def take_over(self, preview: StderrView) -> None:
        """Show what the pane of a preview shows, which the source returns only once."""
        self._lines = preview._lines
        self.show_lines()

    def copied(self) -> tuple[SafeText, SafeText]:
        """Return what `y` copies in words, and its text: all lines."""
        return SafeText("stderr" if self._lines else ""), SafeText("\n".join(self._lines))
