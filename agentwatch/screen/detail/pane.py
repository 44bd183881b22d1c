"""The detail of the chosen call: what it was given and what it gave back, read from the recording."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from textual import events
from textual.binding import Binding
from textual.strip import Strip

from agentwatch.actions import action
from agentwatch.analysis.block_text import block_text
from agentwatch.analysis.query import Query
from agentwatch.blocks import Block, FieldsBlock
from agentwatch.feed import Feed
from agentwatch.safe_text import SafeText, safe_line
from agentwatch.screen.detail.branch_cursor import BranchCursor
from agentwatch.screen.detail.from_blocks import MOST_LINES, BlockSections, raw_piece
from agentwatch.screen.detail.section_list import SectionList
from agentwatch.screen.detail.sections import Section, Signed, bounded
from agentwatch.screen.detail.syntax import code_theme
from agentwatch.screen.lines.format import call_clock, time_of_day
from agentwatch.screen.lines.line_view import LineView, rows_in_view
from agentwatch.session import Call


class BlockMatch(NamedTuple):
    """A match in a piece of what a call was given or gave back."""

    call: Call
    block: Block | None
    nth: int
    """How many matches in the piece come before."""


class DetailView(LineView):
    """One call's arguments and result; the payload stays on disk until it is looked at."""

    BINDINGS = [
        Binding("enter,space", "fold", "Fold", show=False, id="fold", tooltip="Fold or unfold the branch"),
    ]

    def __init__(self, feed: Feed) -> None:
        super().__init__("3 Detail", id="detail")
        self._feed = feed
        self.call: Call | None = None
        """The call that is shown."""
        self._shown: tuple[object, ...] = ()
        self.is_raw = False
        """Whether the lines of the recording are shown as they are."""
        self._is_in_sight = False
        self._sections = SectionList([])
        self._branch = BranchCursor(self)
        self._width = 0
        self._query: Query | None = None
        self._shown_match: BlockMatch | None = None
        self._is_match_due = False

    def line_count(self) -> int:
        """Return how many rows the detail takes at this width."""
        return self._sections.rows

    def show_call(self, call: Call) -> None:
        """Show a call from its beginning."""
        if call is not self.call:
            self.call = call
            self.following = False
            self.sync()
            self._branch.choose(None)
            self.settle_at(0)

    def sync(self) -> None:
        """Read the call's lines again if it has come further since; out of sight nothing is read."""
        call = self.call
        now = (call, call and call.outcome, call and call.ended, self.is_raw, self.app.theme)
        if call is None or not self._is_in_sight:
            return
        if now != self._shown:
            self._shown = now
            self._read(call)
        elif not self._is_match_due:
            return
        if self._shown_match is not None and self._shown_match.call is call:
            self._show_match(self._shown_match)

    def mark(self, query: Query | None, match_shown: BlockMatch | None = None) -> None:
        """Mark what a query finds wherever it is shown; None takes the marks away.

        Args:
            query: What is looked for.
            match_shown: The match that stands out and is scrolled to.
        """
        self._query, self._shown_match, self._is_match_due = query, match_shown, match_shown is not None
        self._sections.mark(query)
        self.sync()
        self.refresh()

    def toggle_raw(self) -> None:
        """Show the lines of the recording as they are, or what they say."""
        self.is_raw = not self.is_raw
        self.sync()
        self._branch.choose(None)
        self.settle_at(0)

    def draw(self, y: int, width: int) -> Strip:
        """Return one row."""
        return self._branch.drawn(self._sections.row(y, self.line_style), y, width)

    def chosen_text(self) -> SafeText:
        """Return what `y` copies: all of the detail."""
        return self._sections.text()

    def on_show(self) -> None:
        """Read what was put off."""
        self._is_in_sight = True
        self.sync()

    def on_hide(self) -> None:
        """Read nothing until the pane is in sight again."""
        self._is_in_sight = False

    def on_resize(self) -> None:
        """Fold anew."""
        if self._width != self.scrollable_content_region.width:
            self._lay_out()
        super().on_resize()

    def notify_style_update(self) -> None:
        """Colour anew in another theme."""
        super().notify_style_update()
        if self.is_attached:
            self.sync()

    def show_below(self) -> None:
        """A detail does not grow at its end: nothing is ever new below."""

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Leave the keys that fold to the screen while no branch is chosen."""
        if action == "fold":
            return self._branch.row is not None
        return super().check_action(action, parameters)

    def action_fold(self) -> None:
        """Fold the chosen branch, or open it."""
        if self._branch.row is not None:
            self._sections.turn(self._branch.row)
            self.show_lines()

    def action_move(self, lines: int) -> None:
        """Choose the next branch in view; where there is none, move by so many lines."""
        if abs(lines) != 1 or not self._branch.step(self._sections, lines):
            super().action_move(lines)
            self._branch.choose(self._branch.row)

    def on_click(self, event: events.Click) -> None:
        """Fold the branch that was clicked, or open it."""
        offset = event.get_content_offset(self)
        row = -1 if offset is None else offset.y + self.scroll_offset.y
        if self._sections.is_branch(row):
            self._branch.choose(row)
            self.action_fold()

    def _read(self, call: Call) -> None:
        made = BlockSections(call, code_theme(self.app.current_theme), self.rich_style)
        told = _raw if self.is_raw else _told
        self._sections = SectionList(list(told(call, self._feed, made)))
        self._sections.mark(self._query)
        self._lay_out()

    def _show_match(self, match_shown: BlockMatch) -> None:
        """Let the match that is sought stand out; scroll to it once."""
        row = self._sections.row_of_match(match_shown.block, match_shown.nth)
        self.show_lines()
        if self._is_match_due and row is not None and row not in rows_in_view(self):
            self.settle_at(max(row - self.scrollable_content_region.height // 3, 0))
        self._is_match_due = False

    def _lay_out(self) -> None:
        self._width = max(self.scrollable_content_region.width, 1)
        self._branch.row = None
        self._sections.lay_out(self._width)
        self.show_lines()


def _told(call: Call, feed: Feed, made: BlockSections) -> Iterator[Section]:
    """Yield what the lines of a call say."""
    yield Section([action(call)], str(call.outcome))
    yield Section([_facts(call)], "muted")
    if call.exit_code is not None:
        yield Signed([SafeText(f"{'✗' if call.exit_code else '✓'} exit {call.exit_code}")])
    if call.error and call.error != f"exit {call.exit_code}":
        yield Section(bounded(call.error, MOST_LINES)[0], "failed")
    told = {call.error}
    for place in (call.ended, call.started):
        if place:
            blocks = [block for block in feed.blocks(place) if block_text(block) not in told]
            yield from made.sections(blocks, place)
            told |= {block_text(block) for block in blocks if not isinstance(block, FieldsBlock)}
    yield Section([SafeText(""), safe_line(f"call_id {call.call_id}")], "muted")


def _raw(call: Call, feed: Feed, made: BlockSections) -> Iterator[Section]:
    """Yield the lines of a call as the recording has them."""
    for title, place in (("started", call.started), ("ended", call.ended)):
        if place:
            told = f"{title} · byte {place.offset} · {place.length} bytes"
            yield Section([SafeText(told)], "heading")
            yield from made.raw(feed.line_at(raw_piece(place)), place)


def _facts(call: Call) -> SafeText:
    facts = [f"tool {call.tool}", call_clock(call, None)]
    if call.started_ms is not None:
        facts.append(f"started {time_of_day(call.started_ms)}")
    return safe_line(" · ".join(facts))
