"""The table of calls: one row per call, drawn from the call as it stands now."""

from __future__ import annotations

from rich.segment import Segment
from textual import events
from textual.message import Message
from textual.reactive import var
from textual.strip import Strip

from agentwatch.actions import action, outcome_note, target
from agentwatch.events import Outcome
from agentwatch.feed import Feed
from agentwatch.safe_text import SafeText, columns, cut, safe_line
from agentwatch.screen.line_view import LineView
from agentwatch.screen.words import SIGNS, call_clock, fitted
from agentwatch.session import Call

_CLOCK = 8
_TOOL = 12
_NOTE = 16
_LEAST_TARGET = 14
_LEAST_NOTE = 5
"""A note gives way to the target, and vanishes where only so few columns are left for it."""


class CallTable(LineView):
    """Every call in the order in which it first appeared; the chosen one is shown in the detail."""

    cursor = var(-1)
    """The row of the chosen call; -1 while there is none."""

    class Chosen(Message):
        """Another call is chosen."""

        def __init__(self, call: Call) -> None:
            super().__init__()
            self.call = call

    BINDINGS = [("enter", "screen.pane('detail')", "Detail")]

    def __init__(self, feed: Feed) -> None:
        super().__init__("2 Calls", id="calls")
        self._feed = feed
        self.now_ms: int | None = None

    @property
    def chosen(self) -> Call | None:
        """The chosen call."""
        calls = self._feed.session.calls
        return calls[self.cursor] if 0 <= self.cursor < len(calls) else None

    def line_count(self) -> int:
        """Return how many calls there are."""
        return len(self._feed.session.calls)

    def sync(self, now_ms: int | None) -> None:
        """Take what the session has learnt; running clocks show the time at `now_ms`."""
        self.now_ms = now_ms
        self.show_lines()
        if self.following and self.line_count():
            self.cursor = self.line_count() - 1

    def tick(self, now_ms: int | None) -> None:
        """Draw the running clocks anew, and nothing else."""
        self.now_ms = now_ms
        first = self.scroll_offset.y
        rows = self._feed.session.calls[first : first + self.size.height]
        for row, call in enumerate(rows, first):
            if call.outcome is Outcome.RUNNING:
                self.refresh_line(row)

    def draw(self, y: int, width: int) -> Strip:
        """Return one row: sign, tool, target, what is known of the outcome, clock."""
        call = self._feed.session.calls[y]
        state = str(call.outcome)
        tool_width = min(_TOOL, width // 4)
        room = max(width - 2 - tool_width - _CLOCK, 1)
        least = min(columns(target(call)), _LEAST_TARGET)
        note_width = min(columns(short_note(call)) + 1, _NOTE, room - least)
        if note_width < _LEAST_NOTE:
            note_width = 0
        note = cut(short_note(call), note_width - 1) if note_width else SafeText("")
        name = fitted(target(call), room - note_width, is_path=call.path is not None)
        look = "plain" if call.outcome is Outcome.SUCCEEDED else state
        strip = self.strip_of(
            [
                (SafeText(f"{SIGNS[call.outcome]} "), state),
                (fitted(safe_line(call.tool), tool_width - 1), "muted"),
                (SafeText(f" {name}"), look),
                (SafeText(f" {note}" if note else ""), "muted" if look == "plain" else look),
                (SafeText(f"{call_clock(call, self.now_ms):>{_CLOCK}}"), "muted"),
            ]
        )
        if y == self.cursor:
            chosen = self.look("chosen")
            strip = Strip(
                [Segment(s.text, (s.style or chosen) + chosen) for s in strip.adjust_cell_length(width)]
            )
        return strip

    def chosen_text(self) -> SafeText:
        """Return what `y` copies: the chosen call as an action."""
        return SafeText("") if self.chosen is None else action(self.chosen)

    def choose(self, row: int) -> None:
        """Move the cursor; the newest call is followed when it is chosen."""
        count = self.line_count()
        if not count:
            return
        self.cursor = max(0, min(row, count - 1))
        self.following = self.cursor == count - 1
        self._reveal()

    def choose_failure(self, step: int) -> bool:
        """Move to the next (1) or previous (-1) call that failed; return whether there is one."""
        calls = self._feed.session.calls
        row = self.cursor + step
        while 0 <= row < len(calls):
            if calls[row].outcome in (Outcome.FAILED, Outcome.REJECTED):
                self.choose(row)
                return True
            row += step
        return False

    def watch_cursor(self, old: int, new: int) -> None:
        """Draw both rows anew and say which call is chosen."""
        self.refresh_line(old)
        self.refresh_line(new)
        if self.chosen is not None:
            self.post_message(self.Chosen(self.chosen))

    def at_end(self) -> bool:
        """Return whether the end is held: its row is in view, and chosen."""
        return super().at_end() and self.cursor == self.line_count() - 1

    async def on_click(self, event: events.Click) -> None:
        """Choose the row that was clicked; a second click opens its detail."""
        row = event.get_content_offset(self)
        if row is not None and (y := row.y + self.scroll_offset.y) < self.line_count():
            self.choose(y)
            if event.chain > 1:
                await self.run_action("screen.pane('detail')")

    def action_move(self, lines: int) -> None:
        """Choose the call so many rows further."""
        self.choose(self.cursor + lines)

    def action_top(self) -> None:
        """Choose the first call."""
        self.choose(0)

    def action_bottom(self) -> None:
        """Choose the newest call, and follow."""
        self.choose(self.line_count() - 1)
        super().action_bottom()

    def _reveal(self) -> None:
        top, height = self.scroll_offset.y, self.scrollable_content_region.height
        if self.cursor < top:
            self.settle_at(self.cursor)
        elif self.cursor >= top + height:
            self.settle_at(self.cursor - height + 1)


def short_note(call: Call) -> SafeText:
    """Return what is known of the outcome besides its sign: `exit 1`, `+8 -3`, `54 lines`."""
    if call.outcome is Outcome.FAILED and call.error:
        return safe_line(call.error.strip().partition("\n")[0])
    return SafeText("") if call.outcome is Outcome.RUNNING else outcome_note(call)
