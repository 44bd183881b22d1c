"""Detects loops: calls that are repeated with the same arguments."""

from collections import deque
from collections.abc import Callable, Hashable, Sequence
from typing import NamedTuple

from agentwatch.analysis.block_text import block_text
from agentwatch.feed.feed import Feed
from agentwatch.session.actions import shown_tool, target
from agentwatch.session.call import Call
from agentwatch.text.safe import SafeText, columns, cut

_IN_A_ROW = 4
"""The number of equal calls, or equal rounds of calls, in a row that makes a loop. Three would be too few: a
flaky check may well be repeated three times."""
_MOST_IN_TURN = 3
"""The largest number of calls in a repeated round."""
WINDOW = 10
_IN_WINDOW = 6
"""The number of equal calls within the window that makes a loop."""
_MOST_AT_ONCE = 50
"""The number of calls at the end of a burst that are checked. Earlier loops in it may be long over."""
_MOST_ARGUMENT_BYTES = 1 << 16
_WORDS_COLUMNS = 80

_Name = tuple[str, str | None, str | None]
_Identity = tuple[_Name, Hashable]


class Loop(NamedTuple):
    """A call, or a round of calls, that was repeated too often."""

    calls: tuple[Call, ...]
    """The calls of the newest round, in order."""
    times: int
    is_row: bool
    """Whether the repetitions followed each other directly. Otherwise there were other calls in between."""

    def words(self) -> SafeText:
        """Return a description of at most 80 columns: `the same call 4 times in a row: shell pytest -q`."""
        if len(self.calls) > 1:
            words = f"the same {len(self.calls)} calls repeated {self.times:,} times: "
        elif self.is_row:
            words = f"the same call {self.times:,} times in a row: "
        else:
            words = f"the same call {self.times:,} times in the last {WINDOW}: "
        for nth, call in enumerate(self.calls):
            separator = ", " if nth else ""
            width = (_WORDS_COLUMNS - columns(SafeText(words))) // (len(self.calls) - nth) - len(separator)
            words += separator + cut(SafeText(f"{shown_tool(call.tool)} {target(call)}".rstrip()), width)
        return SafeText(words)


class Loops:
    """Detects loops as calls arrive, and reports each once per episode. A loop is four equal calls in a row,
    six equal calls of the last ten, or four equal rounds of two or three calls. The episode ends after nine
    other calls in a row, or with the run. Until then, a loop that contains an already reported call belongs
    to the same episode."""

    def __init__(self, arguments: Callable[[Call], Hashable | None]) -> None:
        """Compare calls by tool, target and arguments. `arguments` returns a hashable form of a call's
        arguments, or None, which equals nothing. It is only called for a call whose tool and target equal
        those of another of the last ten calls."""
        self._arguments = arguments
        self._checked = 0
        self._last: deque[Call] = deque(maxlen=WINDOW)
        self._identities: dict[int, _Identity | None] = {}
        """The identities of those recent calls that were compared, by call number."""
        self._repeats = [0] * _MOST_IN_TURN
        """The number of calls in a row that equal the call 1, 2 or 3 calls earlier."""
        self._reported: set[_Identity] = set()
        """The calls in the reported loops of the episodes that have not ended."""

    def update(self, calls: Sequence[Call]) -> list[Loop]:
        """Check the calls that are new since the last update, and return the loops that they complete."""
        first = max(self._checked, len(calls) - _MOST_AT_ONCE)
        self._checked = len(calls)
        return [loop for call in calls[first:] if (loop := self._add(call)) is not None]

    def _add(self, call: Call) -> Loop | None:
        if self._last and self._last[-1].run != call.run:
            self._last.clear()
        self._last.append(call)
        alike = [other for other in self._last if _name(other) == _name(call)]
        identities = self._identities
        self._identities = {
            other.number: identities[other.number] for other in self._last if other.number in identities
        }
        if len(alike) > 1:
            for other in alike:
                if other.number not in self._identities:
                    arguments = self._arguments(other)
                    known = None if arguments is None else (_name(other), arguments)
                    self._identities[other.number] = known
        self._reported &= set(self._identities.values())
        recent = [self._identities.get(other.number) for other in self._last]
        self._repeats = [
            repeats + 1 if recent[-1] is not None and recent[-1 - period : -period] == recent[-1:] else 0
            for period, repeats in enumerate(self._repeats, 1)
        ]
        loop = self._loop(recent)
        if loop is None:
            return None
        looping = {identity for identity in recent[-len(loop.calls) :] if identity is not None}
        if looping & self._reported:
            return None
        self._reported |= looping
        return loop

    def _loop(self, recent: Sequence[_Identity | None]) -> Loop | None:
        """Return the loop that the newest call completes; of several, the one with the shortest round."""
        for period, repeats in enumerate(self._repeats, 1):
            if repeats >= period * (_IN_A_ROW - 1):
                return Loop(tuple(self._last)[-period:], repeats // period + 1, True)
        count = 0 if recent[-1] is None else recent.count(recent[-1])
        return Loop((self._last[-1],), count, False) if count >= _IN_WINDOW else None


def arguments_of(feed: Feed, call: Call) -> int | None:
    """Return a hash of a call's arguments, read back; None if they are missing or in a line over 64 KiB."""
    place = call.arguments_place
    if place is None or place.length > _MOST_ARGUMENT_BYTES:
        return None
    return hash(
        tuple((type(block).__name__, block_text(block)) for block in feed.blocks(place, call.call_id))
    )


def _name(call: Call) -> _Name:
    return call.tool, call.target, call.path
