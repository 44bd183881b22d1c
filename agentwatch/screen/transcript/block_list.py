"""The blocks of a transcript, stored as columns of numbers, the older ones in an unlinked file.

A block takes 23 bytes, where an object takes 220. A recording of 1 GB is cut into 150,000 blocks.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import overload

from agentwatch.session import Entry
from agentwatch.session.storage.numbers import PAGE, Numbers
from agentwatch.session.storage.spill import Spill
from agentwatch.text.safe import SafeText

_WHOLE = "I"
_SMALL = "B"


class _Column:
    """A descriptor: an integer attribute of `Block` that is stored in an array of the block list."""

    def __init__(self, code: str) -> None:
        self.code = code

    def __set_name__(self, owner: type[Block], name: str) -> None:
        self._name = name

    def __get__(self, block: Block, owner: type[Block]) -> int:
        return block.blocks.columns[self._name][block.index]

    def __set__(self, block: Block, value: int) -> None:
        block.blocks.columns[self._name][block.index] = value


class Block:
    """A piece of an entry that is rendered as a unit."""

    __slots__ = ("blocks", "index")

    number = _Column(_WHOLE)
    """The index of its entry in the transcript."""
    start = _Column(_WHOLE)
    end = _Column(_WHOLE)
    """`start` and `end` are character offsets in the entry's text; for a result, in its shown text."""
    is_code = _Column(_SMALL)
    is_joined = _Column(_SMALL)
    """Whether the block is several pieces of the entry, which are cut apart when it is rendered."""
    gap = _Column(_SMALL)
    """The number of lines above the block: blank lines, and the rule if it has one."""
    height = _Column(_WHOLE)
    measured_width = _Column(_WHOLE)
    """The width at which its height was measured; at other widths the height is an estimate."""

    def __init__(self, blocks: BlockList, index: int) -> None:
        self.blocks = blocks
        self.index = index

    @property
    def entry(self) -> Entry:
        """The entry that the block is a piece of."""
        return self.blocks.transcript[self.number]

    @property
    def rule(self) -> SafeText | None:
        """The text of the rule above the block; None if there is no rule."""
        return self.blocks.rules.get(self.index)


class BlockList(Sequence[Block]):
    """The blocks in order; each item is a view of one row of the columns."""

    def __init__(self, transcript: Sequence[Entry]) -> None:
        self.transcript = transcript
        self.spill = Spill()
        """Where the older blocks are stored."""
        columns = {name: of.code for name, of in vars(Block).items() if isinstance(of, _Column)}
        self.columns = {name: Numbers(code, self.spill) for name, code in columns.items()}
        self.rules: dict[int, SafeText] = {}
        """The texts of the rules above blocks, by block index."""

    def prefix(self, transcript: Sequence[Entry], length: int) -> BlockList:
        """Return a list of the first `length` blocks, as those of an earlier transcript."""
        prefix = BlockList(transcript)
        prefix.spill = self.spill
        prefix.columns = {name: column.prefix(length) for name, column in self.columns.items()}
        prefix.rules = {index: rule for index, rule in self.rules.items() if index < length}
        return prefix

    def __len__(self) -> int:
        return len(self.columns["number"])

    @overload
    def __getitem__(self, index: int) -> Block: ...
    @overload
    def __getitem__(self, index: slice) -> list[Block]: ...
    def __getitem__(self, index: int | slice) -> Block | list[Block]:
        if isinstance(index, slice):
            return [Block(self, at) for at in range(len(self))[index]]
        count = len(self.columns["number"])
        if 0 <= index < count:  # as nearly always: 180 times a frame
            return Block(self, index)
        return Block(self, range(count)[index])

    def add(self, *numbers: int) -> None:
        """Append a block; `numbers` are its columns, in the order in which `Block` declares them."""
        for column, number in zip(self.columns.values(), numbers, strict=True):
            column.newest.append(number)
        if len(column.newest) >= 2 * PAGE:
            for column in self.columns.values():
                column.store()

    def drop_last(self) -> None:
        """Remove the last block and the rule above it."""
        self.rules.pop(len(self) - 1, None)
        for column in self.columns.values():
            column.pop()
