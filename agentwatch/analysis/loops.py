"""Calls that loop: the same tools with the same arguments, again and again."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Sequence
from typing import NamedTuple

from agentwatch.actions import target
from agentwatch.analysis.block_text import block_text
from agentwatch.feed import Feed
from agentwatch.safe_text import SafeText, columns, cut, safe_line
from agentwatch.session import Call

IN_A_ROW = 4
"""Calls, or whole rounds of calls: a check that is read and run again three times may be a flaky one."""
MOST_IN_TURN = 3
"""Calls of a round that comes again and again."""
WINDOW = 10
IN_WINDOW = 6
_MOST_AT_ONCE = 50
"""Of a burst of calls only the last are looked at: what was read a moment ago may be long over."""
_MOST_ARGUMENT_BYTES = 1 << 16
_WORDS_COLUMNS = 80

_Name = tuple[str, str | None, str | None]
_Identity = tuple[_Name, Hashable]


class Loop(NamedTuple):
    """A call, or a round of calls, that came again too often."""

    calls: tuple[Call, ...]
    """The newest of them, in the order in which they came."""
    times: int
    is_row: bool
    """One followed the other; otherwise there were others in between."""

    def words(self) -> SafeText:
        """Return it in a line of at most 80 columns: `the same call 4 times in a row: shell pytest -q`."""
        if len(self.calls) > 1:
            told = f"the same {len(self.calls)} calls {self.times} times in turn: "
        elif self.is_row:
            told = f"the same call {self.times} times in a row: "
        else:
            told = f"the same call {self.times} of the last {WINDOW} times: "
        for nth, call in enumerate(self.calls):
            separator = ", " if nth else ""
            room = (_WORDS_COLUMNS - columns(SafeText(told))) // (len(self.calls) - nth) - len(separator)
            told += separator + cut(SafeText(f"{safe_line(call.tool)} {target(call)}".rstrip()), room)
        return SafeText(told)


class Loops:
    """Notices loops as calls come, and tells each once an episode.

    Four equal calls in a row are a loop, or six of the last ten, or four equal rounds of two or three calls.
    The episode ends when nine calls in a row were others, or with the run; what loops meanwhile together
    with a call that was told belongs to it.
    """

    def __init__(self, arguments: Callable[[Call], Hashable | None]) -> None:
        """Compare calls by tool, target and what `arguments` returns; None is equal to nothing.

        It is asked only of calls whose tool and target are those of another of the last ten.
        """
        self._arguments = arguments
        self._taken = 0
        self._last: deque[Call] = deque(maxlen=WINDOW)
        self._identities: dict[int, _Identity | None] = {}
        """Of the last calls those that were compared, by their numbers."""
        self._repeats = [0] * MOST_IN_TURN
        """How many calls in a row were equal to the one before them, to the second and the third before."""
        self._told: set[_Identity] = set()
        """The calls of loops whose episodes still last."""

    def take(self, calls: Sequence[Call]) -> list[Loop]:
        """Take the calls that are new since the last time; return the loops that begin with them."""
        first = max(self._taken, len(calls) - _MOST_AT_ONCE)
        self._taken = len(calls)
        return [loop for call in calls[first:] if (loop := self._add(call)) is not None]

    def _add(self, call: Call) -> Loop | None:
        if self._last and self._last[-1].run != call.run:
            self._last.clear()
        self._last.append(call)
        alike = [other for other in self._last if _name(other) == _name(call)]
        known = self._identities
        self._identities = {
            other.number: known[other.number] for other in self._last if other.number in known
        }
        if len(alike) > 1:
            for other in alike:
                if other.number not in self._identities:
                    self._identities[other.number] = self._identify(other)
        self._told &= set(self._identities.values())
        recent = [self._identities.get(other.number) for other in self._last]
        self._repeats = [
            repeats + 1 if recent[-1] is not None and recent[-1 - period : -period] == recent[-1:] else 0
            for period, repeats in enumerate(self._repeats, 1)
        ]
        loop = self._loop(recent)
        if loop is None:
            return None
        looping = {identity for identity in recent[-len(loop.calls) :] if identity is not None}
        if looping & self._told:
            return None
        self._told |= looping
        return loop

    def _loop(self, recent: Sequence[_Identity | None]) -> Loop | None:
        """Return the loop in which the newest of the recent calls is, the shortest round of all."""
        for period, repeats in enumerate(self._repeats, 1):
            if repeats >= period * (IN_A_ROW - 1):
                return Loop(tuple(self._last)[-period:], repeats // period + 1, True)
        count = 0 if recent[-1] is None else recent.count(recent[-1])
        return Loop((self._last[-1],), count, False) if count >= IN_WINDOW else None

    def _identify(self, call: Call) -> _Identity | None:
        arguments = self._arguments(call)
        return None if arguments is None else (_name(call), arguments)


def arguments_of(feed: Feed, call: Call) -> int | None:
    """Return a number that stands for what a call was given, read back from the recording.

    None where the recording does not hold it, or where it is over 64 KiB: reading that takes too long.
    """
    place = call.started
    if place is None or place.length > _MOST_ARGUMENT_BYTES:
        return None
    return hash(tuple((type(block).__name__, block_text(block)) for block in feed.blocks(place)))


def _name(call: Call) -> _Name:
    return call.tool, call.target, call.path
