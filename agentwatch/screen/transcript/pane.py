"""The transcript pane: prompt, thinking, text as Markdown, and each call in its place."""

from __future__ import annotations

from textual import events
from textual.binding import Binding
from textual.message import Message
from textual.strip import Strip

from agentwatch.analysis.matches import text_of
from agentwatch.analysis.query import Query
from agentwatch.safe_text import SafeText, safe_text
from agentwatch.screen.lines.format import time_of_day
from agentwatch.screen.lines.line_view import LineView
from agentwatch.screen.transcript.block_viewport import BlockViewport
from agentwatch.screen.transcript.reading import Reader, ReadingPosition
from agentwatch.screen.transcript.thoughts import Thoughts
from agentwatch.session import Call, Entry, Kind, Session


class Transcript(LineView):
    """What was said and done, in order; the line of a call leads to it, that of a thought opens it."""

    class CallChosen(Message):
        """The line of a call was chosen."""

        def __init__(self, call: Call, *, goes_there: bool) -> None:
            """Tell which call; `goes_there` when the user wants to be where it is told."""
            super().__init__()
            self.call = call
            self.goes_there = goes_there

    BINDINGS = [
        Binding(
            "enter",
            "open",
            "Open",
            show=False,
            id="open-line",
            tooltip="Go to the call, or unfold the thought",
        ),
        Binding(
            "right_square_bracket", "choose(1)", "Next call", show=False, id="next-line", key_display="]"
        ),
        Binding(
            "left_square_bracket",
            "choose(-1)",
            "Previous call",
            show=False,
            id="previous-line",
            key_display="[",
        ),
    ]

    def __init__(self, session: Session) -> None:
        super().__init__("1 Transcript", id="transcript")
        self._session = session
        self.viewport = BlockViewport(self, session)
        self.thoughts = Thoughts(self, self.viewport)
        self.reader = Reader(self, self.viewport, session)
        self._blocks, self._layout = self.viewport.blocks, self.viewport.layout
        self._renderer = self.viewport.renderer

    def line_count(self) -> int:
        """Return how many lines there are, by measure or estimate."""
        return self._layout.line_count()

    def draw(self, y: int, width: int) -> Strip:
        """Return one line of a block; a call's line is drawn from the call as it stands now."""
        index, row = self._layout.at(y)
        return self._renderer.line(index, row, width)

    def is_stable(self, line: int) -> bool:
        """Return whether a line is that of a text: calls and titles of thoughts show their current state."""
        index, row = self._layout.at(line)
        block = self._blocks.all[index]
        return block.entry.kind is not Kind.CALL and (row > 0 or block.entry.kind is not Kind.REASONING)

    def on_resize(self) -> None:
        """Wrap the blocks to the new width."""
        self.viewport.wrap(self.scrollable_content_region.width)
        super().on_resize()

    def notify_style_update(self) -> None:
        """Render the blocks in the styles of another theme."""
        super().notify_style_update()
        self._renderer.forget_styles()

    def sync(self, *, are_calls_new: bool = True) -> None:
        """Take what the session has learnt since the last time; a call's line is drawn from the call."""
        if not self.viewport.sync() and are_calls_new:
            self.refresh()

    def mark(self, query: Query | None, current: tuple[int, int] | None = None) -> None:
        """Mark the matches of a query wherever they are shown; the current match stands out.

        Args:
            query: What is searched for; None takes the marks away.
            current: The block of the current match, and which of those in the block it is.
        """
        self._renderer.mark(query, current)
        self.painter.forget_from(0)
        self.refresh()

    def toggle_reasoning(self) -> None:
        """Show all of the model's thinking, or fold what is done."""
        position = self.reader.position()
        self.thoughts.toggle_all()
        self.restore(position)

    def mark_new(self, at_ms: int) -> None:
        """Draw a rule above what comes next, `new since` this time; an earlier rule goes."""
        index = self._blocks.mark_new(SafeText(f"new since {time_of_day(at_ms)[:5]}"))
        if index is not None:
            self.viewport.forget_from(index)
            self.show_lines()

    def chosen_text(self) -> SafeText:
        """Return what `y` copies: the assistant's text of the last run."""
        return safe_text(self._session.run.text)

    def restore(self, position: ReadingPosition) -> None:
        """Go back to where the reader stood."""
        self.thoughts.fold_again()
        self.reader.restore(position)

    def reveal_call(self, call: Call) -> None:
        """Scroll to the line of a call and choose it."""
        number = self._blocks.entry_of_call(call.number)
        if number is not None:
            self.thoughts.fold_again()
            self._choose(number)

    def reveal_text(self, query: Query, number: int, offset: int) -> None:
        """Scroll to a match of a query in an entry, and mark it.

        Args:
            query: What was searched for.
            number: The number of the entry, from 0.
            offset: The character of its text at which the match begins.
        """
        if number >= self._blocks.entry_count:
            return
        self.thoughts.open_for_find(number)
        index = self._blocks.holding(number, offset)
        block = self._blocks.all[index]
        self.following = False
        if not self._layout.is_measured(index):
            self.viewport.measure(index)
        before = safe_text(text_of(block.entry, block.start, offset))
        nth = sum(1 for _ in query.pattern_in(block.entry.kind).finditer(before))
        self.mark(query)
        spans = self._renderer.spans_of(index)
        nth = min(nth, len(spans) - 1)
        self.mark(query, (index, nth))
        self.reader.bring_into_view(index, spans[nth][0][0] if spans and spans[nth] else 0)

    def action_choose(self, step: int) -> None:
        """Choose the next line of a call or a thought (1), or the one before (-1); at first one in view."""
        view = [self._blocks.all[index] for index in self.viewport.in_view()]
        seen = [block.number for block in view]
        edge = seen[0 if step > 0 else -1] if seen else 0
        number = self._renderer.chosen + step if self._renderer.chosen in seen else edge
        while 0 <= number < self._blocks.entry_count:
            if _is_marker(self._session.transcript[number]):
                self._choose(number)
                return
            number += step

    def action_open(self) -> None:
        """Go to the call whose line is chosen, open or fold the chosen thought; choose one where none is."""
        seen = {self._blocks.all[index].number for index in self.viewport.in_view()}
        if self._renderer.chosen in seen:
            self._open(self._renderer.chosen, goes_there=True)
        else:
            self.action_choose(-1)

    def on_click(self, event: events.Click) -> None:
        """Choose the line of a call, or open and fold a thought; a second click goes to the call."""
        place = event.get_content_offset(self)
        if place is None or self.screen.get_selected_text():
            return
        line = place.y + self.scroll_offset.y
        if line >= self.line_count():
            return
        index, row = self._layout.at(line)
        block = self._blocks.all[index]
        if row == 0 and block.start == 0 and _is_marker(block.entry):
            self._renderer.chosen = block.number
            self._open(block.number, goes_there=event.chain > 1)
            self.refresh()

    def _choose(self, number: int) -> None:
        self._renderer.chosen = number
        self.following = False
        self.reader.bring_into_view(self._blocks.of_entry(number).start, 0)

    def _open(self, number: int, *, goes_there: bool) -> None:
        call = self._session.transcript[number].call
        if call is not None:
            self.post_message(self.CallChosen(call, goes_there=goes_there))
            return
        position = self.reader.position()._replace(is_following=False)
        self.thoughts.toggle_by_user(number)
        self.restore(position)
        self.following = self.at_end()


def _is_marker(entry: Entry) -> bool:
    """Return whether an entry has a line that can be chosen: a call, or a thought that is done."""
    return entry.kind is Kind.CALL or (entry.kind is Kind.REASONING and not entry.is_open)
