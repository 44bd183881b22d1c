"""Calls that loop: the same tool with the same arguments, again and again."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Sequence
from itertools import takewhile
from typing import NamedTuple

from agentwatch.actions import target
from agentwatch.feed import Feed
from agentwatch.safe_text import SafeText, cut, safe_line
from agentwatch.session import Call

IN_A_ROW = 4
WINDOW = 10
IN_WINDOW = 6
_MOST_AT_ONCE = 50
"""Of a burst of calls only the last are looked at: what was read a moment ago may be long over."""
_MOST_ARGUMENT_BYTES = 1 << 16
_WORDS_COLUMNS = 80

_Name = tuple[str, str | None, str | None]
_Identity = tuple[_Name, Hashable]


class Loop(NamedTuple):
    """A call that came again too often."""

    call: Call
    """The newest of them."""
    times: int
    is_row: bool
    """One followed the other; otherwise there were others in between."""

    def words(self) -> SafeText:
        """Return it in a line of at most 80 columns: `the same call 4 times in a row: shell pytest -q`."""
        often = f"{self.times} times in a row" if self.is_row else f"{self.times} of the last {WINDOW} times"
        about = f"{safe_line(self.call.tool)} {target(self.call)}".rstrip()
        return cut(SafeText(f"the same call {often}: {about}"), _WORDS_COLUMNS)


class Loops:
    """Notices loops as calls come, and tells each once an episode.

    Four equal calls in a row are a loop, or six of the last ten. The episode ends when nine calls in a row
    were others, or with the run.
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
        self._told: set[_Identity] = set()
        """The loops whose episodes still last."""

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
        identity = self._identities.get(call.number)
        if identity is None or identity in self._told:
            return None
        are_equal = [self._identities.get(other.number) == identity for other in self._last]
        count = sum(are_equal)
        row = sum(1 for _ in takewhile(bool, reversed(are_equal)))
        if row < IN_A_ROW and count < IN_WINDOW:
            return None
        self._told.add(identity)
        return Loop(call, row, True) if row >= IN_A_ROW else Loop(call, count, False)

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
    return hash(tuple(feed.parts(place)))


def _name(call: Call) -> _Name:
    return call.tool, call.target, call.path
