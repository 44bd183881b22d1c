"""The detail pane: what the selected call did, read from the recording."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar

from textual import events
from textual.binding import BindingType
from textual.content import Content
from textual.message import Message
from textual.strip import Strip

from agentwatch.analysis.search import Query
from agentwatch.analysis.status import NO_WAITS, Waits
from agentwatch.feed.feed import Feed
from agentwatch.screen.keys import bindings
from agentwatch.screen.panes.detail.contents import (
    NO_WAIT,
    CallHeading,
    DecodedCall,
    Waited,
    brief_facts,
    facts,
    title,
)
from agentwatch.screen.panes.detail.from_blocks import BlockSections, raw_piece
from agentwatch.screen.panes.detail.section_list import SectionList
from agentwatch.screen.panes.detail.sections import Section
from agentwatch.screen.panes.detail.view import BlockMatch, BranchCursor, DetailScroller
from agentwatch.screen.widgets.line_view import LineView
from agentwatch.screen.widgets.syntax import code_theme
from agentwatch.session.call import Call
from agentwatch.session.events import Outcome
from agentwatch.text.safe import SafeText, exact_text, safe_line

if TYPE_CHECKING:
    from agentwatch.analysis.verdicts import FileLine

_TITLE = "3 Detail"
_COLOURS = {
    Outcome.SUCCEEDED: "$foreground-muted",
    Outcome.RUNNING: "$text-accent",
    Outcome.FAILED: "$text-error",
}
"""The colour of a call's outcome in the border; all others are a warning."""
_FRAME_COLUMNS = 6
"""Columns of the border that its title cannot use."""


class DetailView(LineView):
    """Shows what one call did; its lines stay on disk until the pane is visible."""

    class Stepped(Message):
        """Posted when the user goes to the next (1) or previous (-1) call."""

        def __init__(self, step: int) -> None:
            super().__init__()
            self.step = step

    BINDINGS: ClassVar[list[BindingType]] = bindings("detail")

    def __init__(self, feed: Feed) -> None:
        super().__init__(_TITLE, id="detail")
        self.tab_title = _TITLE
        self._feed = feed
        self.call: Call | None = None
        """The call that is shown; None before the first one."""
        self._is_held = False
        self._waits: Waits = NO_WAITS
        self._waited = NO_WAIT
        """What the call that is shown waits for."""
        self._shown: tuple[object, ...] = ()
        self.is_raw = False
        """Whether the raw lines of the recording are shown instead of their decoded content."""
        self._is_in_sight = False
        self._branch = BranchCursor(self)
        self._view = DetailScroller(self, self._branch)
        self._decoded: DecodedCall | None = None
        self.border = (Content(), Content())
        """What the border says above and below the content."""
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
        """Return the number of rows at the current width."""
        return self._view.sections.rows

    def show_call(self, call: Call, *, is_held: bool = False) -> None:
        """Show a call from its beginning. A failed call that `is_held` stays in the detail while newer calls
        are selected."""
        is_new, self._is_held = self.call is None or call.number != self.call.number, is_held
        self.call = call
        if is_new:
            self.following = False
        self.sync()
        if is_new:
            self._view.begin()

    def show_waits(self, waits: Waits) -> None:
        """Show which calls wait for the user."""
        self._waits = waits

    def tick(self, now_ms: int | None) -> None:
        """Show how long the call waits for the user, if it does."""
        call = self.call if self._is_in_sight else None
        wait = self._waits.get(call.number) if self._waits and call is not None else None
        waited = NO_WAIT if wait is None else Waited(wait, now_ms)
        if call is None or waited.words() == self._waited.words():
            return
        self._waited = waited
        if self._heading is not None:
            self._heading.waited = waited
        if self._decoded is not None:
            self._decoded.facts.lines = [facts(call, waited)]
        self._view.lay_out()

    def sync(self) -> None:
        """Read the call's lines again if the call has changed; do nothing while the pane is hidden."""
        call = self.call
        has_frame = bool(self.styles.border_top[0])
        state = (call, call and call.outcome, call and call.ended, self.is_raw, self.app.theme)
        now = (*state, has_frame, self._is_held, call and call.output, call and call.arguments_place)
        if call is None or not self._is_in_sight:
            return
        if now != self._shown:
            self._shown = now
            self._read(call, has_frame=has_frame)
        elif not self._view.is_match_due():
            return
        self._view.show_match(call)

    def mark(self, query: Query | None, match_shown: BlockMatch | None = None) -> None:
        """Highlight the matches of a query, and scroll to one of them. `query` is None to remove the
        highlights; `match_shown`, which gets another style, is None to leave the view in place."""
        self._view.mark(query, match_shown)
        self.sync()
        self.refresh()

    def toggle_raw(self) -> None:
        """Toggle between the raw lines of the recording and their decoded content."""
        self.is_raw = not self.is_raw
        self.sync()
        self._view.begin()

    def draw(self, y: int, width: int) -> Strip:
        """Return one row."""
        return self._branch.drawn(self._view.sections.row(y, self.line_style), y, width)

    def failing_files(self) -> list[FileLine]:
        """Return the files that the selected failing line is about; none if no such line is selected."""
        return self._view.files_at_cursor()

    def copied(self) -> tuple[SafeText, SafeText]:
        """Return what `y` copies in words, `#12's output`, and its text."""
        sections, row = self._view.sections, self._branch.row
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
        """Read nothing until the pane is visible again."""
        self._is_in_sight = False

    def on_resize(self) -> None:
        """Fit the lines to the new width."""
        self.sync()
        if self._view.width != self.scrollable_content_region.width:
            self._view.lay_out()
        super().on_resize()

    def notify_style_update(self) -> None:
        """Highlight the code again, in the colours of the new theme."""
        super().notify_style_update()
        if self.is_attached:
            self.sync()

    def show_below(self) -> None:
        """Name the call in the border, and its outcome too unless all of the content is in view."""
        is_outcome_away = self.is_raw or self.line_count() > self.scrollable_content_region.height
        if self._heading is not None:
            self._heading.show_outcome(is_outcome_away)
        _name_border(self, self.call, self._waited, is_held=self._is_held, has_outcome=is_outcome_away)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Leave the keys of `fold` to the screen while no branch is selected."""
        if action == "fold":
            return self._branch.row is not None and self._view.sections.is_branch(self._branch.row)
        return super().check_action(action, parameters)

    def action_fold(self) -> None:
        """Fold or open the selected branch."""
        if self._branch.row is not None:
            self._view.sections.turn(self._branch.row)
            self.show_lines()

    def action_view(self, change: str) -> None:
        """Show another part: `left`, `right`, `wrap`, `failing`, or the `next` or `previous` call."""
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
        if abs(lines) != 1 or not self._branch.step(self._view.sections, lines):
            super().action_move(lines)
            self._branch.choose(self._branch.row)

    def on_click(self, event: events.Click) -> None:
        """Fold or open the branch that was clicked."""
        offset = event.get_content_offset(self)
        row = -1 if offset is None else offset.y + self.scroll_offset.y
        if self._view.sections.is_branch(row):
            self._branch.choose(row)
            self.action_fold()

    def _read(self, call: Call, *, has_frame: bool) -> None:
        made = BlockSections(call, code_theme(self.app.current_theme), self)
        wait = self._waits.get(call.number)
        self._waited = NO_WAIT if wait is None else Waited(wait, self._waited.now_ms)
        self._decoded = None if self.is_raw else DecodedCall(call, self._feed, made, self._waited)
        sections = (
            _raw_sections(call, self._feed, made) if self._decoded is None else self._decoded.sections()
        )
        self._heading = None if has_frame else CallHeading(call, self._waited, is_held=self._is_held)
        named = [] if self._heading is None else [self._heading]
        self._view.take(SectionList([*named, *sections]), (call.number, self.is_raw))


def _name_border(
    pane: DetailView, call: Call | None, waited: Waited, *, is_held: bool, has_outcome: bool
) -> None:
    """Name the call in the border, and its outcome below if `has_outcome`."""
    named, outcome = "", Content()
    if call is not None:
        room = pane.size.width - _FRAME_COLUMNS - len(_TITLE)
        named = f" · {title(call, room, is_held=is_held)}"
        if has_outcome:
            colour = _COLOURS.get(call.outcome, "$text-warning") if waited.wait is None else "$text-warning"
            outcome = Content.styled(brief_facts(call, waited), colour)
    border = (Content(f"{_TITLE}{named}"), outcome)
    if border != pane.border:  # setting a title redraws the whole pane
        pane.border = border
        pane.border_title, pane.border_subtitle = border


def _raw_sections(call: Call, feed: Feed, made: BlockSections) -> Iterator[Section]:
    for words, place in (("started", call.started), ("described", call.described), ("ended", call.ended)):
        if place:
            heading = f"{words} · byte {place.offset} · {place.length} bytes"
            yield Section([SafeText(heading)], "heading")
            yield from made.raw(feed.line_at(raw_piece(place)), place)
