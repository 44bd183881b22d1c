"""Renders the blocks of a transcript when they are visible, and highlights the matches of a query."""

from __future__ import annotations

from functools import partial

from textual.cache import LRUCache
from textual.strip import Strip

from agentwatch.analysis.search import Query
from agentwatch.analysis.status import NO_WAITS, Waits
from agentwatch.screen.panes.transcript.block_list import (
    SIGN_COLUMNS,
    BlockList,
    EntryRenderer,
    call_line,
    rule_line,
    thinking_line,
)
from agentwatch.screen.panes.transcript.blocks import BlockLayout
from agentwatch.screen.panes.transcript.subagents import name_of
from agentwatch.screen.widgets.line_view import LineView
from agentwatch.screen.widgets.painting import chosen_row, laid_over, mark_strip, marked
from agentwatch.screen.widgets.syntax import code_theme
from agentwatch.session.call import Call
from agentwatch.session.session import Session, ending_of_turn
from agentwatch.session.transcript import Entry, Kind
from agentwatch.text.safe import SafeText, cut

_KEPT_BLOCKS = 256
_HEAD_INDENT = 2
_MARKED = (Kind.CALL, Kind.REASONING)
"""Entries with a line of their own that is marked when they are selected."""
Spans = list[list[tuple[int, int, int]]]
"""The row, start and end of each piece of each match in a block; a wrapped match has several pieces."""


class BlockRenderer:
    """Renders the blocks of a pane, and caches the lines of the 256 blocks used last."""

    def __init__(self, pane: LineView, blocks: BlockList, layout: BlockLayout, session: Session) -> None:
        self.chosen: int | None = None
        self.chosen_call: Call | None = None
        self.has_thought = False
        """Whether a line other than that of this call is selected, so that the call is not marked."""
        self.pinned_call: Call | None = None
        self.waits: Waits = NO_WAITS
        self.has_numbers = True
        self._pane = pane
        self._blocks = blocks
        self._layout = layout
        self._session = session
        self._entries: EntryRenderer | None = None
        self._strips: LRUCache[int, list[Strip]] = LRUCache(_KEPT_BLOCKS)
        self._query: Query | None = None
        self._current: tuple[int, int] | None = None
        self._spans: LRUCache[int, Spans] = LRUCache(_KEPT_BLOCKS)

    def show(self, blocks: BlockList, layout: BlockLayout, session: Session, first: int) -> None:
        """Draw other blocks from now on; those before block number `first` are the same as before."""
        self._blocks, self._layout, self._session = blocks, layout, session
        self.forget_from(first)

    def line(self, index: int, row: int, width: int) -> Strip:
        """Return a row of a block; a negative row is in the gap above it: the rule or a blank line."""
        if row < 0:
            return self._gap_row(index, row, width)
        strips = self._rows_of(index, width)
        if row >= len(strips):
            return Strip.blank(width)
        return self._with_marks(strips[row], index, row) if self._query else strips[row]

    def cached(self, index: int) -> list[Strip]:
        strips = self._strips.get(index)
        if strips is None:
            strips = self._strips[index] = self.render(index)
        return strips

    def render(self, index: int) -> list[Strip]:
        block = self._blocks[index]
        if self._entries is None:
            app = self._pane.app
            redraw = None if app.is_headless else partial(self._pane.call_later, self._draw_again)
            self._entries = EntryRenderer(self._pane, code_theme(app.current_theme), redraw)
        width = max(self._layout.width - self._layout.subagents.indent(block.entry), 1)
        if block.is_outcome and (result := block.entry.result) is not None:
            return self._entries.outcome(result, ending_of_turn(self._session, result))
        if block.is_joined:
            return self._entries.render_pieces(block.entry, block.start, block.end, width)
        return self._entries.render(block.entry, block.start, block.end, width, is_code=bool(block.is_code))

    def forget_from(self, first: int) -> None:
        for kept in (self._strips, self._spans):
            for index in [index for index in kept.keys() if index >= first]:  # noqa: SIM118 - no mapping
                kept.discard(index)

    def forget_styles(self) -> None:
        self._entries = None
        self._strips.clear()

    def _draw_again(self) -> None:
        self._pane.notify_style_update()  # which forgets the lines
        self._pane.refresh()

    def mark(self, query: Query | None, current: tuple[int, int] | None) -> None:
        """Highlight the matches. `current` is the block index of the current match, and its number there."""
        if query is not self._query:
            self._spans.clear()
        self._query, self._current = query, current

    def spans_of(self, index: int) -> Spans:
        """Return the matches of the query in the lines of a block; a call's line is never cached."""
        if self._query is None:
            return []
        block = self._blocks[index]
        spans = self._spans.get(index)
        if spans is None:
            texts = [strip.text for strip in self._rows_of(index, self._layout.width)]
            head = self._layout.head_rows(index)
            is_titled = block.start == 0 and block.entry.kind is Kind.REASONING
            for row in range(min(head + is_titled, len(texts))):
                texts[row] = ""  # the title was added by agentwatch and is not searched
            if block.entry.call is not None and len(texts) > head:
                texts[head] = self._without_number(texts[head], block.entry, block.entry.call)
            spans = _found(self._query, texts)
            if block.entry.kind is not Kind.CALL:
                self._spans[index] = spans
        return spans

    def _rows_of(self, index: int, width: int) -> list[Strip]:
        """Return the lines of a block; those of calls, titles and folded entries are rendered each time."""
        entry = self._blocks[index].entry
        subagents = self._layout.subagents
        root = subagents.root(entry)
        if root is None:
            return self._rows_of_entry(index, entry, width)
        head = []
        is_hidden = subagents.is_hidden(entry)
        if subagents.is_head(entry, index):
            words = subagents.words(root, self._session.calls, self.waits, max(width - _HEAD_INDENT, 1))
            line = self._pane.strip_of([(SafeText(" " * _HEAD_INDENT), "plain"), (words, "muted")])
            if entry.number == self.chosen and (is_hidden or entry.kind not in _MARKED):
                line = laid_over(line, self._pane.line_style("chosen"), width)
            elif is_hidden and (call := self._lit_call) and subagents.root_of(call) == root:
                line = chosen_row(line.crop(1), self._pane, width)
            head.append(line)
        return head if is_hidden else [*head, *self._rows_of_entry(index, entry, width)]

    def _rows_of_entry(self, index: int, entry: Entry, width: int) -> list[Strip]:
        block, indent = self._blocks[index], self._layout.subagents.indent(entry)
        if entry.call is not None:
            return [self._call_row(entry.call, width, indent)]
        if block.is_outcome:
            strips = self.render(index)  # the exit code of its process may still come
        elif entry.kind is not Kind.REASONING or block.start:
            strips = self.cached(index)
        else:
            is_folded = self._layout.is_folded(entry)
            title = thinking_line(self._pane, entry, is_folded=is_folded)
            if block.number == self.chosen:
                title = laid_over(title, self._pane.line_style("chosen"), max(width - indent, 1))
            strips = [title] if is_folded else [title, *self.cached(index)[1:]]
        return [Strip.join([Strip.blank(indent), strip]) for strip in strips] if indent else strips

    def _gap_row(self, index: int, row: int, width: int) -> Strip:
        """Return a row above a block: the rule, the name of the subagent that begins, or a blank row."""
        block = self._blocks[index]
        if block.rule is not None and row == -(block.gap + 1) // 2:
            return rule_line(self._pane, block.rule, width)
        entry = block.entry
        parent = entry.parent
        is_change = parent is not None and index > 0 and self._blocks[index - 1].entry.parent != parent
        if parent is None or not is_change or row != -1 or self._layout.head_rows(index):
            return Strip.blank(width)
        name = name_of(self._session.calls[parent - 1]) if parent else SafeText("subagent")
        blanks = " " * max(self._layout.subagents.indent(entry) - _HEAD_INDENT, 0)
        return self._pane.strip_of([(cut(SafeText(f"{blanks}{name}"), width), "muted")])

    def _call_row(self, call: Call, width: int, indent: int) -> Strip:
        number, wait = self._number(call), self.waits.get(call.number)
        strip = call_line(self._pane, call, number, max(width - indent, 5), wait)
        if indent:
            strip = Strip.join([Strip.blank(indent), strip])
        chosen = self._lit_call
        if chosen is not None and call.number == chosen.number:
            return chosen_row(strip.crop(1), self._pane, width)
        if self.pinned_call is not None and call.number == self.pinned_call.number:
            return Strip.join([mark_strip(self._pane, "failed"), strip.crop(1)])
        return strip

    @property
    def _lit_call(self) -> Call | None:
        return None if self.has_thought else self.chosen_call

    def _number(self, call: Call) -> SafeText:
        return SafeText(f"#{call.number} " if self.has_numbers else "")

    def _without_number(self, text: str, entry: Entry, call: Call) -> str:
        """Return the line of a call with blanks instead of its number, which is not searched."""
        indent = self._layout.subagents.indent(entry)
        end = indent + SIGN_COLUMNS + len(self._number(call))
        return " " * end + text[end:]

    def _with_marks(self, strip: Strip, index: int, row: int) -> Strip:
        for number, pieces in enumerate(self.spans_of(index)):
            style = "selected" if self._current == (index, number) else "chosen"
            for piece_row, start, end in pieces:
                if piece_row == row:
                    strip = marked(strip, start, end, self._pane.line_style(style))
        return strip


def _found(query: Query, texts: list[str]) -> Spans:
    spans: Spans = []
    starts = [0]
    for text in texts:
        starts.append(starts[-1] + len(text) + 1)
    row = 0
    for hit in query.shown_pattern().finditer("\n".join(texts)):
        while starts[row + 1] <= hit.start():
            row += 1
        pieces, last = [], row
        while last < len(texts) and starts[last] < hit.end():
            start = max(hit.start() - starts[last], 0)
            end = min(hit.end() - starts[last], len(texts[last].rstrip()))
            if last > row:
                start = len(texts[last]) - len(texts[last].lstrip(" ▌↳"))
            if start < end:
                pieces.append((last, start, end))
            last += 1
        spans.append(pieces)
    return spans
