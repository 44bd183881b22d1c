"""The action log pane: completed actions in the order in which they ended."""

from __future__ import annotations

from typing import ClassVar

from textual.binding import BindingType
from textual.message import Message
from textual.reactive import var
from textual.strip import Strip

from agentwatch.screen.keys import bindings
from agentwatch.screen.widgets.line_view import CursorView
from agentwatch.session.actions import action, ended_ms, shown_action
from agentwatch.session.call import Call
from agentwatch.session.events import Outcome
from agentwatch.session.session import Session
from agentwatch.session.storage import Numbers, Spill
from agentwatch.text.safe import SafeText, cut, safe_line
from agentwatch.text.signs import SIGNS
from agentwatch.text.times import time_of_day

_MOST_STDERR_LINES = 5_000
_MOST_CHARACTERS = 1_000
"""More than the columns of a terminal. All of a line is in the file of the agent's stderr."""


class ActionLogView(CursorView):
    """One line per ended call, with its time, interleaved with the agent's stderr."""

    class Chosen(Message):
        """Posted when the line of a call is selected. `goes_there` says whether the user wants to go to the
        call's detail."""

        def __init__(self, call: Call, *, goes_there: bool) -> None:
            super().__init__()
            self.call = call
            self.goes_there = goes_there

    BINDINGS: ClassVar[list[BindingType]] = bindings("actions")

    cursor = var(-1)
    """The selected row; -1 while the selected call is not in the log."""

    def __init__(self, session: Session) -> None:
        super().__init__("4 Actions", id="log")
        self._session = session
        spill = Spill()
        self._rows = Numbers("I", spill)
        """For each line, twice the index of its ended call, or twice that of its stderr line plus one."""
        self._row_of_call = Numbers("I", spill)
        """For each call, its row plus one; 0 for a call that has not ended."""
        self._calls = 0
        self._shown_rows = 0
        self._stderr: list[SafeText] = []
        self._stderr_lines = 0
        self._newest = session
        self._moment: int | None = None
        """The number of rows at the moment that is shown; None at the newest moment."""
        self._chosen: Call | None = None
        self._held: Call | None = None

    def line_count(self) -> int:
        """Return the number of lines."""
        return len(self._rows) if self._moment is None else self._moment

    def show(self, session: Session) -> None:
        """Show another moment of the same session."""
        self._session = session
        self._moment = None
        self.sync()
        if session is not self._newest:
            self._moment = self._rows_before(len(session.ended_calls))
        if self.cursor >= self.line_count():
            self.cursor = -1
        self.show_lines()

    def _rows_before(self, ended: int) -> int:
        """Return the number of rows before that of an ended call."""
        if ended >= self._calls:
            return len(self._rows)
        return self._row_of_call[self._newest.ended_calls[ended].number - 1] - 1

    def sync(self) -> None:
        """Add a line for each call that ended since the last update."""
        ended = self._newest.ended_calls
        for _ in range(len(self._row_of_call), len(self._newest.calls)):
            self._row_of_call.append(0)
        for index in ended.indices(self._calls, len(ended)):
            self._rows.append(2 * self._calls)
            self._row_of_call[index] = len(self._rows)
            self._calls += 1
        if self._session is not self._newest and self._moment is not None:
            self._moment = self._rows_before(len(self._session.ended_calls))
        if self.line_count() != self._shown_rows:
            self._shown_rows = self.line_count()
            self.show_lines()
            if self._chosen is not None and self.cursor < 0:
                self.cursor = self._row_of(self._chosen)

    def add_stderr(self, lines: list[str]) -> None:
        """Show lines that the agent wrote to stderr: at most 5,000, then a note about where the rest is."""
        room = max(_MOST_STDERR_LINES - self._stderr_lines, 0)
        shown = [safe_line(line[:_MOST_CHARACTERS]) for line in lines[:room]]
        if self._stderr_lines <= _MOST_STDERR_LINES < self._stderr_lines + len(lines):
            shown.append(SafeText("… the rest is in the .stderr file beside the recording"))
        self._stderr_lines += len(lines)
        for line in shown:
            self._stderr.append(line)
            self._rows.append(2 * len(self._stderr) - 1)

    def draw_row(self, y: int, width: int) -> Strip:
        """Return an action with its time in the user's time zone, or a line of stderr."""
        call = self._at(y)
        if not isinstance(call, Call):
            line = cut(call, max(width - 9, 1))
            return self.strip_of([(SafeText("  stderr "), "muted"), (line, "failed")])
        state = str(call.outcome)
        return self.strip_of(
            [
                (SafeText(f"{time_of_day(ended_ms(call))} "), "muted"),
                (SafeText(f"{SIGNS[call.outcome]} "), state),
                (cut(shown_action(call), max(width - 11, 1)), _style(call)),
            ]
        )

    def is_held(self, y: int) -> bool:
        """Return whether a row is that of the failed call whose detail stays open."""
        return self._held is not None and self._row_of(self._held) == y

    def mark_calls(self, chosen: Call | None, held: Call | None) -> None:
        """Mark the call that is selected in all panes, and the failure whose detail stays open."""
        if (self._chosen, self._held) == (chosen, held):
            return
        self._chosen, self._held = chosen, held
        self.cursor = -1 if chosen is None else self._row_of(chosen)
        self.refresh()

    def bring_call(self, call: Call) -> None:
        """Scroll to the line of a call, unless it is visible or the call has not ended."""
        row = self._row_of(call)
        if row >= 0:
            self.following = False
            self.bring_into_view(row)

    def choose(self, row: int) -> None:
        """Move the cursor to a row; the call of this row becomes the selected one."""
        count = self.line_count()
        if not count:
            return
        self.cursor = max(0, min(row, count - 1))
        self.following = self.cursor == count - 1
        self.bring_into_view(self.cursor)
        self._post_chosen(goes_there=False)

    def action_move(self, lines: int) -> None:
        """Move the cursor by a number of rows; without one, select the last row in view."""
        if self.cursor < 0:
            end = self.scroll_offset.y + self.scrollable_content_region.height
            self.choose(min(end, self.line_count()) - 1)
        else:
            self.choose(self.cursor + lines)

    def action_open(self) -> None:
        """Go to the detail of the selected call."""
        self._post_chosen(goes_there=True)

    def copied(self) -> tuple[SafeText, SafeText]:
        """Return what `y` copies in words, and its text: the selected line."""
        if not 0 <= self.cursor < self.line_count():
            return SafeText(""), SafeText("")
        call = self._at(self.cursor)
        if not isinstance(call, Call):
            return SafeText("stderr"), call
        return SafeText(f"#{call.number}"), action(call)

    def watch_cursor(self, old: int, new: int) -> None:
        """Redraw the rows that the cursor left and entered."""
        self.refresh_line(old)
        self.refresh_line(new)

    def _post_chosen(self, *, goes_there: bool) -> None:
        call = self._at(self.cursor) if 0 <= self.cursor < self.line_count() else None
        if isinstance(call, Call):
            self.post_message(self.Chosen(call, goes_there=goes_there))

    def _at(self, y: int) -> Call | SafeText:
        """Return the call of a row, or its line of stderr."""
        index, is_stderr = divmod(self._rows[y], 2)
        return self._stderr[index] if is_stderr else self._session.ended_calls[index]

    def _row_of(self, call: Call) -> int:
        row = self._row_of_call[call.number - 1] - 1 if call.number <= len(self._row_of_call) else -1
        return row if row < self.line_count() else -1


def _style(call: Call) -> str:
    return "plain" if call.outcome is Outcome.SUCCEEDED else str(call.outcome)
