"""A finite automaton that searches a text in one pass. Its states are computed when they first occur."""

from __future__ import annotations

from enum import Enum, auto
from typing import Final, TypeAlias

from agentwatch.rules.language.letters import Letters, is_word

_MOST_STEPS = 20_000
"""Computed steps that are kept: 4 MB."""
ACCEPT: Final = 0


class Place(Enum):
    """A condition on the place between two characters."""

    START = auto()
    END = auto()
    EDGE = auto()
    """Between a character of a word and another."""
    NO_EDGE = auto()


_State: TypeAlias = tuple[frozenset[int], bool, bool]
"""The nodes before the next character; whether that is the first one; whether the last one is of a word."""


class Automaton:
    """The nodes of a pattern. Node 0 is its end."""

    def __init__(self, most: int) -> None:
        """Create an automaton without a pattern.

        Args:
            most: The largest number of nodes.
        """
        self._most = most
        self._letters: list[Letters | None] = [None]
        self._places: list[Place | None] = [None]
        self._after: list[list[int]] = [[]]
        self._first = ACCEPT
        self._steps: dict[tuple[_State, str], _State | None] = {}
        """The state after a character; None if a match ended before it. An empty character marks the end."""

    @property
    def is_full(self) -> bool:
        """Whether the automaton has the largest number of nodes."""
        return len(self._after) >= self._most

    def letter(self, letters: Letters, after: int) -> int:
        """Add a node that consumes a character."""
        return self._add(letters, None, [after])

    def place(self, place: Place, after: int) -> int:
        """Add a node that consumes nothing, and continues only at such a place."""
        return self._add(None, place, [after])

    def fork(self, *after: int) -> int:
        """Add a node that continues with any of several nodes."""
        return self._add(None, None, [*after])

    def join(self, node: int, after: int) -> None:
        """Add a continuation to a node."""
        self._after[node].append(after)

    def begin(self, first: int) -> None:
        """Set the first node of the pattern."""
        self._first = first

    def finds(self, text: str) -> bool:
        """Return whether a text contains a match."""
        state: _State = (frozenset((self._first,)), True, False)
        steps = self._steps
        for char in text:
            key = state, char
            after = steps.get(key, key)
            if after is key:
                after = self._step(state, char)
            if after is None:
                return True
            state = after  # type: ignore[assignment]
        return self._step(state, "") is None

    def _add(self, letters: Letters | None, place: Place | None, after: list[int]) -> int:
        self._letters.append(letters)
        self._places.append(place)
        self._after.append(after)
        return len(self._after) - 1

    def _step(self, state: _State, char: str) -> _State | None:
        """Compute and keep the state after a character."""
        nodes, is_first, is_after_word = state
        is_word_next = bool(char) and is_word(char)
        reached = {self._first}
        seen: set[int] = set()
        waiting = [*nodes]
        after: _State | None = None
        while waiting:
            node = waiting.pop()
            if node in seen:
                continue
            seen.add(node)
            letters, place = self._letters[node], self._places[node]
            if node == ACCEPT:
                break
            if letters is not None:
                if char and letters(char):
                    reached.update(self._after[node])
            elif place is None or _holds(place, is_first, not char, is_after_word, is_word_next):
                waiting.extend(self._after[node])
        else:
            after = frozenset(reached), False, is_word_next
        if len(self._steps) >= _MOST_STEPS:
            self._steps.clear()
        self._steps[state, char] = after
        return after


def _holds(place: Place, is_first: bool, is_last: bool, is_after_word: bool, is_before_word: bool) -> bool:
    match place:
        case Place.START:
            return is_first
        case Place.END:
            return is_last
        case Place.EDGE:
            return is_after_word != is_before_word
    return is_after_word == is_before_word
