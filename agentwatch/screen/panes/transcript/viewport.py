"""Lays out the blocks of a transcript in a pane, and scrolls to reading positions in them."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from time import perf_counter
from typing import NamedTuple

from textual.message import Message
from textual.strip import Strip

from agentwatch.screen.panes.transcript.blocks import Blocks
from agentwatch.screen.panes.transcript.renderer import BlockRenderer
from agentwatch.screen.widgets.line_view import LineView
from agentwatch.session.actions import began_ms
from agentwatch.session.call import Call
from agentwatch.session.session import Session
from agentwatch.session.transcript import Entry
from agentwatch.text.safe import SafeText
from agentwatch.text.times import time_of_day

_SLICE_SECONDS = 0.008
_MOST_MEASURED = 200
"""A transcript of at most this many blocks is measured whole, in 0.1 s, so that its scroll bar is exact."""


class BlockViewport:
    """Cuts a session's transcript into blocks, measures the visible ones, and keeps their lines in place. A
    block has an estimated height until it is visible: a million tokens would take 28 s."""

    class Unsettled(Message):
        """Posted when heights become estimates outside a tick, so that a tick measures them again."""

    def __init__(self, pane: LineView, session: Session) -> None:
        self._pane = pane
        self.session = session
        self._newest = self.blocks = Blocks(session.transcript)
        """The blocks of the newest moment, and the blocks that are shown."""
        self._is_measuring = False
        self._measured = 0
        """Every block before this index is measured, if the transcript is short."""
        self._same = 0
        """The number of blocks that are the same in both."""
        self.layout = self.blocks.layout
        self.renderer = BlockRenderer(pane, self.blocks.all, self.layout, session)

    @property
    def every(self) -> tuple[Blocks, ...]:
        """The blocks of the newest moment, and those that are shown if they are others."""
        return (self._newest,) if self._newest is self.blocks else (self._newest, self.blocks)

    def show(self, session: Session) -> None:
        is_newest = session.transcript is self._newest.all.transcript
        before = self._same if self.blocks is not self._newest else len(self._newest.all)
        self.blocks = self._newest if is_newest else self._newest.prefix(session.transcript)
        self.layout, self.session = self.blocks.layout, session
        self._same = len(self.blocks.all)
        first = min(self._same, before)
        self.renderer.show(self.blocks.all, self.layout, session, first)
        self.forget_from(first)
        self.blocks.take(folds=True)
        self._pane.painter.forget()

    def take_newest(self, seconds: float) -> None:
        if self.blocks is not self._newest and self._newest.is_behind:
            self._newest.take(folds=True, seconds=seconds)

    def take(self, width: int, seconds: float) -> bool:
        """Cut entries into blocks before the pane is shown; return whether all are: 250,000 take 700 ms."""
        self.layout.width = width
        self.blocks.take(folds=True, seconds=seconds)
        return not self.blocks.is_behind

    @property
    def taken_percent(self) -> int:
        return 100 * self.blocks.entry_count // max(len(self.session.transcript), 1)

    def sync(self) -> bool:
        """Cut new text into blocks; return whether the pane was redrawn."""
        first_changed = self.blocks.take(folds=self._pane.following, seconds=_SLICE_SECONDS)
        has_changed = first_changed < len(self.blocks.all)
        if has_changed:
            self._forget_from(first_changed)
        if has_changed or self.measure_view():
            self._pane.show_lines()  # measures what is in view
            return True
        return False

    @property
    def is_unsettled(self) -> bool:
        """Whether there is text that is not cut into blocks, or a block of a short transcript to measure."""
        count = len(self.blocks.all) if self.layout.width else 0
        return self.blocks.is_behind or self._measured < count <= _MOST_MEASURED

    def settle_some(self) -> None:
        """Cut remaining text into blocks, or else measure blocks of a short transcript, for about 8 ms."""
        if self.blocks.is_behind:
            if not self.sync():
                self._pane.refresh()
        elif self.is_unsettled:
            place, until = self._place(), perf_counter() + _SLICE_SECONDS
            while self.is_unsettled:
                if not self.layout.is_measured(self._measured):
                    self.measure(self._measured)
                self._measured += 1
                if perf_counter() >= until:
                    break
            self._stay_at(place)
            self._pane.show_lines()

    def wrap(self, width: int) -> None:
        if self.layout.width == width:
            return
        place = self._place()
        for blocks in self.every:
            blocks.layout.width = width
        self.forget_from(0)
        if place is not None:
            index, row, height = place
            self.measure(index)
            row = row * self.blocks.all[index].height // height if row > 0 else row
            self._pane.settle_at(self.layout.line_of(index, row))
        self.measure_view()
        self._pane.show_lines()

    def forget_from(self, first: int) -> None:
        """Discard rendered lines from block `first` on, and ask for a tick that measures the blocks again."""
        self._forget_from(first)
        self._pane.post_message(self.Unsettled())

    def _forget_from(self, first: int) -> None:
        self._measured = min(self._measured, first)
        self.renderer.forget_from(first)
        self._pane.painter.forget_from(self.layout.top(first) if first else 0)

    def mark_new(self, at_ms: int) -> None:
        """Draw a rule with `new since` and this time above the next entry, and remove an earlier rule."""
        index = self.blocks.mark_new(SafeText(f"new since {time_of_day(at_ms)[:5]}"))
        if index is not None:
            self.forget_from(index)
            self._pane.show_lines()

    def measure(self, index: int) -> None:
        more = self.layout.set_height(index, len(self.renderer.cached(index)) + self.layout.head_rows(index))
        top = self.layout.top(index) if index else 0
        if more:
            self.count_as_old(top, more)
            self._pane.move_selection(self.layout.top(index + 1) - more, more)
        self._pane.painter.forget_from(top)

    def count_as_old(self, top: int, lines: int) -> None:
        """Do not count lines that a re-measured block gains, unless it is below the end that was left."""
        pane = self._pane
        if not pane.following and top < pane.count_when_unfollowed:
            pane.count_when_unfollowed += lines

    def measure_view(self, fixed: int = 0) -> bool:
        """Measure the visible blocks until all are measured, because others may become visible; return
        whether any was not. The line in the row `fixed` stays there, unless the end is followed."""
        if self._is_measuring:  # keeping a line in its row shows the lines, which measures them
            return False
        self._is_measuring = True
        has_measured, pane = False, self._pane
        if self.layout.width and pane.following:
            has_measured = self._measure_end(pane.scrollable_content_region.height)
        while self.layout.width and not pane.following:
            pending = next((index for index in self.in_view() if not self.layout.is_measured(index)), None)
            if pending is None:
                break
            place = self._place(fixed)
            self.measure(pending)
            self._stay_at(place, fixed)
            has_measured = True
        self._is_measuring = False
        return has_measured

    def _measure_end(self, height: int) -> bool:
        """Measure the last blocks, of which `height` lines are in view; return whether any was not."""
        has_measured, layout = False, self.layout
        index = len(self.blocks.all)
        while index and height > 0:
            index -= 1
            if not layout.is_measured(index):
                self.measure(index)
                has_measured = True
            height -= layout.span(index)
        return has_measured

    def in_view(self) -> range:
        if not self.layout.line_count():
            return range(0)
        first = self._pane.scroll_offset.y
        last = min(first + self._pane.scrollable_content_region.height, self.layout.line_count() - 1)
        return range(self.layout.at(min(first, last))[0], self.layout.at(last)[0] + 1)

    def _place(self, fixed: int = 0) -> tuple[int, int, int] | None:
        """Return the block and its row at a row of the viewport, and its height; None if following."""
        if self._pane.following or not self.layout.line_count():
            return None
        index, row = self.layout.at(min(self._pane.scroll_offset.y + fixed, self.layout.line_count() - 1))
        return index, row, self.blocks.all[index].height

    def _stay_at(self, place: tuple[int, int, int] | None, fixed: int = 0) -> None:
        """Keep a row at a row of the viewport; within its block it is counted from the end."""
        if place is not None:
            index, row, height = place
            self._pane.show_lines(redraw=False)
            row = row + self.blocks.all[index].height - height if row > 0 else row
            line = max(self.layout.line_of(index, row) - fixed, 0)
            if line != self._pane.scroll_offset.y:
                self._pane.settle_at(line)


# The column of the transcript that shows the time at which each entry began.

_TIME_COLUMNS = 9


class TimeGutter:
    """A column of width 9 for the time at which each entry began; it may be hidden."""

    def __init__(self, pane: LineView, viewport: BlockViewport) -> None:
        self._pane = pane
        self._viewport = viewport
        self.columns = 0

    @property
    def is_shown(self) -> bool:
        return self.columns > 0

    def show(self, shown: bool) -> None:
        self.columns = _TIME_COLUMNS if shown else 0
        self.wrap()

    def wrap(self) -> None:
        if width := self._pane.scrollable_content_region.width:
            self._viewport.wrap(max(width - self.columns, 1))
            self._pane.painter.forget()
            self._pane.refresh()

    def with_time(self, strip: Strip, entry: Entry, *, is_first: bool) -> Strip:
        """Return a line of an entry after the column of times; the time is in the entry's first line."""
        at_ms = _began_ms(entry) if is_first else None
        time = "" if at_ms is None else time_of_day(at_ms)
        return Strip.join([self._pane.strip_of([(SafeText(f"{time:<{_TIME_COLUMNS}}"), "muted")]), strip])


def _began_ms(entry: Entry) -> int | None:
    return entry.started_ms if entry.call is None else began_ms(entry.call)


# The reading position in a transcript: records it, restores it, and scrolls to other positions.

# Locates the calls of a preview, which contains only the recording's head and tail, in the whole session.

_MOST_PARALLEL = 100


def same_call(calls: Sequence[Call], match_shown: Call) -> Call | None:
    """Return the call of the whole session that is the same as a call of the preview: they share a line of
    the recording. The preview may not have the line that started or the line that ended the call."""
    places = [place for place in (match_shown.started, match_shown.ended) if place is not None]
    if not places:
        return None
    end = bisect_right(calls, places[0].offset, key=_offset)
    near = calls[max(end - _MOST_PARALLEL, 0) : end]
    return next((call for call in reversed(near) if call.started in places or call.ended in places), None)


def call_near(entries: Sequence[Entry], number: int) -> tuple[Call, int] | None:
    """Return the call nearest to an entry, or the later of two, and the call's entry; None without calls."""
    for distance in range(len(entries)):
        for at in (number + distance, number - distance):
            if 0 <= at < len(entries) and (call := entries[at].call) is not None:
                return call, at
    return None


def _offset(call: Call) -> int:
    place = call.started or call.ended
    return -1 if place is None else place.offset


_MOST_ATTEMPTS = 8
"""Attempts to scroll to a row: blocks that are measured on the way may move it out of view again."""


class ReadingPosition(NamedTuple):
    """The end of the transcript if `is_following`, else a row of the block at the top of the viewport."""

    block: int
    row: int
    is_following: bool
    chosen: int | None
    """The number of the entry whose line is selected."""


class Reader:
    """Knows the reading position in a transcript's blocks, and scrolls to positions."""

    def __init__(self, pane: LineView, viewport: BlockViewport) -> None:
        self._pane = pane
        self._viewport = viewport

    def top_entry(self) -> tuple[int, int]:
        """Return the entry at the top of the viewport, and the offset of its visible block in its text."""
        if not self._pane.line_count():
            return 0, 0
        block = self._viewport.blocks.all[self.position().block]
        return block.number, block.start

    def position(self) -> ReadingPosition:
        following, chosen = self._pane.following, self._viewport.renderer.chosen
        if not self._pane.line_count():
            return ReadingPosition(0, 0, following, chosen)
        line = min(self._pane.scroll_offset.y, self._pane.line_count() - 1)
        return ReadingPosition(*self._viewport.layout.at(line), following, chosen)

    def restore(self, position: ReadingPosition) -> None:
        pane, viewport = self._pane, self._viewport
        viewport.renderer.chosen = position.chosen
        if position.is_following:
            pane.action_bottom()
        elif position.block < len(viewport.blocks.all):
            pane.following = False
            for _ in range(_MOST_ATTEMPTS):
                pane.show_lines()
                pane.settle_at(viewport.layout.line_of(position.block, position.row))
                if not viewport.measure_view():
                    break
        pane.show_lines()

    def same_position(self, preview: Reader) -> ReadingPosition | None:
        """Return the position in this transcript that shows the same text as a preview, located from the
        nearest call; None if the preview follows the end, or if its entry is not in this transcript."""
        if preview._pane.following or not preview._pane.line_count():
            return None
        position, blocks = preview.position(), self._viewport.blocks
        block = preview._viewport.blocks.all[position.block]
        near = call_near(preview._viewport.session.transcript, block.number)
        call = None if near is None else same_call(self._viewport.session.calls, near[0])
        at = None if call is None else blocks.entry_of_call(call.number)
        number = block.number if near is None or at is None else at + block.number - near[1]
        if not 0 <= number < blocks.entry_count:
            return None
        return position._replace(block=blocks.holding(number, block.start), chosen=None)

    def bring_into_view(self, index: int, row: int) -> None:
        """Scroll until a row of a block is visible, also after the blocks around it are measured."""
        pane, viewport = self._pane, self._viewport
        for _ in range(_MOST_ATTEMPTS):
            pane.show_lines()
            line, top = viewport.layout.line_of(index, row), pane.scroll_offset.y
            height = pane.scrollable_content_region.height
            if not top <= line < top + height:
                pane.settle_at(max(line - height // 3, 0))
            elif not viewport.measure_view():
                break
        pane.show_lines()
