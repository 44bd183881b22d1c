"""The transcript pane: prompt, thinking, text as Markdown, and each call in its place."""

from __future__ import annotations

from typing import NamedTuple

from textual import events
from textual.binding import Binding
from textual.message import Message

from agentwatch.analysis.matches import text_of
from agentwatch.analysis.query import Query
from agentwatch.safe_text import SafeText, safe_text
from agentwatch.screen.lines.format import time_of_day
from agentwatch.screen.preview import call_near, same_call
from agentwatch.screen.transcript.block_view import BlockView
from agentwatch.session import Call, Entry, Kind

_MOST_SETTLINGS = 8
"""What is measured on the way may push the line out of view again; each time there is less of it."""


class ReadingPosition(NamedTuple):
    """Where the reader stands: at the end, or with a row of a block at the top of the view."""

    block: int
    row: int
    is_following: bool
    chosen: int | None


class Transcript(BlockView):
    """What was said and done, in order; the line of a call leads to it, that of a thought opens it."""

    class CallChosen(Message):
        """The line of a call was chosen."""

        def __init__(self, call: Call, *, goes_there: bool) -> None:
            """Tell which call; `goes_there` when the user wants to be where it is told."""
            super().__init__()
            self.call = call
            self.goes_there = goes_there

    BINDINGS = [
        Binding("enter", "open", "Open", show=False, id="open-line", tooltip="To the call; open the thought"),
        Binding(
            "right_square_bracket", "choose(1)", "Next call", show=False, id="next-line", key_display="]"
        ),
        Binding(
            "left_square_bracket",
            "choose(-1)",
            "Call before",
            show=False,
            id="previous-line",
            key_display="[",
        ),
    ]

    _opened_by_find: int | None = None

    @property
    def shows_thinking(self) -> bool:
        """Whether the thoughts that are done are shown in full."""
        return self._layout.shows_thinking

    def toggle_reasoning(self) -> None:
        """Show all of the model's thinking, or fold what is done."""
        reading_position = self.reading_position()
        self._layout.shows_thinking = not self._layout.shows_thinking
        self._layout.exceptions.clear()
        before = self.line_count()
        self._layout.fold_all()
        self._count_as_old(0, self.line_count() - before)
        self._forget_blocks(0)
        self._measure_view()
        self.restore(reading_position)

    def mark_new(self, at_ms: int) -> None:
        """Draw a rule above what comes next, `new since` this time; an earlier rule goes."""
        index = self._blocks.mark_new(SafeText(f"new since {time_of_day(at_ms)[:5]}"))
        if index is not None:
            self._forget_blocks(index)
            self.show_lines()

    def chosen_text(self) -> SafeText:
        """Return what `y` copies: the assistant's text of the last run."""
        return safe_text(self._session.run.text)

    def position(self) -> tuple[int, int]:
        """Return the entry at the top of the view and the character of its text at which its block begins."""
        if not self.line_count():
            return 0, 0
        block = self._blocks.all[self._layout.at(min(self.scroll_offset.y, self.line_count() - 1))[0]]
        return block.number, block.start

    def entry_of(self, call: Call) -> int:
        """Return the number of the entry that is the place of a call."""
        return self._blocks.entry_of_call(call.number) or 0

    def reading_position(self) -> ReadingPosition:
        """Return where the reader stands, to return to it."""
        if not self.line_count():
            return ReadingPosition(0, 0, self.following, self._renderer.chosen)
        line = min(self.scroll_offset.y, self.line_count() - 1)
        return ReadingPosition(*self._layout.at(line), self.following, self._renderer.chosen)

    def restore(self, reading_position: ReadingPosition) -> None:
        """Go back to where the reader stood."""
        self.fold_again()
        self._renderer.chosen = reading_position.chosen
        if reading_position.is_following:
            self.action_bottom()
        elif reading_position.block < len(self._blocks.all):
            self.following = False
            for _ in range(_MOST_SETTLINGS):
                self.show_lines()
                self.settle_at(self._layout.line_of(reading_position.block, reading_position.row))
                if not self._measure_view():
                    break
        self.show_lines()

    def restore_from_preview(self, preview: Transcript) -> None:
        """Go to where the reader stands in a glimpse of the same session, told from the nearest call."""
        if preview.following or not preview.line_count():
            return
        reading_position = preview.reading_position()
        block = preview._blocks.all[reading_position.block]
        near = call_near(preview._session.transcript, block.number)
        call = None if near is None else same_call(self._session.calls, near[0])
        at = None if call is None else self._blocks.entry_of_call(call.number)
        number = block.number if near is None or at is None else at + block.number - near[1]
        if 0 <= number < self._blocks.entry_count:
            index = self._blocks.holding(number, block.start)
            self.restore(reading_position._replace(block=index, chosen=None))

    def reveal_call(self, call: Call) -> None:
        """Scroll to the line of a call and choose it."""
        number = self._blocks.entry_of_call(call.number)
        if number is not None:
            self.fold_again()
            self._choose(number)

    def reveal_text(self, query: Query, number: int, offset: int) -> None:
        """Scroll to where a query was found in an entry, and mark it.

        Args:
            query: What was looked for.
            number: The number of the entry, from 0.
            offset: The character of its text at which the match begins.
        """
        blocks = self._blocks
        if number >= blocks.entry_count:
            return
        if self._opened_by_find != number:
            self.fold_again()
            if self._layout.is_folded(blocks.all[blocks.of_entry(number).start].entry):
                self._opened_by_find = number
                self._fold(number)
        index = blocks.holding(number, offset)
        block = blocks.all[index]
        self.following = False
        if not self._layout.is_measured(index):
            self._measure(index)
        before = safe_text(text_of(block.entry, block.start, offset))
        nth = sum(1 for _ in query.pattern_in(block.entry.kind).finditer(before))
        self.mark(query)
        spans = self._renderer.spans_of(index)
        nth = min(nth, len(spans) - 1)
        self.mark(query, (index, nth))
        self._bring_into_view(index, spans[nth][0][0] if spans and spans[nth] else 0)

    def fold_again(self) -> None:
        """Fold the thought that was opened to show what was found in it."""
        number, self._opened_by_find = self._opened_by_find, None
        if number is not None:
            self._fold(number)

    def action_choose(self, step: int) -> None:
        """Choose the next line of a call or a thought (1), or the one before (-1); at first one in view."""
        view = [self._blocks.all[index] for index in self._in_view(self.scroll_offset.y)]
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
        seen = {self._blocks.all[index].number for index in self._in_view(self.scroll_offset.y)}
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
        self._bring_into_view(self._blocks.of_entry(number).start, 0)

    def _open(self, number: int, *, goes_there: bool) -> None:
        call = self._session.transcript[number].call
        if call is not None:
            self.post_message(self.CallChosen(call, goes_there=goes_there))
            return
        reading_position = self.reading_position()._replace(is_following=False)
        self._opened_by_find = None
        self._fold(number)
        self.restore(reading_position)
        self.following = self.at_end()

    def _fold(self, number: int) -> None:
        """Open a thought that is folded, or fold it again."""
        span, before = self._blocks.of_entry(number), self.line_count()
        self._layout.exceptions ^= {self._blocks.all[span.start].entry}
        self._blocks.fold(number)
        self._forget_blocks(span.start)
        self._count_as_old(self._layout.top(span.start), self.line_count() - before)
        self._measure_view()
        self.show_lines()

    def _bring_into_view(self, index: int, row: int) -> None:
        """Scroll to a row of a block unless it is in view; what is measured on the way does not move it."""
        for _ in range(_MOST_SETTLINGS):
            self.show_lines()
            line, top = self._layout.line_of(index, row), self.scroll_offset.y
            height = self.scrollable_content_region.height
            if not top <= line < top + height:
                self.settle_at(max(line - height // 3, 0))
            elif not self._measure_view():
                break
        self.refresh()


def _is_marker(entry: Entry) -> bool:
    """Return whether an entry has a line that can be chosen: a call, or a thought that is done."""
    return entry.kind is Kind.CALL or (entry.kind is Kind.REASONING and not entry.is_open)
