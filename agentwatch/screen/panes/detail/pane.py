"""The detail pane: what the selected call did, read from the recording."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, NamedTuple

from textual import events
from textual.binding import BindingType
from textual.content import Content
from textual.strip import Strip

from agentwatch.analysis.search import Query
from agentwatch.analysis.status import NO_WAIT, NO_WAITS, Waited, Waits
from agentwatch.feed.feed import Feed
from agentwatch.screen.keys import bindings
from agentwatch.screen.panes.detail.section_list import SectionList
from agentwatch.screen.widgets.line_view import LineView, Posted, rows_in_view
from agentwatch.screen.widgets.painting import laid_over
from agentwatch.screen.widgets.syntax import code_theme
from agentwatch.session.blocks import Block
from agentwatch.session.call import Call
from agentwatch.session.events import Outcome
from agentwatch.text.safe import SafeText, exact_text, safe_line

if TYPE_CHECKING:
    from agentwatch.analysis.verdicts import FileLine
    from agentwatch.screen.panes.detail.contents import CallHeading, DecodedCall


class BlockMatch(NamedTuple):
    call: Call
    block: Block | None
    nth: int
    """The number of matches before it in the block."""


class DetailScroller:
    """The view of a detail: the first column of cut lines, matches, a cursor over branches and failures."""

    def __init__(self, pane: LineView) -> None:
        self._pane = pane
        self.row: int | None = None
        self.sections = SectionList([])
        self._shown: object = None
        self.width = 0
        self._wraps = False
        self._left = 0
        self._failing: list[int] | None = None
        """The failing lines; None before they are searched."""
        self._query: Query | None = None
        self._match: BlockMatch | None = None
        self.is_match_due = False

    def choose(self, row: int | None) -> None:
        self.row = row if row in rows_in_view(self._pane) else None
        self._pane.refresh()

    def step(self, step: int) -> bool:
        row = self.sections.next_branch(self.row, step, rows_in_view(self._pane))
        if row is not None:
            self.choose(row)
        return row is not None

    def drawn(self, y: int, width: int) -> Strip:
        strip = self.sections.row(y, self._pane.line_style)
        if y != self.row or not self._pane.has_focus:
            return strip
        return laid_over(strip, self._pane.line_style("chosen"), width)

    def take(self, sections: SectionList, shown: object = None) -> None:
        """Show other sections. Selection and folds stay if the sections before showed the same (`shown`)."""
        before, row = self.sections, self.row
        is_same, self._shown = shown is not None and shown == self._shown, shown
        if is_same:
            sections.turn_as(before)
        self.sections, self.row = sections, None
        sections.mark(self._query)
        self.lay_out()
        if is_same and row is not None:
            self.row = sections.row_as(before, row)

    def begin(self) -> None:
        self._show_from(0)
        self.choose(None)
        self._pane.settle_at(0)

    def lay_out(self) -> None:
        self.width = max(self._pane.scrollable_content_region.width, 1)
        self._failing = None
        chosen = None if self.row is None else self.sections.line_at(self.row)
        self.sections.lay_out(self.width, wraps=self._wraps)
        self.row = None if chosen is None else self.sections.row_of_line(*chosen)
        self._show_from(self._left)
        self._pane.show_lines()

    def turn_wrapping(self) -> None:
        self._wraps = not self._wraps
        line = self.sections.line_at(self._pane.scroll_offset.y) if self.sections.rows else None
        self.lay_out()
        if line is not None:
            self._pane.settle_at(self.sections.row_of_line(*line))

    def go_sideways(self, step: int) -> None:
        """Scroll cut lines by half the width of the pane, to the right (1) or left (-1)."""
        most = self.sections.hidden_columns()
        self._show_from(max(min(self._left + step * max(self.width // 2, 1), most), 0))

    def go_to_failing_line(self) -> bool:
        from agentwatch.analysis.verdicts import is_failing

        if self._failing is None:
            self._failing = [row for row, line in self.sections.output_lines() if is_failing(line)]
        if not self._failing:
            return False
        at = -1 if self.row is None else self.row
        row = next((row for row in self._failing if row > at), self._failing[0])
        self._show_from(0)
        self._bring(row)
        self.choose(row)
        return True

    def files_at_cursor(self) -> list[FileLine]:
        from agentwatch.analysis.verdicts import files_near

        lines = [*self.sections.output_lines()]
        at = next((at for at, (row, _) in enumerate(lines) if row == self.row), None)
        return [] if at is None else files_near([line for _, line in lines], at)

    def mark(self, query: Query | None, match: BlockMatch | None) -> None:
        self._query, self._match, self.is_match_due = query, match, match is not None
        self.sections.mark(query)

    def show_match(self, call: Call) -> None:
        match = self._match
        if match is None or match.call is not call:
            return
        spot = self.sections.choose_match(match.block, match.nth)
        self._pane.show_lines()
        if self.is_match_due and spot is not None:
            row, left = spot
            self._show_from(left)
            if row not in rows_in_view(self._pane):
                self._bring(row)
        self.is_match_due = False

    def _bring(self, row: int) -> None:
        self._pane.settle_at(max(row - self._pane.scrollable_content_region.height // 3, 0))

    def _show_from(self, left: int) -> None:
        self._left = left
        self.sections.show_from(left)
        self._pane.refresh()


_TITLE = "3 Detail"
_COLOURS = {
    Outcome.SUCCEEDED: "$foreground-muted",
    Outcome.RUNNING: "$text-accent",
    Outcome.FAILED: "$text-error",
}
"""The colour of the border by the outcome; other outcomes have that of a warning."""
_FRAME_COLUMNS = 6
"""Columns of the border that its title cannot use."""


class DetailView(LineView):
    """Shows what one call did; its lines stay on disk until the pane is visible."""

    class Stepped(Posted):
        """Posted when the user goes to the next (1) or previous (-1) call."""

        step: int

    BINDINGS: ClassVar[list[BindingType]] = bindings("detail")

    def __init__(self, feed: Feed) -> None:
        super().__init__(_TITLE, id="detail")
        self.tab_title = _TITLE
        self._feed = feed
        self.call: Call | None = None
        self._is_pinned = False
        self._waits: Waits = NO_WAITS
        self._waited = NO_WAIT
        self._shown: tuple[object, ...] = ()
        self.is_raw = False
        self._is_in_sight = False
        self._view = DetailScroller(self)
        self._decoded: DecodedCall | None = None
        self.border = (Content(), Content())
        """The words in the border above and below the content."""
        self._heading: CallHeading | None = None
        """The row that names the call where the pane has no border."""

    def show(self, feed: Feed) -> None:
        """Show another moment of the same session: the call as it was then, or nothing before it began."""
        self._feed, calls, call = feed, feed.session.calls, self.call
        if call is not None:
            self.call = calls[call.number - 1] if call.number <= len(calls) else None
            self.sync()
        if self.call is None:
            self._shown, self._decoded, self._heading = (), None, None
            self._view.take(SectionList([]))

    def line_count(self) -> int:
        return self._view.sections.rows

    def show_call(self, call: Call, *, is_pinned: bool = False) -> None:
        is_new, self._is_pinned = self.call is None or call.number != self.call.number, is_pinned
        self.call = call
        if is_new:
            self.following = False
        self.sync()
        if is_new:
            self._view.begin()

    def show_waits(self, waits: Waits) -> None:
        self._waits = waits

    def tick(self, now_ms: int | None) -> None:
        call = self.call if self._is_in_sight else None
        wait = self._waits.get(call.number) if self._waits and call is not None else None
        waited = NO_WAIT if wait is None else Waited(wait, now_ms)
        if call is None or waited.words() == self._waited.words():
            return
        self._waited = waited
        if self._heading is not None:
            self._heading.waited = waited
        if self._decoded is not None:
            self._decoded.show_wait(waited)
        self._view.lay_out()

    def sync(self) -> None:
        """Read the call's lines again if the call has changed; do nothing while the pane is hidden."""
        call = self.call
        has_frame = bool(self.styles.border_top[0])
        state = (call, call and call.outcome, call and call.ended, self.is_raw, self.app.theme)
        now = (*state, has_frame, self._is_pinned, call and call.output, call and call.arguments_place)
        if call is None or not self._is_in_sight:
            return
        if now != self._shown:
            self._shown = now
            self._read(call, has_frame=has_frame)
        elif not self._view.is_match_due:
            return
        self._view.show_match(call)

    def mark(self, query: Query | None, match_shown: BlockMatch | None = None) -> None:
        """Highlight the matches of a query; without `match_shown`, the view stays in place."""
        self._view.mark(query, match_shown)
        self.sync()
        self.refresh()

    def toggle_raw(self) -> None:
        self.is_raw = not self.is_raw
        self.sync()
        self._view.begin()

    def draw(self, y: int, width: int) -> Strip:
        return self._view.drawn(y, width)

    def failing_files(self) -> list[FileLine]:
        return self._view.files_at_cursor()

    def copied(self) -> tuple[SafeText, SafeText]:
        """Return what `y` copies in words, `#12's output`, and its text."""
        sections, row = self._view.sections, self._view.row
        value = None if row is None else sections.value_at(row)
        if value is not None:
            name, text = value
        elif self.is_raw or self._decoded is None or not any(self._decoded.chosen()):
            name, text = SafeText("raw lines" if self.is_raw else "detail"), sections.text()
        else:
            copied, text = self._decoded.chosen()
            name = safe_line(copied)
        number = "" if self.call is None else f"#{self.call.number}'s "
        return SafeText(f"{number}{name}"), SafeText(exact_text(text).rstrip("\n"))

    def on_show(self) -> None:
        """Read the call's lines, which was postponed while the pane was hidden."""
        self._is_in_sight = True
        self.sync()

    def on_hide(self) -> None:
        self._is_in_sight = False

    def on_resize(self) -> None:
        self.sync()
        if self._view.width != self.scrollable_content_region.width:
            self._view.lay_out()
        super().on_resize()

    def notify_style_update(self) -> None:
        super().notify_style_update()
        if self.is_attached:
            self.sync()

    def show_below(self) -> None:
        """Name the call in the border, and its outcome too unless all of the content is in view."""
        is_outcome_away = self.is_raw or self.line_count() > self.scrollable_content_region.height
        if self._heading is not None:
            self._heading.show_outcome(is_outcome_away)
        named, outcome, call = "", Content(), self.call
        if call is not None:
            from agentwatch.screen.panes.detail.contents import brief_facts, title

            room = self.size.width - _FRAME_COLUMNS - len(_TITLE)
            named = f" · {title(call, room, is_pinned=self._is_pinned)}"
            if is_outcome_away:
                is_waiting = self._waited.wait is not None
                colour = "$text-warning" if is_waiting else _COLOURS.get(call.outcome, "$text-warning")
                outcome = Content.styled(brief_facts(call, self._waited), colour)
        border = (Content(f"{_TITLE}{named}"), outcome)
        if border != self.border:  # setting a title redraws the whole pane
            self.border = border
            self.border_title, self.border_subtitle = border

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Leave the keys of `fold` to the screen while no branch is selected."""
        if action == "fold":
            return self._view.row is not None and self._view.sections.is_branch(self._view.row)
        return super().check_action(action, parameters)

    def action_fold(self) -> None:
        if self._view.row is not None:
            self._view.sections.turn(self._view.row)
            self.show_lines()

    def action_view(self, change: str) -> None:
        if change in ("next", "previous"):
            self.post_message(self.Stepped(1 if change == "next" else -1))
        elif change == "wrap":
            self._view.turn_wrapping()
        elif change == "failing":
            if not self._view.go_to_failing_line():
                self.notify("no failing line in this call", markup=False)
        else:
            self._view.go_sideways(1 if change == "right" else -1)

    def action_move(self, lines: int) -> None:
        """Select the next visible branch; if there is none, scroll by a number of lines."""
        if abs(lines) != 1 or not self._view.step(lines):
            super().action_move(lines)
            self._view.choose(self._view.row)

    def on_click(self, event: events.Click) -> None:
        offset = event.get_content_offset(self)
        row = -1 if offset is None else offset.y + self.scroll_offset.y
        if self._view.sections.is_branch(row):
            self._view.choose(row)
            self.action_fold()

    def _read(self, call: Call, *, has_frame: bool) -> None:
        # Imported when the newest text is drawn: 2 ms.
        from agentwatch.screen.panes.detail.contents import CallHeading, DecodedCall, raw_sections
        from agentwatch.screen.panes.detail.from_blocks import BlockSections

        made = BlockSections(call, code_theme(self.app.current_theme), self)
        wait = self._waits.get(call.number)
        self._waited = NO_WAIT if wait is None else Waited(wait, self._waited.now_ms)
        self._decoded = None if self.is_raw else DecodedCall(call, self._feed, made, self._waited)
        sections = raw_sections(call, self._feed, made) if self._decoded is None else self._decoded.sections()
        self._heading = None if has_frame else CallHeading(call, self._waited, is_pinned=self._is_pinned)
        named = [] if self._heading is None else [self._heading]
        self._view.take(SectionList([*named, *sections]), (call.number, self.is_raw))
