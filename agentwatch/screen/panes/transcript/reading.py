"""The reading position in a transcript: records it, restores it, and scrolls to other positions."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import NamedTuple

from agentwatch.screen.panes.transcript.viewport import BlockViewport
from agentwatch.screen.widgets.line_view import LineView
from agentwatch.session.call import Call
from agentwatch.session.session import Session
from agentwatch.session.transcript import Entry

# Locates the calls of a preview, which contains only the recording's head and tail, in the whole session.

_MOST_PARALLEL = 100


def same_call(calls: Sequence[Call], match_shown: Call) -> Call | None:
    """Return the call of the whole session that is the same as a call of the preview; None if there is none.
    The two are the same if they share a line of the recording. The preview may lack the other line of the
    call: the one that started or the one that ended it. `calls` are those of the whole session, in order."""
    places = [place for place in (match_shown.started, match_shown.ended) if place is not None]
    if not places:
        return None
    end = bisect_right(calls, places[0].offset, key=_offset)
    near = calls[max(end - _MOST_PARALLEL, 0) : end]
    return next((call for call in reversed(near) if call.started in places or call.ended in places), None)


def call_near(entries: Sequence[Entry], number: int) -> tuple[Call, int] | None:
    """Return the call nearest to an entry and the number of its entry; None if there are no calls.

    Of two calls at the same distance, it is the later one.
    """
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
    """The reading position: the end if `is_following`, else the row of a block at the top of the viewport."""

    block: int
    row: int
    is_following: bool
    chosen: int | None
    """The number of the entry whose line is selected."""


class Reader:
    """Records the reading position in a transcript's blocks, and scrolls to positions."""

    def __init__(self, pane: LineView, viewport: BlockViewport, session: Session) -> None:
        self._pane = pane
        self._viewport = viewport
        self._session = session

    def show(self, session: Session) -> None:
        """Read the transcript of another moment of the same session."""
        self._session = session

    def entry_of(self, call: Call) -> int:
        """Return the number of a call's entry; 0 if it is not yet cut into blocks."""
        return self._viewport.blocks.entry_of_call(call.number) or 0

    def top_entry(self) -> tuple[int, int]:
        """Return the entry at the top of the viewport, and the offset of its visible block in its text."""
        if not self._pane.line_count():
            return 0, 0
        block = self._viewport.blocks.all[self.position().block]
        return block.number, block.start

    def position(self) -> ReadingPosition:
        """Return the current reading position."""
        following, chosen = self._pane.following, self._viewport.renderer.chosen
        if not self._pane.line_count():
            return ReadingPosition(0, 0, following, chosen)
        line = min(self._pane.scroll_offset.y, self._pane.line_count() - 1)
        return ReadingPosition(*self._viewport.layout.at(line), following, chosen)

    def restore(self, position: ReadingPosition) -> None:
        """Restore an earlier reading position."""
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
        """Return the position in this transcript that shows the same text as a preview does. The nearest call
        in the preview is located in the whole session; the position is relative to it. Return None if the
        preview follows the end, or if its entry is not in this transcript."""
        if preview._pane.following or not preview._pane.line_count():
            return None
        position, blocks = preview.position(), self._viewport.blocks
        block = preview._viewport.blocks.all[position.block]
        near = call_near(preview._session.transcript, block.number)
        call = None if near is None else same_call(self._session.calls, near[0])
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
