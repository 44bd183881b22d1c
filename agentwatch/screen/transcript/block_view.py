"""A pane of the transcript's blocks: they stand on estimates until they are measured bit by bit."""

from __future__ import annotations

from time import perf_counter

from textual.strip import Strip

from agentwatch.analysis.query import Query
from agentwatch.screen.lines.line_view import LineView
from agentwatch.screen.transcript.block_renderer import BlockRenderer
from agentwatch.screen.transcript.blocks import Blocks
from agentwatch.session import Kind, Session

_CUT_SECONDS = 0.008
_MEASURE_SECONDS = 0.008
_LAY_OUT_SECONDS = 0.5


class BlockView(LineView):
    """What was said and done, in order.

    Blocks have an estimated height until they are measured: those in view at once, the others a few
    milliseconds at a time. Measuring all at once would hold up the screen: 28 s for 1 M tokens.
    """

    def __init__(self, session: Session) -> None:
        super().__init__("1 Transcript", id="transcript")
        self._session = session
        self._blocks = Blocks(session.transcript)
        self._layout = self._blocks.layout
        self._renderer = BlockRenderer(self, self._blocks.all, self._layout)
        self._measured = 0
        """Of every block before this one the height is known."""
        self._found_heights: dict[int, int] = {}
        """Heights by block that are not laid out yet."""
        self._lay_out_at = 0.0

    def line_count(self) -> int:
        """Return how many lines there are, by measure or estimate."""
        return self._layout.line_count()

    def take(self, width: int, seconds: float) -> bool:
        """Cut what the session holds before it is shown so wide; return whether all is cut.

        It takes about so many seconds: 250,000 blocks take 700 ms.
        """
        self._layout.width = width
        self._blocks.take(folds=True, seconds=seconds)
        return not self._blocks.is_behind

    @property
    def taken_percent(self) -> int:
        """How much of what the session holds is cut."""
        return 100 * self._blocks.entry_count // max(len(self._session.transcript), 1)

    def sync(self, *, are_calls_new: bool = True) -> None:
        """Take what the session has learnt since the last time; a call's line is drawn from the call."""
        first_changed = self._blocks.take(folds=self.following, seconds=_CUT_SECONDS)
        has_changed = first_changed < len(self._blocks.all)
        if has_changed:
            self._forget_blocks(first_changed)
        if self._measure_view() or has_changed:
            self.show_lines()
        elif are_calls_new:
            self.refresh()
        while self._measured < len(self._blocks.all) and self._layout.is_measured(self._measured):
            self._measured += 1

    @property
    def is_measuring(self) -> bool:
        """Whether there is text that is not cut into blocks, or a block whose height is an estimate."""
        is_all_known = self._measured == len(self._blocks.all) and not self._found_heights
        return self._blocks.is_behind or not is_all_known

    def measure_some(self) -> None:
        """Cut what is left to be cut, or else measure blocks for a few milliseconds.

        What is measured is laid out twice a second: all that is in view then moves to other lines.
        """
        if self._blocks.is_behind:
            self.sync()
        elif self.is_measuring and self._layout.width:
            until = perf_counter() + _MEASURE_SECONDS
            end = len(self._blocks.all)
            while self._measured < end and perf_counter() < until:
                if not self._layout.is_measured(self._measured):
                    self._found_heights[self._measured] = len(self._renderer.render(self._measured))
                self._measured += 1
            if self._measured == end or until >= self._lay_out_at:
                self._lay_out()

    def draw(self, y: int, width: int) -> Strip:
        """Return one line of a block; a call's line is drawn from the call as it stands now."""
        index, row = self._layout.at(y)
        return self._renderer.line(index, row, width)

    def is_stable(self, line: int) -> bool:
        """Return whether a line is that of a text: calls and titles of thoughts tell how they stand."""
        index, row = self._layout.at(line)
        block = self._blocks.all[index]
        return block.entry.kind is not Kind.CALL and (row > 0 or block.entry.kind is not Kind.REASONING)

    def on_resize(self) -> None:
        """Wrap anew what is in view; the first character in view stays about where it is."""
        width = self.scrollable_content_region.width
        if self._layout.width != width:
            place = self._place()
            self._layout.width, self._measured = width, 0
            self._forget_blocks(0)
            if place is not None:
                index, row, height = place
                self._measure(index)
                row = row * self._blocks.all[index].height // height if row > 0 else row
                self.settle_at(self._layout.line_of(index, row))
            self._measure_view()
            self.show_lines()
        super().on_resize()

    def notify_style_update(self) -> None:
        """Render anew in the looks of another theme."""
        super().notify_style_update()
        self._renderer.forget_styles()

    def mark(self, query: Query | None, current: tuple[int, int] | None = None) -> None:
        """Mark what a query finds wherever it is shown; the current match stands out.

        Args:
            query: What is looked for; None takes the marks away.
            current: The block of the current match, and which of those in the block it is.
        """
        self._renderer.mark(query, current)
        self.painter.forget_from(0)
        self.refresh()

    def _forget_blocks(self, first: int) -> None:
        """Render blocks anew from one on; what is kept of those before stays."""
        self._renderer.forget_from(first)
        self._measured = min(self._measured, first)
        for index in [index for index in self._found_heights if index >= first]:
            del self._found_heights[index]
        self.painter.forget_from(self._layout.top(first) if first else 0)

    def _lay_out(self) -> None:
        """Replace estimated heights by those that were found."""
        place = self._place()
        first = min(self._found_heights, default=0)
        for index, height in self._found_heights.items():
            self._set_height(index, height)
        self._found_heights.clear()
        self.painter.forget_from(self._layout.top(first) if first else 0)
        self._lay_out_at = perf_counter() + _LAY_OUT_SECONDS
        self._stay_at(place)
        self._measure_view()
        self.show_lines()

    def _measure(self, index: int) -> None:
        """Replace the estimated height of a block that is in view."""
        self._set_height(index, len(self._renderer.kept(index)))
        self.painter.forget_from(self._layout.top(index) if index else 0)

    def _set_height(self, index: int, height: int) -> None:
        more = self._layout.set_height(index, height)
        if more and not self.following:
            self._count_as_old(self._layout.top(index), more)

    def _place(self) -> tuple[int, int, int] | None:
        """Return the block and row at the top of the view, and the block's height; None at the end."""
        if self.following or not self.line_count():
            return None
        index, row = self._layout.at(min(self.scroll_offset.y, self.line_count() - 1))
        return index, row, self._blocks.all[index].height

    def _stay_at(self, place: tuple[int, int, int] | None) -> None:
        """Have the row at the top of the view again that was there; in its block it is told from the end."""
        if place is not None:
            index, row, height = place
            self.show_lines(redraw=False)
            row = row + self._blocks.all[index].height - height if row > 0 else row
            line = self._layout.line_of(index, row)
            if line != self.scroll_offset.y:
                self.settle_at(line)

    def _count_as_old(self, top: int, lines: int) -> None:
        """Take lines that a block at `top` gains for no news, if it was there when the end was let go."""
        if not self.following and top < self._count_when_let_go:
            self._count_when_let_go += lines

    def _measure_view(self) -> bool:
        """Measure every block in view, which may bring others into view; return whether there was one."""
        has_measured = False
        height = self.scrollable_content_region.height
        while self._layout.width:
            top = max(self.line_count() - height, 0) if self.following else self.scroll_offset.y
            pending = [index for index in self._in_view(top) if not self._layout.is_measured(index)]
            if not pending:
                break
            place = self._place()
            self._measure(pending[-1] if self.following else pending[0])
            self._stay_at(place)
            has_measured = True
        return has_measured

    def _in_view(self, top: float) -> range:
        """Return the blocks that have a line in a viewport that begins at `top`."""
        if not self.line_count():
            return range(0)
        last_line = min(int(top) + self.scrollable_content_region.height, self.line_count() - 1)
        return range(self._layout.at(min(int(top), last_line))[0], self._layout.at(last_line)[0] + 1)
