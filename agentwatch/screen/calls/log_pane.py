"""The action log pane: completed actions in the order in which they ended."""

from __future__ import annotations

from array import array

from textual.strip import Strip

from agentwatch.actions import action, ended_ms
from agentwatch.events import Outcome
from agentwatch.safe_text import SafeText, cut, safe_line
from agentwatch.screen.lines.format import SIGNS, time_of_day
from agentwatch.screen.lines.line_view import LineView
from agentwatch.session import Call, Session

_MOST_STDERR_LINES = 5_000
_MOST_CHARACTERS = 1_000
"""More than the columns of a terminal. All of a line is in the file of the agent's stderr."""


class ActionLogView(LineView):
    """One line per ended call, with its time, interleaved with the agent's stderr."""

    def __init__(self, session: Session) -> None:
        super().__init__("4 Actions", id="log")
        self._session = session
        self._rows = array("l")
        """For each line, the index of its ended call; a negative number is a stderr line, counted from -1
        down.
        """
        self._calls = 0
        self._shown_rows = 0
        self._stderr: list[SafeText] = []
        self._stderr_lines = 0

    def line_count(self) -> int:
        """Return the number of lines."""
        return len(self._rows)

    def sync(self) -> None:
        """Add a line for each call that ended since the last update."""
        calls = len(self._session.ended_calls)
        self._rows.extend(range(self._calls, calls))
        self._calls = calls
        if len(self._rows) != self._shown_rows:
            self._shown_rows = len(self._rows)
            self.show_lines()

    def add_stderr(self, lines: list[str]) -> None:
        """Show lines that the agent wrote to stderr: at most 5,000, then a note about where the rest is."""
        room = max(_MOST_STDERR_LINES - self._stderr_lines, 0)
        shown = [safe_line(line[:_MOST_CHARACTERS]) for line in lines[:room]]
        if self._stderr_lines <= _MOST_STDERR_LINES < self._stderr_lines + len(lines):
            shown.append(SafeText("… the rest is in the .stderr file beside the recording"))
        self._stderr_lines += len(lines)
        for line in shown:
            self._stderr.append(line)
            self._rows.append(-len(self._stderr))

    def draw(self, y: int, width: int) -> Strip:
        """Return an action with its time in the user's time zone, or a line of stderr."""
        row = self._rows[y]
        if row < 0:
            line = cut(self._stderr[-row - 1], max(width - 9, 1))
            return self.strip_of([(SafeText("  stderr "), "muted"), (line, "failed")])
        call = self._session.ended_calls[row]
        state = str(call.outcome)
        return self.strip_of(
            [
                (SafeText(f"{time_of_day(ended_ms(call))} "), "muted"),
                (SafeText(f"{SIGNS[call.outcome]} "), state),
                (cut(action(call), max(width - 11, 1)), _style(call)),
            ]
        )

    def chosen_text(self) -> SafeText:
        """Return the text that `y` copies: all actions."""
        return SafeText("\n".join(map(action, self._session.ended_calls)))


def _style(call: Call) -> str:
    return "plain" if call.outcome is Outcome.SUCCEEDED else str(call.outcome)
