"""The transcript cut into blocks, and the line at which each of them stands."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from itertools import accumulate

from agentwatch.safe_text import SafeText
from agentwatch.screen.markdown import split_blocks
from agentwatch.session import Entry, Kind

_GROWING = (Kind.ANSWER, Kind.REASONING)


@dataclass(slots=True)
class Block:
    """A piece of an entry that is rendered as one."""

    entry: Entry
    number: int
    """Which entry of the transcript it is a piece of, from 0."""
    start: int = 0
    end: int = 0
    is_code: bool = False
    is_last: bool = True
    """The last of its entry: it may still grow."""
    gap: int = 1
    """Lines above it: blank ones, and the rule where it has one."""
    rule: SafeText | None = None
    """What the rule above it says."""
    height: int = 1
    is_measured: bool = True
    """Its height is that of its lines, not an estimate."""


class Blocks:
    """The blocks of a transcript, whose heights are estimates until they are measured.

    A thought that is done is folded into its title, unless it was opened, or all are shown.
    """

    def __init__(self, transcript: list[Entry]) -> None:
        self.all: list[Block] = []
        self.tops: list[int] = [0]
        """The line at which each begins, and behind them how many lines there are."""
        self.width = 0
        self.unmeasured = 0
        self.shows_thinking = False
        self.exceptions: set[Entry] = set()
        """The thoughts that are shown where the others are folded, or the other way round."""
        self._transcript = transcript
        self._firsts: list[int] = []
        self._calls: list[int] = []
        self._tail_start = 0
        self._thought: Entry | None = None
        self._rule: SafeText | None = None
        self._ruled: Block | None = None
        self._rule_from = 0

    def take(self, *, folds: bool) -> int:
        """Cut what is new into blocks; return the first block that changed.

        Args:
            folds: A thought that ended since the last time is folded; otherwise it stays open.
        """
        changed = len(self.all)
        if self._firsts:
            changed = min(changed, self._grow_last_entry(), self._end_thought(folds=folds))
        for entry in self._transcript[len(self._firsts) :]:
            self._firsts.append(len(self.all))
            if entry.kind is Kind.CALL:
                self._calls.append(len(self._firsts) - 1)
            self._tail_start = 0
            self._add_entry(entry)
        last = self.all[-1].entry if self.all else None
        is_thinking = last is not None and last.is_open and last.kind is Kind.REASONING
        self._thought = last if is_thinking else None
        return changed

    def lay_out(self, first: int) -> None:
        """Add up the heights from a block on."""
        heights = (block.height and block.height + block.gap for block in self.all[first:])
        self.tops[first:] = accumulate(heights, initial=self.tops[first] if first else 0)

    def set_height(self, index: int, height: int) -> None:
        """Replace an estimate."""
        block = self.all[index]
        self.unmeasured -= not block.is_measured
        block.height, block.is_measured = height, True

    def estimate_from(self, first: int, end: int | None = None) -> None:
        """Estimate the heights of blocks anew, and lay them out."""
        for block in self.all[first:end]:
            self._estimate(block)
        self.lay_out(first)

    def at(self, line: int) -> tuple[int, int]:
        """Return the block that a line belongs to, and which of its rows it is; above them it is negative."""
        index = bisect_right(self.tops, line) - 1
        return index, line - self.tops[index] - self.all[index].gap

    def line_of(self, index: int, row: int = 0) -> int:
        """Return the line at which a row of a block stands."""
        return self.tops[index] + self.all[index].gap + row

    @property
    def entry_count(self) -> int:
        """How many entries of the transcript are cut into blocks."""
        return len(self._firsts)

    def of_entry(self, number: int) -> range:
        """Return the blocks of an entry."""
        end = self._firsts[number + 1] if number + 1 < len(self._firsts) else len(self.all)
        return range(self._firsts[number], end)

    def holding(self, number: int, offset: int) -> int:
        """Return the block of an entry in which a character of its text stands."""
        blocks = self.of_entry(number)
        return next((index for index in reversed(blocks) if self.all[index].start <= offset), blocks.start)

    def entry_of_call(self, number: int) -> int | None:
        """Return the number of the entry that is the place of a call; None before it is cut."""
        return self._calls[number - 1] if 0 < number <= len(self._calls) else None

    def is_folded(self, entry: Entry) -> bool:
        """Return whether only the title of a thought is shown."""
        is_done = entry.kind is Kind.REASONING and not entry.is_open
        return is_done and self.shows_thinking == (entry in self.exceptions)

    def mark_new(self, rule: SafeText) -> int | None:
        """Set a rule above what comes next, instead of an earlier one; return that one's block."""
        self._rule, self._rule_from = rule, len(self.all)
        ruled, self._ruled = self._ruled, None
        if ruled is None:
            return None
        index = self._firsts[ruled.number]
        while self.all[index] is not ruled:
            index += 1
        self._set_gap(ruled, self.all[index - 1].entry if index else None)
        self.lay_out(index)
        return index

    def _end_thought(self, *, folds: bool) -> int:
        thought = self._thought
        if thought is None or thought.is_open:
            return len(self.all)
        if not folds and not self.shows_thinking:
            self.exceptions.add(thought)
        first = self._firsts[-1]
        for block in self.all[first:]:
            self._estimate(block)
        return first

    def _grow_last_entry(self) -> int:
        """Cut the last known entry's tail into blocks again; return the first block that changed."""
        last = self.all[-1]
        if not last.is_last or last.entry.kind not in _GROWING:
            return len(self.all)
        if len(last.entry.said) == last.end and last.is_measured:
            return len(self.all)
        self._drop_last()
        index = len(self.all)
        self._add_entry(last.entry)
        return index

    def _drop_last(self) -> None:
        block = self.all.pop()
        self.unmeasured -= not block.is_measured
        if block is self._ruled:
            self._rule, self._ruled = block.rule, None

    def _add_entry(self, entry: Entry) -> None:
        """Add the blocks of an entry from where the last one that may still change begins."""
        number = len(self._firsts) - 1
        if entry.kind not in _GROWING:
            self._add(Block(entry, number, 0, len(entry.said)))
            return
        tail = entry.said.part(self._tail_start)
        found = split_blocks(tail) or [(0, len(tail), False)]
        offset = self._tail_start
        for start, end, is_code in found:
            self._add(Block(entry, number, offset + start, offset + end, is_code, is_last=False))
        self.all[-1].is_last = True
        self._tail_start = self.all[-1].start

    def _add(self, block: Block) -> None:
        above = self.all[-1].entry if self.all else None
        is_whole = block.entry.kind is not Kind.REASONING or above is not block.entry
        if self._rule is not None and len(self.all) >= self._rule_from and is_whole:
            block.rule, self._rule, self._ruled = self._rule, None, block
        self._set_gap(block, above)
        self._estimate(block)
        self.all.append(block)

    def _set_gap(self, block: Block, above: Entry | None) -> None:
        if block is not self._ruled:
            block.rule = None
        are_calls = above is not None and above.kind is block.entry.kind is Kind.CALL
        blank = 0 if above is None or are_calls else 1
        block.gap = blank if block.rule is None else 2 * blank + 1

    def _estimate(self, block: Block) -> None:
        entry = block.entry
        self.unmeasured -= not block.is_measured
        is_folded = self.is_folded(entry)
        block.is_measured = entry.kind is Kind.CALL or is_folded
        if is_folded:
            block.height = 0 if block.start else 1
        elif entry.kind is Kind.CALL:
            block.height = 1
        else:
            text = entry.said.part(block.start, block.end)
            block.height = text.count("\n") + len(text) // max(self.width, 20) + 1
        self.unmeasured += not block.is_measured
