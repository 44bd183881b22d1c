"""At which line of a transcript each of its blocks stands."""

from __future__ import annotations

from agentwatch.screen.transcript.block_list import Block, BlockList
from agentwatch.screen.transcript.heights import Heights
from agentwatch.session import Entry, Kind

_LEAST_WIDTH = 20


class BlockLayout:
    """Blocks one below the other, whose heights are estimates until they are measured.

    A thought that is done is folded into its title, unless it was opened, or all are shown.
    """

    def __init__(self, blocks: BlockList) -> None:
        self.width = 0
        self.shows_thinking = False
        self.exceptions: set[Entry] = set()
        """The thoughts that are shown where the others are folded, or the other way round."""
        self._blocks = blocks
        self._heights = Heights()

    def estimate(self, entry: Entry, start: int, text: str) -> int:
        """Return how high a block of an entry is, by its text, which begins at `start` of the entry's."""
        if self.is_folded(entry):
            return 0 if start else 1
        return text.count("\n") + len(text) // max(self.width, _LEAST_WIDTH) + 1

    def append(self, height: int, gap: int) -> None:
        """Put a block below all others."""
        self._heights.append(height and height + gap)

    def drop_last(self) -> None:
        """Take the last block away."""
        self._heights.pop()

    def set_gap(self, index: int, gap: int) -> None:
        """Have so many lines above a block."""
        block = self._blocks[index]
        block.gap = gap
        self._heights[index] = _span(block)

    def set_height(self, index: int, height: int) -> int:
        """Take the measured height of a block; return how many lines it has more than before."""
        block = self._blocks[index]
        more = height - block.height
        block.height, block.measured_width = height, self.width
        self._heights[index] = _span(block)
        return more

    def is_measured(self, index: int) -> bool:
        """Return whether a block's height is that of its lines."""
        block = self._blocks[index]
        is_known = block.entry.kind is Kind.CALL or block.measured_width == self.width
        return is_known or self.is_folded(block.entry)

    def is_folded(self, entry: Entry) -> bool:
        """Return whether only the title of a thought is shown."""
        is_done = entry.kind is Kind.REASONING and not entry.is_open
        return is_done and self.shows_thinking == (entry in self.exceptions)

    def fold(self, index: int) -> None:
        """Set the height of a thought's block: known where it is folded, else guessed from its length."""
        block = self._blocks[index]
        if self.is_folded(block.entry):
            block.height = 0 if block.start else 1
        else:
            block.height = (block.end - block.start) // max(self.width, _LEAST_WIDTH) + 1
        block.measured_width = 0
        self._heights[index] = _span(block)

    def fold_all(self) -> None:
        """Let each thought take the lines that it takes, folded or open, as it is to be shown now."""
        for index, block in enumerate(self._blocks):
            if block.entry.kind is Kind.REASONING:
                self.fold(index)

    def line_count(self) -> int:
        """Return how many lines there are, by measure or estimate."""
        return self._heights.total()

    def at(self, line: int) -> tuple[int, int]:
        """Return the block that a line belongs to, and which of its rows it is; above them it is negative."""
        index, below = self._heights.at(line)
        return index, below - self._blocks[index].gap

    def top(self, index: int) -> int:
        """Return the line at which a block begins, with the gap above it."""
        return self._heights.top(index)

    def line_of(self, index: int, row: int = 0) -> int:
        """Return the line at which a row of a block stands."""
        return self.top(index) + self._blocks[index].gap + row


def _span(block: Block) -> int:
    """Return how many lines a block takes with what stands above it; of one without a line none."""
    return block.height and block.height + block.gap
