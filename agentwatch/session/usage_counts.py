"""Adds the token counts of a run, which agents report per request, per turn or for the whole run."""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce
from typing import TypeVar

from agentwatch.events import Tokens, Usage, UsageScope

_Number = TypeVar("_Number", int, float)


class UsageCounts:
    """The token counts of one run."""

    __slots__ = ("_earlier", "_turn", "tokens")

    def __init__(self) -> None:
        self._earlier = Tokens()
        """The counts of the turns before the present one."""
        self._turn = Tokens()
        self.tokens = Tokens()
        """The counts of the run, and its context."""

    def begin_turn(self) -> None:
        """Begin a turn: a count of the turn does not replace those of the turns before."""
        self._earlier, self._turn = _sum(self._earlier, self._turn), Tokens()

    def add(self, event: Usage) -> None:
        """Add a count, or replace the one that it continues."""
        if event.scope is UsageScope.REQUEST:
            self._turn = _sum(self._turn, event.tokens)
        elif event.scope is UsageScope.TURN:
            self._turn = _latest(self._turn, event.tokens)
        else:
            total = _latest(_sum(self._earlier, self._turn), event.tokens)
            self._earlier, self._turn = Tokens(), total
        self.tokens = _sum(self._earlier, self._turn)


def added(counts: Iterable[Tokens]) -> Tokens:
    """Return the sums of counts, and the context of the last."""
    return reduce(_sum, counts, Tokens())


def known_sum(numbers: Iterable[_Number | None]) -> _Number | None:
    """Return the sum of the known numbers; None if no number is known.

    Example:
        >>> known_sum([3, None, 4]), known_sum([None])
        (7, None)
    """
    known = [number for number in numbers if number is not None]
    return sum(known) if known else None


def _sum(first: Tokens, second: Tokens) -> Tokens:
    """Return the sums of two counts, and the context of the second."""
    return Tokens(
        _added(first.input, second.input),
        _added(first.cached, second.cached),
        _added(first.output, second.output),
        _added(first.cost_usd, second.cost_usd),
        first.context_used if second.context_used is None else second.context_used,
        first.context_size if second.context_size is None else second.context_size,
    )


def _added(first: _Number | None, second: _Number | None) -> _Number | None:
    if first is None or second is None:
        return second if first is None else first
    return first + second


def _latest(first: Tokens, second: Tokens) -> Tokens:
    """Return the second counts; where one is unknown, the first."""
    return first._replace(**{name: value for name, value in second._asdict().items() if value is not None})
