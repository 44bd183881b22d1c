"""Joins the texts of deltas per channel and block, also if other lines are between them.

512 KiB of other texts end a block. A long block is searched in windows that overlap.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from agentwatch.redaction.texts.cutting import pieces
from agentwatch.redaction.texts.levels import Hit
from agentwatch.redaction.texts.search import Search
from agentwatch.redaction.texts.unit import Unit

_WINDOW = 1 << 16
_LONGEST = 1 << 18
"""A window grows to this number of characters while a value goes on beyond its end: a private key."""
_OVERLAP = 1 << 12
_OPEN = 1 << 9
"""What ends this close to the end of a window may go on: it is searched again with the next one."""
_MOST_CHARACTERS = 1 << 19
_HEAD = 64
_LEAST_ALONE = 10
"""No secret that needs no text before it has fewer characters."""
_LEAST_REPEATED = 8
"""Deltas of fewer bytes may well begin as the one before."""
_MOST_PIECES = 40_000
"""The pieces that are kept take 200 bytes each."""


class Block:
    """The text of one channel and block that was not searched yet."""

    __slots__ = ("gaps", "head", "last_line", "starts", "text_bytes", "unit", "window")

    def __init__(self, *, is_escaped: bool) -> None:
        self.unit = Unit(is_escaped=is_escaped)
        self.gaps: list[int] = []
        """The numbers of the pieces before which other lines are: a new block may begin there."""
        self.starts: list[int] = []
        """The numbers of the pieces with which a text begins."""
        self.last_line = -1
        self.head = b""
        """The first bytes of the last text."""
        self.text_bytes = 0
        """The number of its bytes."""
        self.window = _WINDOW


class Blocks:
    """The blocks of a recording.

    Args:
        search: Searches their texts.
        alone: Whether each text is searched alone too.
    """

    def __init__(self, search: Search, *, alone: bool) -> None:
        self._search = search
        self._alone = alone
        self._blocks: dict[object, Block] = {}
        """The blocks by shape; the one that has grown last is the last one."""
        self._characters = 0
        self._pieces = 0

    def add(self, key: object, line: int, offset: int, data: bytes, *, is_escaped: bool = True) -> None:
        """Append a piece to a block.

        Args:
            key: The shape of its line.
            line: The number of its line.
            offset: The offset of the piece in the recording.
            data: The bytes of the piece.
            is_escaped: Whether it is in a JSON string.
        """
        block = self._blocks.pop(key, None)
        if block is None:
            block = Block(is_escaped=is_escaped)
        elif block.last_line < line - 1:
            block.gaps.append(len(block.unit.texts))
        self._blocks[key] = block
        block.last_line = line
        before = block.unit.size
        block.unit.add(offset, data)
        self._characters += block.unit.size - before
        self._pieces += 1
        if block.unit.size >= block.window:
            self._search_window(block)
        elif self._characters > _MOST_CHARACTERS or self._pieces > _MOST_PIECES:
            self._end_oldest(len(self._blocks) // 2 + 1)

    def add_text(self, key: object, line: int, offset: int, data: bytes, *, is_guessed: bool = False) -> None:
        """Append the text of a line to a block, unless it repeats the text before and goes on.

        Args:
            key: The shape of the line, and which of its texts it is.
            line: The number of the line.
            offset: The offset of the text in the recording.
            data: The bytes of the text, in a JSON string.
            is_guessed: Whether its format is unknown.
        """
        before = self._blocks.get(key)
        repeats = before is not None and _repeats(before, data)
        if before is not None and repeats:
            before.unit.is_cut = True
            self.end(key)
        is_first = True
        for piece in pieces(data):
            self.add(key, line, offset, piece)
            offset += len(piece)
            block = self._blocks.get(key)
            if is_first and block is not None:
                block.starts.append(len(block.unit.texts) - 1)
            is_first = False
        block = self._blocks.get(key)
        if block is not None:
            block.head, block.text_bytes = data[:_HEAD], len(data)
            block.unit.is_guessed = is_guessed
            block.unit.is_cut = repeats

    def end(self, key: object) -> None:
        """End a block."""
        block = self._blocks.pop(key, None)
        if block is not None:
            self._end(block)

    def finish(self) -> None:
        """End all blocks."""
        self._end_oldest(len(self._blocks))

    def _end_oldest(self, number: int) -> None:
        for key in [*self._blocks][:number]:
            self._end(self._blocks.pop(key))

    def _end(self, block: Block) -> None:
        self._characters -= block.unit.size
        self._pieces -= len(block.unit.texts)
        self._search.add(block.unit)
        self._search_parts(block, len(block.unit.texts))
        self._search_texts(block, len(block.unit.texts))

    def _search_window(self, block: Block) -> None:
        """Search a long block, and keep the end of it for the next window."""
        unit = block.unit
        hits = self._search.hits_in(unit)
        going_on = [hit.start for hit in hits if hit.end > unit.size - _OPEN]
        kept_from = min([unit.size - _OVERLAP, *going_on])
        if kept_from <= 0 and unit.size < _LONGEST:
            block.window = min(2 * unit.size, _LONGEST)
            return
        if kept_from <= 0:
            going_on, kept_from = [], unit.size - _OVERLAP
        done: Sequence[Hit] = hits if not going_on else [h for h in hits if h.end <= unit.size - _OPEN]
        self._search.take(unit, done)
        first = next(number for number, end in enumerate(unit.ends()) if end > kept_from)
        self._search_parts(block, first)
        self._search_texts(block, first)
        block.unit, block.window = unit.part(first, len(unit.texts)), _WINDOW
        block.window = max(_WINDOW, 2 * block.unit.size)
        block.gaps = [gap - first for gap in block.gaps if gap > first]
        block.starts = [max(0, start - first) for start in block.starts if start >= first]
        self._characters -= unit.size - block.unit.size
        self._pieces -= first

    def _search_parts(self, block: Block, last: int) -> None:
        """Search the parts of a block between other lines alone, from the ones before a piece.

        What follows may be another block: the letters beside a value would hide it.
        """
        gaps = [gap for gap in block.gaps if gap < last]
        if gaps:
            for first, end in pairwise([0, *gaps, len(block.unit.texts)]):
                self._search.add(block.unit.part(first, end))

    def _search_texts(self, block: Block, last: int) -> None:
        """Search each text of a block alone that touches the text of another line, to before a piece.

        What looks like a delta may be a text of its own, and the letters around it would hide a value.
        """
        texts = block.unit.texts
        if len(block.starts) < 2 or not self._alone:
            return
        for first, end in pairwise([*block.starts, len(texts)]):
            if first >= last:
                break
            begins, ends = texts[first], texts[end - 1]
            if len(begins) < _LEAST_ALONE and first == end - 1:
                continue
            touches = (first > 0 and _touch(texts[first - 1], begins)) or (
                end < len(texts) and _touch(ends, texts[end])
            )
            if touches:
                self._search.add(block.unit.part(first, end))


def _touch(before: str, after: str) -> bool:
    """Return whether the letters and signs of a token are on both sides of the place between two texts."""
    return bool(before and after) and _is_of_token(before[-1]) and _is_of_token(after[0])


def _is_of_token(character: str) -> bool:
    """Return whether a token may have a character."""
    return character.isalnum() or character in "_-+/="


def _repeats(block: Block, data: bytes) -> bool:
    """Return whether a text begins with the last one of a block: a message that grows, and no delta."""
    head = block.head
    return len(head) >= _LEAST_REPEATED and len(data) >= block.text_bytes and data.startswith(head)
