"""The assistant's text of a run: the texts of some entries of the transcript."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from typing import TYPE_CHECKING, overload

from agentwatch.session.storage.growing_text import GrowingText

if TYPE_CHECKING:
    from agentwatch.session.entry import Entry


class Answer(Sequence[GrowingText]):
    """The texts of some entries of a transcript; each takes 4 bytes, and is unpacked when it is accessed."""

    def __init__(self, transcript: Sequence[Entry]) -> None:
        self._transcript = transcript
        self._numbers = array("I")

    def __len__(self) -> int:
        return len(self._numbers)

    @overload
    def __getitem__(self, index: int) -> GrowingText: ...
    @overload
    def __getitem__(self, index: slice) -> list[GrowingText]: ...
    def __getitem__(self, index: int | slice) -> GrowingText | list[GrowingText]:
        if isinstance(index, slice):
            return [self._transcript[number].content for number in self._numbers[index]]
        return self._transcript[self._numbers[index]].content

    def add(self, entry: Entry) -> None:
        """Add the text of an entry, unless it is already the last one."""
        if not self._numbers or self._numbers[-1] != entry.number:
            self._numbers.append(entry.number)

    def retract(self, characters: int) -> None:
        """Remove the last texts, which together have this number of characters."""
        while characters > 0 and self._numbers:
            characters -= len(self[-1])
            self._numbers.pop()

    def rewind(self, number: int) -> None:
        """Remove the texts of this entry of the transcript and of those after it."""
        while self._numbers and self._numbers[-1] >= number:
            self._numbers.pop()

    def clear(self) -> None:
        """Remove all texts."""
        del self._numbers[:]
