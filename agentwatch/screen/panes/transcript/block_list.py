"""The blocks of a transcript, stored as columns of numbers, the older ones in an unlinked file.

A block takes 23 bytes, where an object takes 220. A recording of 1 GB is cut into 150,000 blocks.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate
from typing import overload

from rich.segment import Segment
from textual.strip import Strip

from agentwatch.analysis.status import Wait
from agentwatch.screen.widgets.line_view import LineView
from agentwatch.screen.widgets.markdown import MarkdownRenderer, split_blocks, split_lines
from agentwatch.session.actions import shown_action
from agentwatch.session.agent_process import Ending
from agentwatch.session.call import Call
from agentwatch.session.events import Outcome
from agentwatch.session.storage import PAGE, Numbers, Spill
from agentwatch.session.transcript import Entry, Kind, TurnResult
from agentwatch.text.durations import duration_words
from agentwatch.text.safe import SafeText, columns, cut, safe_text
from agentwatch.text.signs import ASKS_SIGN, SIGNS

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
        number, last = self.number, self.blocks.last_entry
        if last is None or last.number != number:
            last = self.blocks.last_entry = self.blocks.transcript[number]
        return last

    @property
    def is_outcome(self) -> bool:
        """Whether the block says how a turn ended, without the text of its result."""
        return self.start == self.end and self.entry.kind is Kind.RESULT

    @property
    def rule(self) -> SafeText | None:
        return self.blocks.rules.get(self.index)


class BlockList(Sequence[Block]):
    """The blocks in order; each item is a view of one row of the columns."""

    def __init__(self, transcript: Sequence[Entry]) -> None:
        self.transcript = transcript
        self.spill = Spill()
        columns = {name: of.code for name, of in vars(Block).items() if isinstance(of, _Column)}
        self.columns = {name: Numbers(code, self.spill) for name, code in columns.items()}
        self.last_entry: Entry | None = None
        """The entry that was accessed last: a frame accesses each some twenty times."""
        self.rules: dict[int, SafeText] = {}

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


# Heights of stacked items: finds the top of each item, and the item that contains a line.

_GROUP = 64
"""The number of heights with one sum. With a sum for each height, each item would take 8 bytes more."""
assert PAGE % _GROUP == 0, "the heights of a group must be on one page"


class Heights:
    """A list of heights with sums of groups (a Fenwick tree): every query and change costs O(log n). The sum
    at place i, counted from 1, covers the groups after place i & (i - 1), without the lowest bit, up to i."""

    def __init__(self, heights: Iterable[int] = (), spill: Spill | None = None) -> None:
        self._heights = Numbers("I", spill or Spill())
        self._sums = array("Q", [0])
        self._found = (0, 0, 0)
        """The item that was found last: its index, its first line, and the line after its last one."""
        for height in heights:
            self.append(height)

    def __len__(self) -> int:
        return len(self._heights)

    def __getitem__(self, index: int) -> int:
        return self._heights[index]

    def __setitem__(self, index: int, height: int) -> None:
        more = height - self._heights[index]
        if more:
            self._found = (0, 0, 0)
            self._heights[index] = height
            place = index // _GROUP + 1
            while place < len(self._sums):
                self._sums[place] += more
                place += place & -place

    def append(self, height: int) -> None:
        is_new_group = len(self._heights) % _GROUP == 0
        self._heights.append(height)
        if is_new_group:
            self._add_group(height)
        else:
            self._sums[-1] += height

    def _add_group(self, height: int) -> None:
        """Append the sum of a new group, whose heights add up to `height` so far."""
        place = len(self._sums)
        below, first = place - 1, place - (place & -place)
        while below > first:
            height += self._sums[below]
            below -= below & -below
        self._sums.append(height)

    def pop(self) -> int:
        self._found = (0, 0, 0)
        height = self._heights.pop()
        if len(self._heights) % _GROUP:
            self._sums[-1] -= height
        else:
            self._sums.pop()
        return height

    def prefix(self, length: int) -> Heights:
        """Return the first `length` heights; either list may change without changing the other."""
        prefix = Heights()
        prefix._heights = self._heights.prefix(length)
        prefix._sums = self._sums[: (length + _GROUP - 1) // _GROUP + 1]
        if length % _GROUP:
            prefix._sums.pop()
            last = sum(prefix._heights.part(length - length % _GROUP, length))
            prefix._add_group(last)
        return prefix

    def top(self, index: int) -> int:
        """Return the sum of the heights before `index`, which may be the number of heights."""
        place = index // _GROUP
        top = sum(self._heights.part(place * _GROUP, index))
        while place:
            top += self._sums[place]
            place -= place & -place
        return top

    def total(self) -> int:
        return self.top(len(self._heights))

    def at(self, line: int) -> tuple[int, int]:
        """Return the index of the item that contains a line, and the line's offset in it. Past the end, the
        index is the number of items. Of several at one line it is the last: the others have height 0."""
        index, first_line, end = self._found
        if first_line <= line < end:  # as for most lines of a pane that is drawn
            return index, line - first_line
        asked, group, groups = line, 0, len(self._sums) - 1
        step = 1 << groups.bit_length() >> 1
        while step:
            place = group + step
            if place <= groups and self._sums[place] <= line:
                group = place
                line -= self._sums[place]
            step >>= 1
        if group == groups:
            return len(self._heights), line
        first = group * _GROUP
        tops = list(accumulate(self._heights.part(first, first + _GROUP), initial=0))
        index = bisect_right(tops, line) - 1
        row = line - tops[index]
        if index + 1 < len(tops):
            self._found = first + index, asked - row, asked - row + tops[index + 1] - tops[index]
        return first + index, row


# Renders the entries of the transcript as lines: prompts, thinking, text, notices, results and calls.

GROWING = (Kind.ANSWER, Kind.REASONING)
"""The kinds of entries whose text may still grow, in Markdown."""
_RESULT_INDENT = 2
SIGN_COLUMNS = 4
"""The columns before the number of a call: its sign, and the blanks around it."""


class EntryRenderer:
    def __init__(self, pane: LineView, code_theme: str, redraw: Callable[[], object] | None = None) -> None:
        self._pane = pane
        self._markdown = MarkdownRenderer(pane.line_style, code_theme, redraw)

    def render(self, entry: Entry, start: int, end: int, width: int, *, is_code: bool) -> list[Strip]:
        """Return the lines of a block, which is a part of the entry's text."""
        source = safe_text(shown_part(entry, start, end))
        match entry.kind:
            case Kind.ANSWER if is_code:
                return self._markdown.code(source, width)
            case Kind.ANSWER:
                return self._markdown.markdown(source, width)
            case Kind.PROMPT:
                return self._indented("  " if start else "› ", source, "prompt", width)
            case Kind.REASONING:
                thought = self._indented("  ", SafeText(source.strip("\n")), "reasoning", width)
                return thought if start else [thinking_line(self._pane, entry, is_folded=False), *thought]
            case Kind.RESULT if not is_markdown(entry):
                return self._indented("  ", source, "plain", width)
            case Kind.RESULT:
                render = self._markdown.code if is_code else self._markdown.markdown
                blanks = Segment(" " * _RESULT_INDENT)
                return [Strip([blanks, *strip]) for strip in render(source, max(width - _RESULT_INDENT, 1))]
            case _:
                return self._indented("  " if start else "· ", source, "muted", width)

    def render_pieces(self, entry: Entry, start: int, end: int, width: int) -> list[Strip]:
        """Return the lines of several pieces, equal to those of a block for each with the gaps between."""
        strips: list[Strip] = []
        is_spaced = is_markdown(entry)
        for first, last, is_code in pieces_of(entry, shown_part(entry, start, end)):
            if strips and is_spaced:
                strips.append(Strip.blank(width))
            strips += self.render(entry, start + first, start + last, width, is_code=is_code)
        return strips

    def outcome(self, result: TurnResult, ending: Ending) -> list[Strip]:
        duration = "" if result.duration_ms is None else f" in {duration_words(result.duration_ms)}"
        words = SafeText(f"{SIGNS[ending.outcome]} {ending.words}{duration}")
        strips = [self._pane.strip_of([(words, str(ending.outcome))])]
        if result.outcome is Outcome.SUCCEEDED and not result.is_bare and is_result_shown(result):
            title = SafeText("  the result differs from the text above:")
            strips.append(self._pane.strip_of([(title, "unfinished")]))
        return strips

    def _indented(self, lead: str, source: SafeText, name: str, width: int) -> list[Strip]:
        style = self._pane.line_style(name)
        strips = self._markdown.text(source, width - len(lead), style)
        leads = [lead] + [" " * len(lead)] * (len(strips) - 1)
        return [Strip([Segment(first, style), *strip]) for first, strip in zip(leads, strips, strict=True)]


def is_markdown(entry: Entry) -> bool:
    """Return whether an entry is cut as Markdown. The reason of a failed run is shown line by line."""
    is_answer = entry.result is not None and entry.result.outcome is Outcome.SUCCEEDED
    return entry.kind in GROWING or (entry.kind is Kind.RESULT and is_answer)


def pieces_of(entry: Entry, text: str) -> list[tuple[int, int, bool]]:
    """Return the start and end of the pieces of a text, and whether each is a fenced code block."""
    return split_blocks(text) if is_markdown(entry) else split_lines(text)


def is_result_shown(result: TurnResult) -> bool:
    return bool(result.length) and not result.is_streamed


def shown_length(entry: Entry) -> int:
    result = entry.result
    if result is None:
        return len(entry.content)
    return result.length if is_result_shown(result) else 0


def shown_part(entry: Entry, start: int, end: int) -> str:
    return entry.content.part(start, end) if entry.result is None else entry.result.part(start, end)


def call_line(pane: LineView, call: Call, number: SafeText, width: int, wait: Wait | None = None) -> Strip:
    """Return the line of a call in its current state; `number` is `#12 `, or empty."""
    state = str(call.outcome) if wait is None else "asks"
    style = "muted" if call.outcome is Outcome.SUCCEEDED else state
    sign = (SafeText(f"  {SIGNS[call.outcome] if wait is None else ASKS_SIGN} "), state)
    words = fitting_action(call, wait, width - SIGN_COLUMNS - len(number))
    return pane.strip_of([sign, (number, "muted"), (words, style)])


def fitting_action(call: Call, wait: Wait | None, width: int) -> SafeText:
    """Return the action of a call in `width` columns; what it waits for is shown whole or not at all."""
    words = shown_action(call, "" if wait is None else wait.words)
    if wait is not None and columns(words) > width:
        words = SafeText(words.removesuffix(f" ({wait.words})"))
    return cut(words, width)


def thinking_line(pane: LineView, entry: Entry, *, is_folded: bool) -> Strip:
    sign = "" if entry.is_open else " ▸" if is_folded else " ▾"
    return pane.strip_of([(SafeText(f"{thought_for(entry)}{sign}"), "reasoning")])


def thought_for(entry: Entry) -> SafeText:
    """Return the words of a thought's title; for a finished thought, with its duration if it is known."""
    took_ms = 0 if entry.started_ms is None or entry.ended_ms is None else entry.ended_ms - entry.started_ms
    duration = f" {duration_words(took_ms)}" if took_ms > 0 and not entry.is_open else ""
    return SafeText(f"thinking{duration}")


def rule_line(pane: LineView, words: SafeText, width: int) -> Strip:
    lead = SafeText("── ")
    rest = SafeText(" " + "─" * max(width - len(lead) - len(words) - 1, 2))
    return pane.strip_of([(lead, "rule"), (words, "accent"), (rest, "rule")])
