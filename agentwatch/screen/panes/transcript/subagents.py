"""The entries of subagents: folded into one line until the user opens them."""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Sequence

from agentwatch.analysis.status import Waits
from agentwatch.session.actions import shown_action, shown_tool, target
from agentwatch.session.call import Call
from agentwatch.session.events import Outcome
from agentwatch.session.transcript import Entry, Kind
from agentwatch.text.amounts import plural
from agentwatch.text.safe import SafeText, cut

_INDENT = 4
_MOST_LEVELS = 3
"""Subagents of subagents are not indented any further."""
_NAME_COLUMNS = 40
UNKNOWN_PARENT = 0
"""The parent of an entry whose call is not in the recording. There is no line to fold such entries under."""


class Tally:
    """The entries of the subagent of one call of the main agent, and of the subagents that it started."""

    __slots__ = ("blocks", "calls", "head", "messages")

    def __init__(self) -> None:
        self.head: int | None = None
        """The index of the first block, below the line for all blocks."""
        self.blocks = array("I")
        self.calls = array("I")
        self.messages = array("I")

    def prefix(self, calls: int, entries: int, blocks: int) -> Tally:
        prefix = Tally()
        prefix.blocks = self.blocks[: bisect_left(self.blocks, blocks)]
        prefix.calls = self.calls[: bisect_right(self.calls, calls)]
        prefix.messages = self.messages[: bisect_left(self.messages, entries)]
        prefix.head = self.head if prefix.blocks else None
        return prefix


class Subagents:
    """Knows the entries below each call of the main agent; all below one are folded and opened together."""

    def __init__(self) -> None:
        self._roots: dict[int, int] = {}
        """The call of the main agent to which a call of a subagent belongs, by the numbers of both."""
        self._levels: dict[int, int] = {}
        self._tallies: dict[int, Tally] = {}
        self._open: set[int] = set()

    def prefix(self, calls: int, entries: int, blocks: int) -> Subagents:
        """Return the subagents of the first calls, entries and blocks; what is open is the same in both."""
        prefix = Subagents()
        prefix._roots, prefix._levels, prefix._open = self._roots, self._levels, self._open
        tallies = {root: tally.prefix(calls, entries, blocks) for root, tally in self._tallies.items()}
        prefix._tallies = {root: tally for root, tally in tallies.items() if tally.calls or tally.blocks}
        return prefix

    def root(self, entry: Entry) -> int | None:
        """Return the number of the main agent's call that an entry is below; None for its own entries."""
        return None if entry.parent is None else self._roots.get(entry.parent, entry.parent)

    def root_of(self, call: Call) -> int | None:
        """Return the number of the main agent's call that a call is below; None for its own calls."""
        return self._roots.get(call.number)

    def tally(self, root: int) -> Tally | None:
        """Return the entries below a call of the main agent; None if it has no subagent."""
        return self._tallies.get(root)

    def is_hidden(self, entry: Entry) -> bool:
        root = self.root(entry)
        return root is not None and root != UNKNOWN_PARENT and root not in self._open

    def is_head(self, entry: Entry, index: int) -> bool:
        """Return whether a block of an entry has the line of all of them above it."""
        root = self.root(entry)
        return bool(root) and root is not None and self._tallies[root].head == index

    def indent(self, entry: Entry) -> int:
        if entry.parent is None:
            return 0
        return _INDENT * min(self._levels.get(entry.parent, 0) + 1, _MOST_LEVELS)

    def begin(self, entry: Entry) -> None:
        root = self.root(entry)
        if root is None or entry.parent is None:
            return
        tally = self._tallies.setdefault(root, Tally())
        if entry.kind is Kind.CALL and entry.call is not None:
            self._roots[entry.call.number] = root
            self._levels[entry.call.number] = self._levels.get(entry.parent, 0) + 1
            tally.calls.append(entry.call.number)
        elif entry.kind is Kind.ANSWER:
            tally.messages.append(entry.number)

    def add_block(self, entry: Entry, index: int) -> None:
        root = self.root(entry)
        if root is not None:
            tally = self._tallies[root]
            tally.blocks.append(index)
            tally.head = index if tally.head is None else tally.head

    def drop_block(self, entry: Entry) -> None:
        root = self.root(entry)
        if root is not None:
            tally = self._tallies[root]
            tally.head = None if tally.head == tally.blocks.pop() else tally.head

    def turn(self, root: int) -> None:
        self._open ^= {root}

    def words(self, root: int, calls: Sequence[Call], waits: Waits, width: int) -> SafeText:
        """Return the line, such as `▸ Find the callers · 14 calls, 3 messages`, with a running call."""
        call, tally = calls[root - 1], self._tallies[root]
        counts = [plural(len(tally.calls), "call")] if tally.calls else []
        counts += [plural(len(tally.messages), "message")] if tally.messages else []
        words = (
            f"{'▾' if root in self._open else '▸'} {name_of(call)} · {', '.join(counts) or 'no calls yet'}"
        )
        if call.outcome is Outcome.RUNNING and tally.calls:
            newest = tally.calls[-1]
            wait = waits.get(newest)
            words += f" · {shown_action(calls[newest - 1], '' if wait is None else wait.words)}"
        return cut(SafeText(words), width)


def name_of(call: Call) -> SafeText:
    return cut(target(call) or shown_tool(call.tool) or SafeText("subagent"), _NAME_COLUMNS)
