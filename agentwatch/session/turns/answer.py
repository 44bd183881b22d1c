"""The assistant's text of a run: the texts of some entries of the transcript."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, overload

from agentwatch.session.storage.growing_text import Content
from agentwatch.session.storage.numbers import Numbers
from agentwatch.session.storage.spill import Spill

if TYPE_CHECKING:
    from agentwatch.session.entry import Entry


class Answer(Sequence[Content]):
    """The texts of some entries of a transcript; each takes 4 bytes, and is unpacked when it is accessed."""

    def __init__(self, transcript: Sequence[Entry], spill: Spill | None = None) -> None:
        """Create an answer without texts.

        Args:
            transcript: The transcript.
            spill: Where the numbers of the entries are stored.
        """
        self._transcript = transcript
        self._numbers = Numbers("I", spill or Spill())
        self._last = -1
        """The number of the entry of the last text; -1 without texts."""

    def __len__(self) -> int:
        return len(self._numbers)

    @overload
    def __getitem__(self, index: int) -> Content: ...
    @overload
    def __getitem__(self, index: slice) -> list[Content]: ...
    def __getitem__(self, index: int | slice) -> Content | list[Content]:
        if isinstance(index, slice):
            start, end, step = index.indices(len(self))
            entries = self._transcript
            return [entries[number].content for number in self._numbers.part(start, end)[::step]]
        return self._transcript[self._numbers[range(len(self))[index]]].content

    def add(self, entry: Entry) -> None:
        """Add the text of an entry, unless it is already the last one."""
        if self._last != entry.number:
            self._last = entry.number
            self._numbers.append(entry.number)

    def retract(self, characters: int) -> None:
        """Remove the last texts, which together have this number of characters."""
        while characters > 0 and len(self):
            characters -= len(self[-1])
            self._pop()

    def rewind(self, number: int) -> None:
        """Remove the texts of this entry of the transcript and of those after it."""
        while self._last >= number:
            self._pop()

    def clear(self) -> None:
        """Remove all texts."""
        self._numbers = Numbers("I", Spill())
        self._last = -1

    def _pop(self) -> None:
        self._numbers.pop()
        self._last = self._numbers[len(self) - 1] if len(self) else -1
