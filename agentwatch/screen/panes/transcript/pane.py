"""The transcript pane: prompts, thinking, text as Markdown, and a line for each call."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

from textual import events
from textual.binding import BindingType
from textual.reactive import var
from textual.strip import Strip

from agentwatch.analysis.search import Query, text_of
from agentwatch.analysis.status import Waits
from agentwatch.screen.keys import bindings
from agentwatch.screen.panes.transcript.blocks import BlockLayout
from agentwatch.screen.panes.transcript.viewport import BlockViewport, Reader, ReadingPosition, TimeGutter
from agentwatch.screen.widgets.line_view import LineView, Posted
from agentwatch.session.actions import action
from agentwatch.session.call import Call
from agentwatch.session.session import Session
from agentwatch.session.transcript import Kind
from agentwatch.text.safe import SafeText, safe_text

# Folds the model's thoughts and the entries of subagents into one line each, and opens them.


class Thoughts:
    def __init__(self, pane: LineView, viewport: BlockViewport) -> None:
        self._pane = pane
        self._viewport = viewport
        self._opened_by_find: int | None = None
        self._subagent_opened_by_find: int | None = None

    @property
    def _layout(self) -> BlockLayout:
        return self._viewport.layout

    def toggle_all(self) -> None:
        layout = self._layout
        before, shown = layout.line_count(), not layout.shows_thinking
        layout.exceptions.clear()
        for blocks in self._viewport.every:
            blocks.layout.shows_thinking = shown
            blocks.layout.fold_all()
        self._viewport.count_as_old(0, layout.line_count() - before)
        self._viewport.forget_from(0)
        self._viewport.measure_view()

    def toggle(self, number: int) -> None:
        blocks, layout = self._viewport.blocks, self._layout
        before = layout.line_count()
        layout.exceptions ^= {number}
        for each in self._viewport.every:
            each.fold(number)
        if number >= blocks.entry_count:
            return  # it began after the moment that is shown
        self._show_from(blocks.of_entry(number).start, before)

    def toggle_by_user(self, number: int) -> None:
        """Open or fold a thought. Unlike after `open_for_find`, it stays so when a search ends."""
        self._opened_by_find = None
        self.toggle(number)

    def toggle_subagent_by_user(self, root: int) -> None:
        if self._subagent_opened_by_find == root:
            self._subagent_opened_by_find = None
        self.toggle_subagent(root)

    def open_for_find(self, number: int) -> None:
        """Open an entry that contains a match, if it is folded, until `fold_again` is called."""
        blocks = self._viewport.blocks
        entry = blocks.all.transcript[number]
        root = blocks.subagents.root(entry)
        if self._opened_by_find == number and not blocks.subagents.is_hidden(entry):
            return
        self.fold_again(but_subagent=root)
        if root is not None and blocks.subagents.is_hidden(entry):
            self._subagent_opened_by_find = root
            self.toggle_subagent(root)
        if self._layout.is_folded(entry):
            self._opened_by_find = number
            self.toggle(number)

    def toggle_subagent(self, root: int) -> None:
        """Open or fold the entries below a call of the main agent; `root` is its number."""
        blocks = self._viewport.blocks
        before = self._layout.line_count()
        blocks.subagents.turn(root)
        for each in self._viewport.every:
            tally = each.subagents.tally(root)
            for index in () if tally is None else tally.blocks:
                each.layout.fold(index)
        tally = blocks.subagents.tally(root)
        if tally is None or tally.head is None:
            return  # it began after the moment that is shown
        self._show_from(tally.head, before)

    def _show_from(self, first: int, before: int) -> None:
        """Draw the blocks from `first` on again, which took `before` lines with all others."""
        layout = self._layout
        self._viewport.forget_from(first)
        self._viewport.count_as_old(layout.top(first), layout.line_count() - before)
        self._viewport.measure_view()
        self._pane.show_lines()

    def show_entry(self, number: int) -> None:
        entry, subagents = self._viewport.blocks.all.transcript[number], self._viewport.blocks.subagents
        root = subagents.root(entry)
        if root is not None and subagents.is_hidden(entry):
            self.toggle_subagent(root)

    def fold_again(self, *, but_subagent: int | None = None) -> None:
        """Fold what `open_for_find` opened, except the entries of one subagent."""
        number, self._opened_by_find = self._opened_by_find, None
        if number is not None:
            self.toggle(number)
        root = self._subagent_opened_by_find
        if root is not None and root != but_subagent:
            self._subagent_opened_by_find = None
            self.toggle_subagent(root)


class Transcript(LineView):
    """Shows the entries of a session in order; the user can go to a call from its line and open a thought."""

    class CallChosen(Posted):
        """Posted when the line of a call is selected; with `goes_there` the user goes to the calls pane."""

        call: Call
        goes_there: bool

    BINDINGS: ClassVar[list[BindingType]] = bindings("transcript")

    has_thought = var(False)
    """Whether a thought, or the line of a folded subagent, is selected instead of a call."""

    def __init__(self, session: Session) -> None:
        super().__init__("1 Transcript", id="transcript")
        self._session = session
        self.viewport = BlockViewport(self, session)
        self.thoughts = Thoughts(self, self.viewport)
        self.reader = Reader(self, self.viewport)
        self.times = TimeGutter(self, self.viewport)
        self._clicked: int | None = None
        self._blocks, self._layout = self.viewport.blocks, self.viewport.layout
        self._renderer = self.viewport.renderer

    def show(self, session: Session) -> None:
        self._session = session
        self.viewport.show(session)
        self._blocks, self._layout = self.viewport.blocks, self.viewport.layout
        chosen = self._renderer.chosen
        if chosen is not None and chosen >= len(session.transcript):
            self._mark_line(None)
        self.show_lines()

    def line_count(self) -> int:
        return self._layout.line_count()

    def show_lines(self, *, redraw: bool = True) -> None:
        """Measure the blocks in view, and update the scroll range to the number of lines."""
        self.viewport.measure_view()
        super().show_lines(redraw=redraw)

    def action_bottom(self) -> None:
        super().action_bottom()
        self.show_lines()

    def draw(self, y: int, width: int) -> Strip:
        index, row = self._layout.at(y)
        line = self._renderer.line(index, row, max(width - self.times.columns, 1))
        if not self.times.is_shown:
            return line
        block = self._blocks.all[index]
        return self.times.with_time(line, block.entry, is_first=row == 0 and block.start == 0)

    def is_stable(self, line: int) -> bool:
        """Return whether a line is text; calls, titles of thoughts and outcomes change with their state."""
        index, row = self._layout.at(line)
        block = self._blocks.all[index]
        entry = block.entry
        is_title = row <= 0 and entry.kind is Kind.REASONING
        is_state = entry.kind is Kind.CALL or is_title or block.is_outcome
        return not is_state and not self._layout.has_head(entry, index)

    def on_resize(self) -> None:
        self.times.wrap()
        super().on_resize()

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Measure the blocks that have come into view; the lines that remain in view move by as many rows."""
        super().watch_scroll_y(old_value, new_value)
        if not self._is_settling:
            up = round(old_value) - round(new_value)
            height = self.scrollable_content_region.height
            if self.viewport.measure_view(fixed=up if 0 < up < height else 0):
                self.show_lines()

    def notify_style_update(self) -> None:
        super().notify_style_update()
        self._renderer.forget_styles()

    def sync(self, *, are_calls_new: bool = True) -> None:
        """Show new entries; with `are_calls_new`, redraw the visible lines also if there are none."""
        if not self.viewport.sync() and are_calls_new:
            self.refresh()

    def mark(self, query: Query | None, current: tuple[int, int] | None = None) -> None:
        """Highlight the matches. `current` is the block index of the current match, and its number there."""
        self._renderer.mark(query, current)
        self.painter.forget_from(0)
        self.refresh()

    def mark_calls(self, chosen: Call | None, pinned: Call | None) -> None:
        renderer = self._renderer
        if (renderer.chosen_call, renderer.pinned_call) == (chosen, pinned):
            return
        number = renderer.chosen
        if chosen is not None and (number is None or self._session.transcript[number].call is not None):
            number = self._blocks.entry_of_call(chosen.number)
        renderer.chosen_call, renderer.pinned_call = chosen, pinned
        self._mark_line(number)

    def leave_thought(self) -> None:
        """Select the call again that is selected in the other panes, if a thought is selected."""
        call = self._renderer.chosen_call
        if self.has_thought and call is not None:
            self._mark_line(self._blocks.entry_of_call(call.number))

    def _mark_line(self, number: int | None) -> None:
        renderer = self._renderer
        renderer.chosen = number
        call = None if number is None else self._session.transcript[number].call
        chosen = renderer.chosen_call
        self.has_thought = number is not None and (
            call is None or (chosen is not None and call.number != chosen.number)
        )
        renderer.has_thought = self.has_thought
        self.refresh()

    def show_waits(self, waits: Waits) -> None:
        self._renderer.waits = waits
        self.refresh()

    def toggle_reasoning(self) -> None:
        position = self.reader.position()
        self.thoughts.toggle_all()
        self.restore(position)

    def copied(self) -> tuple[SafeText, SafeText]:
        """Return what `y` copies, in words, and the copied text: the selected call or thought if it is
        visible, otherwise the last run's text with a blank line between its segments."""
        seen = {self._blocks.all[index].number for index in self.viewport.in_view()}
        if not self.following and self._renderer.chosen in seen:
            entry = self._session.transcript[self._renderer.chosen]
            if entry.kind not in (Kind.CALL, Kind.REASONING) or self._blocks.subagents.is_hidden(entry):
                return SafeText(""), SafeText("")
            if entry.call is not None:
                return SafeText(f"#{entry.call.number}"), action(entry.call)
            return SafeText("the thought"), safe_text(entry.text.strip("\n"))
        segments: list[str] = []
        for entry in reversed(self._session.transcript):
            if entry.parent is not None:
                continue
            if entry.kind is Kind.ANSWER:
                segments.append(entry.text.strip("\n"))
            elif entry.kind is Kind.RESULT and segments:
                break
        return SafeText("the text of the last run"), safe_text("\n\n".join(reversed(segments)))

    def restore(self, position: ReadingPosition) -> None:
        self.thoughts.fold_again()
        self.reader.restore(position)

    def reveal_call(self, call: Call) -> None:
        number = self._blocks.entry_of_call(call.number)
        if number is not None:
            self.thoughts.fold_again()
            self.thoughts.show_entry(number)
            self._choose(number)

    def bring_call(self, call: Call) -> None:
        """Scroll to the line of a call, or to that of the fold that hides it, unless it is visible."""
        number = self._blocks.entry_of_call(call.number)
        subagents = self._blocks.subagents
        if number is not None and subagents.is_hidden(self._session.transcript[number]):
            root = subagents.root_of(call)
            number = number if root is None else self._blocks.entry_of_call(root)
        if number is not None:
            self.following = False
            self.reader.bring_into_view(self._blocks.of_entry(number).start, 0)

    def reveal_text(self, query: Query, number: int, offset: int) -> None:
        """Scroll to a match of a query in an entry, and highlight it as the current one."""
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
        """Select the next (1) or previous (-1) call or thought; if none is selected, a visible one."""
        view = [self._blocks.all[index] for index in self.viewport.in_view()]
        seen = [block.number for block in view]
        edge = seen[0 if step > 0 else -1] if seen else 0
        number = self._renderer.chosen + step if self._renderer.chosen in seen else edge
        while 0 <= number < self._blocks.entry_count:
            if self._blocks.is_marker(number):
                self._choose(number)
                entry = self._session.transcript[number]
                if (call := entry.call) is not None and not self._blocks.subagents.is_hidden(entry):
                    self.post_message(self.CallChosen(call, goes_there=False))
                return
            number += step

    def action_open(self) -> None:
        """Go to the selected call, or turn the selected thought; if neither is visible, select one."""
        seen = {self._blocks.all[index].number for index in self.viewport.in_view()}
        chosen = self._renderer.chosen
        call = None if chosen is None else self._session.transcript[chosen].call
        if chosen is None or (call is None and chosen not in seen):
            self.action_choose(-1)
        elif chosen in seen and call is not None and self._blocks.subagents.tally(call.number) is not None:
            self._turn(self.thoughts.toggle_subagent_by_user, call.number)
        else:
            self._open(chosen, goes_there=True)

    def on_click(self, event: events.Click) -> None:
        """Select the call that was clicked, or open or fold the thought; a second click goes to the call."""
        place = event.get_content_offset(self)
        if place is None or self.screen.get_selected_text():
            return
        line = place.y + self.scroll_offset.y
        if line >= self.line_count():
            return
        index, row = self._layout.at(line)
        block = self._blocks.all[index]
        head = self._layout.head_rows(index)
        root = self._blocks.subagents.root(block.entry)
        if head and row == 0 and root is not None:
            self._mark_line(block.number)
            self._turn(self.thoughts.toggle_subagent_by_user, root)
        elif row == head and block.start == 0 and self._blocks.is_marker(block.number):
            is_second = event.chain > 1 or self._clicked == block.number == self._renderer.chosen
            self._clicked = block.number
            self._choose(block.number)
            self._open(block.number, goes_there=is_second)

    def _choose(self, number: int) -> None:
        entry = self._session.transcript[number]
        if entry.call is not None and not self._blocks.subagents.is_hidden(entry):
            self._renderer.chosen_call = entry.call
        self._mark_line(number)
        self.following = False
        self.reader.bring_into_view(self._blocks.of_entry(number).start, 0)

    def _open(self, number: int, *, goes_there: bool) -> None:
        entry = self._session.transcript[number]
        root = self._blocks.subagents.root(entry)
        if root and (
            self._blocks.subagents.is_hidden(entry) or entry.kind not in (Kind.CALL, Kind.REASONING)
        ):
            self._turn(self.thoughts.toggle_subagent_by_user, root)
            return
        if entry.call is not None:
            self.post_message(self.CallChosen(entry.call, goes_there=goes_there))
            return
        self._turn(self.thoughts.toggle_by_user, number)

    def _turn(self, toggle: Callable[[int], None], number: int) -> None:
        """Open or fold something, with the line at the top of the viewport in its place."""
        position = self.reader.position()._replace(is_following=False)
        toggle(number)
        self.restore(position)
        self.following = self.at_end()
