"""How often the same part of a file was read without a change of the file in between."""

from __future__ import annotations

from array import array
from collections.abc import Hashable, Iterator
from dataclasses import dataclass

from agentwatch.analysis.loops import arguments_of
from agentwatch.feed import Feed

LEAST = 4
"""The number of reads of the same part that makes an episode."""
_MOST_CHAINS = 1000
_MOST_PARTS = 100


@dataclass(slots=True, eq=False)
class Reading:
    """The reads of one part of a file."""

    first: int
    """The number of the first call."""
    last: int
    """The number of the last call."""
    times: int = 1


class Rereads:
    """Counts the reads of the same part of a file.

    Calls with the same path, the same subagent and the same note (`54 lines`) are candidates. Only their
    arguments show whether they read the same part. The arguments are read from the recording, 13 to 25 µs a
    call, when a count is requested: for most sessions, none is.
    """

    def __init__(self, feed: Feed) -> None:
        self._feed = feed
        self._numbers = array("I")
        """The numbers of candidates whose arguments were not read, in order."""
        self._firsts = array("I")
        """For each candidate, the number of the first candidate of the chain."""
        self._chains: dict[int, dict[Hashable, Reading]] = {}
        """The parts that were read in each chain, by the number of its first candidate: the newest 1,000."""
        self._has_long = False
        self._kept: dict[int, Reading] = {}
        """The newest 1,000 episodes, by the number of their first call."""

    def add(self, number: int, first: int, times: int) -> None:
        """Add a candidate that is not the first of its chain.

        Args:
            number: The number of the call.
            first: The number of the first call of its chain.
            times: How many candidates the chain has.
        """
        self._numbers.append(number)
        self._firsts.append(first)
        self._has_long = self._has_long or times >= LEAST

    def is_pending(self, number: int) -> bool:
        """Return whether the arguments of a call still have to be read."""
        return bool(self._numbers) and number >= self._numbers[0]

    def counts(self) -> Iterator[tuple[int, int]]:
        """Read the arguments of the candidates; yield the number of each call and its count of reads."""
        numbers, self._numbers = self._numbers, array("I")
        firsts, self._firsts = self._firsts, array("I")
        self._has_long = False
        for number, first in zip(numbers, firsts, strict=True):
            yield number, self._count(number, first)

    def episodes(self) -> Iterator[Reading]:
        """Yield the parts of files that were read four times or more."""
        return iter(self._kept.values())

    @property
    def may_have_news(self) -> bool:
        """Whether arguments that were not read may add an episode."""
        return self._has_long

    def _count(self, number: int, first: int) -> int:
        chain = self._chains.get(first)
        if chain is None:
            chain = self._chains[first] = {}
            if len(self._chains) > _MOST_CHAINS:
                del self._chains[next(iter(self._chains))]
            arguments = self._arguments(first)
            if arguments is not None:
                chain[arguments] = Reading(first, first)
        arguments = self._arguments(number)
        if arguments is None:
            return 1
        reading = chain.get(arguments)
        if reading is None:
            if len(chain) < _MOST_PARTS:
                chain[arguments] = Reading(number, number)
            return 1
        reading.last = number
        reading.times += 1
        if reading.times == LEAST:
            self._kept[reading.first] = reading
            if len(self._kept) > _MOST_CHAINS:
                del self._kept[next(iter(self._kept))]
        return reading.times

    def _arguments(self, number: int) -> int | None:
        return arguments_of(self._feed, self._feed.session.calls[number - 1])
