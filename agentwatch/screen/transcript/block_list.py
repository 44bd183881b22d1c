"""The blocks of a transcript, as columns of numbers: 22 bytes a block where an object takes 220.

A gigabyte of stream is cut into half a million blocks.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from typing import overload

from agentwatch.safe_text import SafeText
from agentwatch.session import Entry

_WHOLE = "I"
_SMALL = "B"


class _Column:
    """A number of each block: an attribute of a block that is kept in an array of the list."""

    def __init__(self, code: str) -> None:
        self.code = code

    def __set_name__(self, owner: type[Block], name: str) -> None:
        self._name = name

    def __get__(self, block: Block, owner: type[Block]) -> int:
        return block.blocks.columns[self._name][block.index]

    def __set__(self, block: Block, value: int) -> None:
        block.blocks.columns[self._name][block.index] = value


class Block:
    """A piece of an entry that is rendered as one."""

    __slots__ = ("blocks", "index")

    number = _Column(_WHOLE)
    """Which entry of the transcript it is a piece of, from 0."""
    start = _Column(_WHOLE)
    end = _Column(_WHOLE)
    """From where to where it goes in the entry's text; of a result, in what it shows of its text."""
    is_code = _Column(_SMALL)
    gap = _Column(_SMALL)
    """Lines above it: blank ones, and the rule where it has one."""
    height = _Column(_WHOLE)
    measured_width = _Column(_WHOLE)
    """At which width its height is that of its lines; at others it is an estimate."""

    def __init__(self, blocks: BlockList, index: int) -> None:
        self.blocks = blocks
        self.index = index

    @property
    def entry(self) -> Entry:
        """The entry that it is a piece of."""
        return self.blocks.transcript[self.number]

    @property
    def rule(self) -> SafeText | None:
        """What the rule above it says; None where it has none."""
        return self.blocks.rules.get(self.index)


class BlockList(Sequence[Block]):
    """Blocks in order; what is asked of one, or set, is asked of the columns."""

    def __init__(self, transcript: Sequence[Entry]) -> None:
        self.transcript = transcript
        self.columns = {name: array(of.code) for name, of in vars(Block).items() if isinstance(of, _Column)}
        self._appends = [column.append for column in self.columns.values()]
        self.rules: dict[int, SafeText] = {}
        """What the rules say that stand above blocks, by their places."""

    def __len__(self) -> int:
        return len(self.columns["height"])

    @overload
    def __getitem__(self, index: int) -> Block: ...
    @overload
    def __getitem__(self, index: slice) -> list[Block]: ...
    def __getitem__(self, index: int | slice) -> Block | list[Block]:
        if isinstance(index, slice):
            return [Block(self, at) for at in range(len(self))[index]]
        return Block(self, range(len(self))[index])

    def add(self, *numbers: int) -> None:
        """Add a block, of which all numbers are told in the order in which `Block` names them."""
        for append, number in zip(self._appends, numbers, strict=True):
            append(number)

    def drop_last(self) -> None:
        """Take the last block away, and the rule above it."""
        self.rules.pop(len(self) - 1, None)
        for column in self.columns.values():
            column.pop()
