"""Cuts the transcript into blocks."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from math import inf
from time import perf_counter

from agentwatch.screen.panes.transcript.block_list import (
    GROWING,
    Block,
    BlockList,
    Heights,
    is_markdown,
    pieces_of,
    shown_length,
    shown_part,
)
from agentwatch.screen.panes.transcript.subagents import Subagents
from agentwatch.session.storage import Numbers
from agentwatch.session.transcript import Entry, Kind
from agentwatch.text.safe import SafeText

# The line of a transcript at which each of its blocks begins.

_LEAST_WIDTH = 20


class BlockLayout:
    """Stacks blocks vertically; their heights are estimates until they are measured. A finished thought is
    folded into its title unless the user opened it or shows all thoughts."""

    def __init__(self, blocks: BlockList, subagents: Subagents) -> None:
        self.width = 0
        self.shows_thinking = False
        self.exceptions: set[int] = set()
        """The numbers of thoughts whose state differs from the others: open among folded ones, or folded."""
        self.subagents = subagents
        self._blocks = blocks
        self._heights = Heights(spill=blocks.spill)

    def prefix(self, blocks: BlockList, subagents: Subagents) -> BlockLayout:
        prefix = BlockLayout(blocks, subagents)
        prefix.width, prefix.shows_thinking = self.width, self.shows_thinking
        prefix.exceptions = self.exceptions
        prefix._heights = self._heights.prefix(len(blocks))
        return prefix

    def estimate(self, entry: Entry, start: int, rows: int, *, is_head: bool = False) -> int:
        if self.subagents.is_hidden(entry):
            return int(is_head)
        if self.is_folded(entry):
            return is_head + (0 if start else 1)
        return is_head + rows

    def rows_of(self, length: int, *, is_joined: bool = False) -> int:
        """Return the estimated height of a text from its length; joined pieces have short and blank lines."""
        return (1 + is_joined) * length // max(self.width, _LEAST_WIDTH) + 1

    def head_rows(self, index: int) -> int:
        return int(self.has_head(self._blocks[index].entry, index))

    def has_head(self, entry: Entry, index: int) -> bool:
        return entry.parent is not None and self.subagents.is_head(entry, index)

    def append(self, height: int, gap: int) -> None:
        self._heights.append(height and height + gap)

    def drop_last(self) -> None:
        self._heights.pop()

    def set_gap(self, index: int, gap: int) -> None:
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
        block = self._blocks[index]
        if not block.height or block.measured_width == self.width:
            return True
        entry = block.entry
        return entry.kind is Kind.CALL or self.is_folded(entry) or self.subagents.is_hidden(entry)

    def is_folded(self, entry: Entry) -> bool:
        is_done = entry.kind is Kind.REASONING and not entry.is_open
        return is_done and self.shows_thinking == (entry.number in self.exceptions)

    def fold(self, index: int) -> None:
        """Set the height of a block: exact if it is folded, otherwise estimated from its length."""
        block = self._blocks[index]
        entry, rows = block.entry, self.rows_of(block.end - block.start, is_joined=bool(block.is_joined))
        block.height = self.estimate(entry, block.start, rows, is_head=self.has_head(entry, index))
        block.measured_width = 0
        self._heights[index] = _span(block)

    def fold_all(self) -> None:
        for index, block in enumerate(self._blocks):
            if block.entry.kind is Kind.REASONING:
                self.fold(index)

    def span(self, index: int) -> int:
        return self._heights[index]

    def line_count(self) -> int:
        return self._heights.total()

    def at(self, line: int) -> tuple[int, int]:
        """Return the index of a line's block, and the row in it; in the gap above it, the row is negative."""
        index, below = self._heights.at(line)
        return index, below - self._blocks[index].gap

    def top(self, index: int) -> int:
        """Return the line at which the gap above a block begins."""
        return self._heights.top(index)

    def line_of(self, index: int, row: int = 0) -> int:
        return self.top(index) + self._blocks[index].gap + row


def _span(block: Block) -> int:
    """Return the height of a block with the gap above it, in lines; 0 for a block without lines."""
    return block.height and block.height + block.gap


_CUT_CHARACTERS = 1 << 16
"""The number of characters cut at a time; 4 MB take 150 ms."""
_JOINED_CHARACTERS = 2048
"""Small pieces of an entry are joined to a block of this length, unless the text grew while it was shown. A
shorter entry is not read before it comes into view. 1 GB has 515,000 pieces, and 150,000 blocks."""


class Blocks:
    """The blocks of a transcript, cut from its entries while their texts grow."""

    def __init__(self, transcript: Sequence[Entry]) -> None:
        self.all = BlockList(transcript)
        self.subagents = Subagents()
        self.layout = BlockLayout(self.all, self.subagents)
        self._transcript = transcript
        self._firsts = Numbers("I", self.all.spill)
        self._calls = Numbers("I", self.all.spill)
        self._cut_length = 0
        self._fixed_length = 0
        """The length of that text, if it cannot grow."""
        self._tail_start = 0
        """The offset of the last block in that text; this block is cut again when the text grows."""
        self._thought: Entry | None = None
        self._untimed: int | None = None
        """The number of the last entry with the outcome of a turn, until the turn's duration is known."""
        self._above: Entry | None = None
        self._rule: SafeText | None = None
        self._ruled: int | None = None
        self._rule_from = 0

    def prefix(self, transcript: Sequence[Entry]) -> Blocks:
        """Return the blocks of an earlier moment; its last entry, which may be cut short, is not cut yet."""
        entries = min(max(len(transcript) - 1, 0), max(len(self._firsts) - 1, 0))
        count = self._firsts[entries] if entries < len(self._firsts) else len(self.all)
        calls = bisect_left(range(len(self._calls)), entries, key=self._calls.__getitem__)
        prefix = Blocks(transcript)
        prefix.all = self.all.prefix(transcript, count)
        prefix.subagents = self.subagents.prefix(calls, entries, count)
        prefix.layout = self.layout.prefix(prefix.all, prefix.subagents)
        prefix._firsts, prefix._calls = self._firsts.prefix(entries), self._calls.prefix(calls)
        prefix._above = prefix.all[-1].entry if count else None
        above = transcript[entries - 1] if entries else None
        if above is not None:
            prefix._cut_length = prefix._fixed_length = shown_length(above)
            prefix._tail_start = prefix.all[-1].start if len(prefix.all) else 0
        return prefix

    def take(self, *, folds: bool, seconds: float = inf) -> int:
        """Cut new text into blocks for about `seconds`; return the index of the first block that changed.
        With `folds`, thoughts that have ended since the last call are folded."""
        until = perf_counter() + seconds
        changed = len(self.all)
        if len(self._firsts):
            changed = min(changed, self._grow_last_entry(until), self._end_thought(folds=folds))
        changed = min(changed, self._late_duration())
        count = 0 if self._is_within_last() else len(self._transcript)
        for number in range(len(self._firsts), count):
            entry = self._transcript[number]
            self._begin(entry)
            if entry.kind is not Kind.CALL and not self._take_whole(entry):
                self._cut(entry, until)
            if perf_counter() >= until:
                break
        last = self.all[-1].entry if self.all else None
        is_thinking = last is not None and last.is_open and last.kind is Kind.REASONING
        self._thought = last if is_thinking else None
        return changed

    @property
    def is_behind(self) -> bool:
        return len(self._firsts) < len(self._transcript) or self._is_within_last()

    def fold(self, number: int) -> None:
        for index in self.of_entry(number) if number < len(self._firsts) else ():
            self.layout.fold(index)

    @property
    def entry_count(self) -> int:
        """The number of entries that are cut into blocks; the last of them may be cut in part."""
        return len(self._firsts)

    def is_marker(self, number: int) -> bool:
        """Return whether an entry has the selectable line of a call, a finished thought, or a subagent."""
        entry = self._transcript[number]
        blocks = self.of_entry(number)
        if len(blocks) and self.subagents.is_head(entry, blocks.start):
            return True
        is_own = entry.kind is Kind.CALL or (entry.kind is Kind.REASONING and not entry.is_open)
        return is_own and not self.subagents.is_hidden(entry)

    def of_entry(self, number: int) -> range:
        end = self._firsts[number + 1] if number + 1 < len(self._firsts) else len(self.all)
        return range(self._firsts[number], end)

    def holding(self, number: int, offset: int) -> int:
        blocks = self.of_entry(number)
        return next((index for index in reversed(blocks) if self.all[index].start <= offset), blocks.start)

    def entry_of_call(self, number: int) -> int | None:
        """Return the number of a call's entry in the transcript; None before it is cut."""
        return self._calls[number - 1] if 0 < number <= len(self._calls) else None

    def mark_new(self, rule: SafeText) -> int | None:
        """Draw a rule above the next block that is added, remove the earlier rule, and return the block below
        that. The first block never has a rule, because everything below it would be new."""
        self._rule, self._rule_from = (rule if self.all else None), len(self.all)
        ruled, self._ruled = self._ruled, None
        if ruled is None:
            return None
        del self.all.rules[ruled]
        entry, above = self.all[ruled].entry, self.all[ruled - 1].entry if ruled else None
        self.layout.set_gap(ruled, _gap(entry, above, is_head=self.subagents.is_head(entry, ruled)))
        return ruled

    def _is_within_last(self) -> bool:
        """Return whether the last entry that was begun is not yet cut to its end."""
        if not len(self._firsts):
            return False
        last = self._transcript[len(self._firsts) - 1]
        return self._cut_length < (len(last.content) if last.kind in GROWING else self._fixed_length)

    def _end_thought(self, *, folds: bool) -> int:
        thought = self._thought
        if thought is None or thought.is_open:
            return len(self.all)
        if not folds and not self.layout.shows_thinking:
            self.layout.exceptions.add(thought.number)
        self.fold(len(self._firsts) - 1)
        return self._firsts[len(self._firsts) - 1]

    def _late_duration(self) -> int:
        """Return the index of the block of an outcome whose duration arrived late; else that of the end."""
        result = None if self._untimed is None else self._transcript[self._untimed].result
        if self._untimed is None or result is None or result.duration_ms is None:
            return len(self.all)
        number, self._untimed = self._untimed, None
        return self._firsts[number]

    def _grow_last_entry(self, until: float) -> int:
        if not self._is_within_last():
            return len(self.all)
        last = self.all[-1] if len(self.all) > self._firsts[len(self._firsts) - 1] else None
        if last is not None and last.start >= self._tail_start:
            self._drop_last()
        index = len(self.all)
        self._cut(self._transcript[len(self._firsts) - 1], until)
        return index

    def _drop_last(self) -> None:
        rule = self.all[-1].rule
        if rule is not None:
            self._rule, self._ruled = rule, None
        self.subagents.drop_block(self.all[-1].entry)
        self.all.drop_last()
        self.layout.drop_last()
        self._above = self.all[-1].entry if self.all else None

    def _begin(self, entry: Entry) -> None:
        number = len(self._firsts)
        self._firsts.append(len(self.all))
        self.subagents.begin(entry)
        self._cut_length = self._tail_start = 0
        self._fixed_length = 0 if entry.kind in GROWING else shown_length(entry)
        if entry.kind is Kind.CALL:
            self._calls.append(number)
        if entry.kind is Kind.RESULT and entry.result is not None and entry.result.duration_ms is None:
            self._untimed = number
        if entry.kind in (Kind.CALL, Kind.RESULT):
            self._add(entry, 0, 0, 1)

    def _may_grow(self, entry: Entry) -> bool:
        return entry.number == len(self._transcript) - 1

    def _take_whole(self, entry: Entry) -> bool:
        """Add a short entry as one block without reading its text; return whether it is one."""
        length = shown_length(entry)
        if self._may_grow(entry) or entry.kind is Kind.RESULT or not 0 < length <= _JOINED_CHARACTERS:
            return False
        self._cut_length = length
        self._add(entry, 0, length, self.layout.rows_of(length, is_joined=True), is_joined=True)
        return True

    def _cut(self, entry: Entry, until: float) -> None:
        """Cut an entry's text from the beginning of its last block, because that block may still change."""
        is_growing = entry.kind in GROWING
        length, size = len(entry.content) if is_growing else self._fixed_length, _CUT_CHARACTERS
        while True:
            start, end = self._tail_start, min(self._tail_start + size, length)
            text = shown_part(entry, start, end)
            if end < length:
                text = text[: text.rfind("\n") + 1] or text
            found = pieces_of(entry, text)
            if end == length:
                self._add_pieces(entry, text, found)
                self._cut_length = length
                return
            if len(found) < 2:
                size *= 2  # the text is inside a fence
                continue
            self._add_pieces(entry, text, found[:-1])
            self._cut_length = self._tail_start = start + found[-1][0]
            if perf_counter() >= until:
                return

    def _add_pieces(self, entry: Entry, text: str, found: list[tuple[int, int, bool]]) -> None:
        """Add the blocks that a text was cut into; the last of them becomes the tail."""
        offset = self._tail_start
        if not found and entry.kind in GROWING and len(self.all) == self._firsts[len(self._firsts) - 1]:
            found = [(0, len(text), False)]
        for start, end, is_code, is_joined in _joined(
            found, 0 if self._may_grow(entry) else _JOINED_CHARACTERS
        ):
            self._tail_start = offset + start
            rows = text.count("\n", start, end) + self.layout.rows_of(end - start)
            self._add(entry, offset + start, offset + end, rows, is_code=is_code, is_joined=is_joined)

    def _add(
        self, entry: Entry, start: int, end: int, rows: int, *, is_code: bool = False, is_joined: bool = False
    ) -> None:
        index, above, number = len(self.all), self._above, entry.number
        self._above = entry
        is_head = is_hidden = False
        if entry.parent is not None:
            self.subagents.add_block(entry, index)
            is_head, is_hidden = self.subagents.is_head(entry, index), self.subagents.is_hidden(entry)
        rule = None
        if self._rule is not None and index >= self._rule_from:
            is_first = entry.kind is not Kind.REASONING or above is None or above.number != number
            rule = self._rule if is_first and (is_head or not is_hidden) else None
        if rule is not None:
            self.all.rules[index], self._rule, self._ruled = rule, None, index
        is_next = above is not None and above.number == number and (start > 0 or entry.kind in GROWING)
        gap = _gap(entry, above, has_rule=rule is not None, is_head=is_head, is_next=is_next)
        height = self.layout.estimate(entry, start, rows, is_head=is_head)
        self.all.add(number, start, end, is_code, is_joined, gap, height, 0)
        self.layout.append(height, gap)


def _joined(found: list[tuple[int, int, bool]], most: int) -> Iterator[tuple[int, int, bool, bool]]:
    """Yield (start, end, is fenced code, is several pieces) for blocks of at most `most` characters."""
    first = 0
    for index, (_, end, is_code) in enumerate(found, 1):
        start = found[first][0]
        if index == len(found) or found[index][1] - start > most:
            yield start, end, is_code, index - first > 1
            first = index


def _gap(
    entry: Entry, above: Entry | None, *, has_rule: bool = False, is_head: bool = False, is_next: bool = False
) -> int:
    """Return the number of blank lines above a block. `is_next` says that the block continues its entry."""
    if above is None:
        blank = 0
    elif above.parent != entry.parent:  # a subagent's name is in the line above its entries
        is_call = above.kind is Kind.CALL or above.parent is not None
        blank = int(not is_call) if is_head else int(entry.parent is not None or entry.kind is not Kind.CALL)
    else:
        are_calls = above.kind is entry.kind is Kind.CALL
        goes_on = above.number == entry.number and not (is_next and is_markdown(entry))
        blank = 0 if are_calls or goes_on else 1
    return 2 * blank + 1 if has_rule else blank
