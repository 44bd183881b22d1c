"""How often in a row the identical call was made."""

from __future__ import annotations

from collections.abc import Hashable

from agentwatch.analysis.loops import arguments_of
from agentwatch.feed import Feed
from agentwatch.session import Call


class Repeats:
    """Counts calls in a row with equal tool, target and arguments, in the order in which they started.

    The arguments are read from the recording, 13 to 25 µs a call, only if the tool and the target of two
    calls in a row are equal. Arguments that are unknown equal nothing.
    """

    def __init__(self, feed: Feed) -> None:
        self._feed = feed
        self._last: Call | None = None
        self._arguments: tuple[Hashable | None] | None = None
        """The arguments of the last call; None if they were not read."""
        self._count = 0

    def add(self, call: Call) -> int:
        """Add the next call of the session; return how often in a row it was made, 1 for the first time."""
        last, self._last = self._last, call
        if (
            last is None
            or last.tool != call.tool
            or last.target != call.target
            or last.path != call.path
            or last.parent != call.parent
            or last.run != call.run
        ):
            self._arguments, self._count = None, 1
            return 1
        before = (arguments_of(self._feed, last),) if self._arguments is None else self._arguments
        self._arguments = (arguments_of(self._feed, call),)
        is_same = before == self._arguments and before[0] is not None
        self._count = self._count + 1 if is_same else 1
        return self._count
