"""The transcript pane: prompt, thinking, text as Markdown, and each call in its place."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from itertools import accumulate
from time import perf_counter

from textual.cache import LRUCache
from textual.strip import Strip

from agentwatch.safe_text import SafeText, safe_text
from agentwatch.screen.entries import EntryRenderer, call_line
from agentwatch.screen.line_view import LineView
from agentwatch.screen.markdown import split_blocks
from agentwatch.session import Entry, Kind, Session

_KEPT_BLOCKS = 256
_MEASURE_SECONDS = 0.008
_GROWING = (Kind.ANSWER, Kind.REASONING)


@dataclass(slots=True)
class _Block:
    """A piece of an entry that is rendered as one."""

    entry: Entry
    start: int = 0
    end: int = 0
    is_code: bool = False
    is_last: bool = True
    """The last of its entry: it may still grow."""
    gap: int = 1
    """Blank lines above it."""
    height: int = 1
    is_measured: bool = False
    """Its height is that of its lines, not an estimate."""


class Transcript(LineView):
    """What was said and done, in order.

    Blocks have an estimated height until they are measured: those in view at once, the others a few
    milliseconds at a time. Measuring all at once would hold up the screen: 28 s for 1 M tokens.
    """

    def __init__(self, session: Session) -> None:
        super().__init__("1 Transcript", id="transcript")
        self._session = session
        self._shows_reasoning = True
        self._blocks: list[_Block] = []
        self._tops: list[int] = [0]
        self._entries = 0
        self._tail_start = 0
        self._strips: LRUCache[int, list[Strip]] = LRUCache(_KEPT_BLOCKS)
        self._renderer: EntryRenderer | None = None
        self._width = 0
        self._unmeasured = 0

    def line_count(self) -> int:
        """Return how many lines there are, by measure or estimate."""
        return self._tops[-1]

    def sync(self, *, are_calls_new: bool = True) -> None:
        """Take what the session has learnt since the last time; a call's line is drawn from the call."""
        first_changed = len(self._blocks)
        if self._entries:
            first_changed = min(first_changed, self._grow_last_entry())
        for entry in self._session.transcript[self._entries :]:
            self._entries += 1
            self._tail_start = 0
            self._add_blocks(entry)
        has_changed = first_changed < len(self._blocks)
        if has_changed:
            self._lay_out(first_changed)
        if self._measure_view() or has_changed:
            self.show_lines()
        elif are_calls_new:
            self.refresh()

    @property
    def is_measuring(self) -> bool:
        """Whether there are blocks whose height is an estimate."""
        return self._unmeasured > 0

    def measure_some(self) -> None:
        """Measure blocks that are out of view, the newest first, for a few milliseconds."""
        if not self._unmeasured:
            return
        until = perf_counter() + _MEASURE_SECONDS
        for index in range(len(self._blocks) - 1, -1, -1):
            if not self._blocks[index].is_measured:
                self._measure(index)
                if perf_counter() >= until:
                    break
        self._measure_view()
        self.show_lines()

    def toggle_reasoning(self) -> None:
        """Show the model's thinking, or leave it out."""
        self._shows_reasoning = not self._shows_reasoning
        self._start_over()

    def draw(self, y: int, width: int) -> Strip:
        """Return one line of a block; a call's line is drawn from the call as it stands now."""
        index = bisect_right(self._tops, y) - 1
        block = self._blocks[index]
        row = y - self._tops[index] - block.gap
        if row < 0:
            return Strip.blank(width)
        if block.entry.call is not None:
            return call_line(self, block.entry.call, width)
        strips = self._rendered(index)
        return strips[row] if row < len(strips) else Strip.blank(width)

    def is_stable(self, line: int) -> bool:
        """Return whether a line is that of a text; a call's line is drawn from the call."""
        index = bisect_right(self._tops, line) - 1
        return self._blocks[index].entry.call is None

    def chosen_text(self) -> SafeText:
        """Return what `y` copies: the assistant's text of the last run."""
        return safe_text(self._session.run.text)

    def on_resize(self) -> None:
        """Wrap anew; what is in view is measured at once."""
        if self._width != self.scrollable_content_region.width:
            self._start_over()
        super().on_resize()

    def notify_style_update(self) -> None:
        """Render anew in the looks of another theme."""
        super().notify_style_update()
        self._renderer = None
        self._strips.clear()

    def _start_over(self) -> None:
        self._width = self.scrollable_content_region.width
        self._strips.clear()
        for block in self._blocks:
            self._estimate(block)
        self._unmeasured = sum(not block.is_measured for block in self._blocks)
        self._lay_out(0)
        self._measure_view()
        self.show_lines()

    def _grow_last_entry(self) -> int:
        """Cut the last known entry's tail into blocks again; return the first block that changed."""
        last = self._blocks[-1] if self._blocks else None
        if last is None or not last.is_last or last.entry.kind not in _GROWING:
            return len(self._blocks)
        entry = last.entry
        if len(entry.said) == last.end and last.is_measured:
            return len(self._blocks)
        index = len(self._blocks) - 1
        self._drop_block(index)
        self._add_blocks(entry)
        return index

    def _add_blocks(self, entry: Entry) -> None:
        """Add the blocks of an entry from where the last one that may still change begins."""
        if entry.kind not in _GROWING:
            self._add_block(_Block(entry, 0, len(entry.said)))
            return
        tail = entry.said.part(self._tail_start)
        found = split_blocks(tail) or [(0, len(tail), False)]
        offset = self._tail_start
        for number, (start, end, is_code) in enumerate(found):
            is_last = number == len(found) - 1
            self._add_block(_Block(entry, offset + start, offset + end, is_code, is_last))
            if is_last:
                self._tail_start = offset + start

    def _add_block(self, block: _Block) -> None:
        above = self._blocks[-1].entry if self._blocks else None
        are_calls = above is not None and above.call is not None and block.entry.call is not None
        block.gap = 0 if above is None or are_calls else 1
        self._estimate(block)
        self._blocks.append(block)
        self._unmeasured += not block.is_measured

    def _drop_block(self, index: int) -> None:
        block = self._blocks.pop(index)
        self._unmeasured -= not block.is_measured
        self._strips.discard(index)

    def _estimate(self, block: _Block) -> None:
        entry = block.entry
        block.is_measured = entry.call is not None or self._is_hidden(entry)
        if entry.call is not None:
            block.height = 1
        elif self._is_hidden(entry):
            block.height = 0
        else:
            text = entry.said.part(block.start, block.end)
            block.height = text.count("\n") + len(text) // max(self._width, 20) + 1

    def _is_hidden(self, entry: Entry) -> bool:
        return entry.kind is Kind.REASONING and not self._shows_reasoning

    def _lay_out(self, first: int) -> None:
        """Add up the heights from a block on."""
        self.forget_from(self._tops[first] if first else 0)
        heights = (block.height and block.height + block.gap for block in self._blocks[first:])
        self._tops[first:] = accumulate(heights, initial=self._tops[first] if first else 0)

    def _measure(self, index: int) -> None:
        """Replace an estimated height; what is in view stays where it is."""
        block = self._blocks[index]
        before, top = block.height, self._tops[index]
        block.height, block.is_measured = len(self._rendered(index)), True
        self._unmeasured -= 1
        if block.height == before:
            return
        self._lay_out(index)
        if not self.following and top < self.scroll_offset.y:
            self.show_lines(redraw=False)
            self.settle_at(self.scroll_offset.y + block.height - before)

    def _measure_view(self) -> bool:
        """Measure every block in view, which may bring others into view; return whether there was one."""
        if not self._width or not self._unmeasured:
            return False
        before = self._unmeasured
        height = self.scrollable_content_region.height
        while True:
            top = max(self._tops[-1] - height, 0) if self.following else self.scroll_offset.y
            first = bisect_right(self._tops, top) - 1
            last = min(bisect_right(self._tops, top + height), len(self._blocks))
            pending = [i for i in range(max(first, 0), last) if not self._blocks[i].is_measured]
            if not pending:
                return self._unmeasured < before
            self._measure(pending[-1] if self.following else pending[0])

    def _rendered(self, index: int) -> list[Strip]:
        strips = self._strips.get(index)
        if strips is None:
            block = self._blocks[index]
            if self._renderer is None:
                self._renderer = EntryRenderer(self, dark=self.app.current_theme.dark)
            strips = self._renderer.render(
                block.entry, block.start, block.end, self._width, is_code=block.is_code
            )
            self._strips[index] = strips
        return strips
