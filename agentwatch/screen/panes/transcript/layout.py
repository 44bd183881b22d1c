"""The line of a transcript at which each of its blocks begins."""

from __future__ import annotations

from agentwatch.screen.panes.transcript.block_list import Block, BlockList, Heights
from agentwatch.screen.panes.transcript.subagents import Subagents
from agentwatch.session.transcript import Entry, Kind

_LEAST_WIDTH = 20
"""Minimum width in columns that estimates assume."""


class BlockLayout:
    """Stacks blocks vertically; their heights are estimates until they are measured.

    A finished thought is folded into its title unless the user opened it or shows all thoughts.
    """

    def __init__(self, blocks: BlockList, subagents: Subagents) -> None:
        self.width = 0
        self.shows_thinking = False
        self.exceptions: set[int] = set()
        """The numbers of thoughts whose state differs from the others: open among folded ones, or folded."""
        self.subagents = subagents
        """Which entries belong to subagents, and which of these are folded."""
        self._blocks = blocks
        self._heights = Heights(spill=blocks.spill)

    def prefix(self, blocks: BlockList, subagents: Subagents) -> BlockLayout:
        """Return the layout of the first blocks, which are `blocks`; what is folded is the same in both."""
        prefix = BlockLayout(blocks, subagents)
        prefix.width, prefix.shows_thinking, prefix.exceptions = (
            self.width,
            self.shows_thinking,
            self.exceptions,
        )
        prefix._heights = self._heights.prefix(len(blocks))
        return prefix

    def estimate(self, entry: Entry, start: int, rows: int, *, is_head: bool = False) -> int:
        """Return the estimated height of a block, in lines; 0 for a folded thought after its title. `start`
        is the character of the entry's text at which the block begins, `rows` the estimated height of its
        text. `is_head` says whether the line of a subagent's folded entries is above the block."""
        if self.subagents.is_hidden(entry):
            return int(is_head)
        if self.is_folded(entry):
            return is_head + (0 if start else 1)
        return is_head + rows

    def rows_of(self, length: int, *, is_joined: bool = False) -> int:
        """Return the estimated height of a text from its length; joined pieces have short and blank lines."""
        return (1 + is_joined) * length // max(self.width, _LEAST_WIDTH) + 1

    def head_rows(self, index: int) -> int:
        """Return 1 if the line of a subagent's entries is above a block, otherwise 0."""
        return int(self.has_head(self._blocks[index].entry, index))

    def has_head(self, entry: Entry, index: int) -> bool:
        """Return whether the line of a subagent's entries is above a block of this entry."""
        return entry.parent is not None and self.subagents.is_head(entry, index)

    def append(self, height: int, gap: int) -> None:
        """Add a block below all others, with its height and the gap above it, in lines."""
        self._heights.append(height and height + gap)

    def drop_last(self) -> None:
        """Remove the last block."""
        self._heights.pop()

    def set_gap(self, index: int, gap: int) -> None:
        """Set the number of lines above a block."""
        block = self._blocks[index]
        block.gap = gap
        self._heights[index] = _span(block)

    def set_height(self, index: int, height: int) -> int:
        """Set the measured height of a block; return by how many lines it has grown."""
        block = self._blocks[index]
        more = height - block.height
        block.height, block.measured_width = height, self.width
        self._heights[index] = _span(block)
        return more

    def is_measured(self, index: int) -> bool:
        """Return whether a block's height is exact at the current width, not an estimate."""
        block = self._blocks[index]
        if not block.height or block.measured_width == self.width:
            return True
        entry = block.entry
        return entry.kind is Kind.CALL or self.is_folded(entry) or self.subagents.is_hidden(entry)

    def is_folded(self, entry: Entry) -> bool:
        """Return whether only the title of a thought is shown."""
        is_done = entry.kind is Kind.REASONING and not entry.is_open
        return is_done and self.shows_thinking == (entry.number in self.exceptions)

    def fold(self, index: int) -> None:
        """Set the height of a block: exact if it is folded, otherwise estimated from its length."""
        block = self._blocks[index]
        entry, head = block.entry, self.head_rows(index)
        if self.subagents.is_hidden(entry):
            block.height = head
        elif self.is_folded(entry):
            block.height = head + (0 if block.start else 1)
        else:
            block.height = head + self.rows_of(block.end - block.start, is_joined=bool(block.is_joined))
        block.measured_width = 0
        self._heights[index] = _span(block)

    def fold_all(self) -> None:
        """Update the height of every thought's block after thoughts were folded or opened."""
        for index, block in enumerate(self._blocks):
            if block.entry.kind is Kind.REASONING:
                self.fold(index)

    def span(self, index: int) -> int:
        """Return the number of lines of a block, measured or estimated, with the gap above it."""
        return self._heights[index]

    def line_count(self) -> int:
        """Return the number of lines, measured or estimated."""
        return self._heights.total()

    def at(self, line: int) -> tuple[int, int]:
        """Return the index of a line's block, and the row in it; in the gap above it, the row is negative."""
        index, below = self._heights.at(line)
        return index, below - self._blocks[index].gap

    def top(self, index: int) -> int:
        """Return the line at which the gap above a block begins."""
        return self._heights.top(index)

    def line_of(self, index: int, row: int = 0) -> int:
        """Return the line that shows a row of a block."""
        return self.top(index) + self._blocks[index].gap + row


def _span(block: Block) -> int:
    """Return the height of a block with the gap above it, in lines; 0 for a block without lines."""
    return block.height and block.height + block.gap
