"""What the turns of a run consist of: the assistant's text, and the end of each turn with its result line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, overload

from agentwatch.events import Outcome, TurnEnded
from agentwatch.session.bounds import bounded
from agentwatch.session.call import Place
from agentwatch.session.storage.growing_text import Content, GrowingText, is_joined
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


class TurnResult:
    """The end of a turn: its outcome, and the text of its result line.

    Example:
        >>> import agentwatch
        >>> result = agentwatch.load("recordings/disagreement.ndjson").run.turn_result
        >>> result.outcome, result.matches_text
        (<Outcome.SUCCEEDED: 'succeeded'>, False)
    """

    __slots__ = (
        "_answer",
        "_compared",
        "_text",
        "duration_api_ms",
        "duration_ms",
        "is_bare",
        "is_last_text",
        "outcome",
        "place",
        "request_id",
    )

    def __init__(
        self,
        event: TurnEnded,
        place: Place,
        answer: Answer,
        spill: Spill,
        *,
        is_last_text: bool,
        is_bare: bool,
    ) -> None:
        """Keep the end of a turn.

        Args:
            event: The end.
            place: Its line in the recording.
            answer: The assistant's text of the run.
            spill: Where the text of the result is stored.
            is_last_text: Whether the result repeats only the last text of its turn.
            is_bare: Whether the recording contains only the result, as the agent's `json` format does.
        """
        self.outcome = event.outcome
        self.place = place
        self.duration_ms, self.duration_api_ms = event.duration_ms, event.duration_api_ms
        self.request_id = bounded(event.request_id)
        self.is_last_text = is_last_text
        self.is_bare = is_bare
        self._answer: Answer | None = answer
        """The text that is compared with the result; None once it was compared for the last time.

        The transcript refers to this object, and the answer to the transcript: without the answer, the file
        of a session is closed as soon as nothing refers to the session.
        """
        self._text = None if event.result is None else GrowingText(spill, event.result)
        if self._text is not None:
            self._text.complete()
        self._compared: tuple[tuple[int, int], bool] | None = None
        """The size of the answer at its last comparison with the result, and whether they were equal."""

    @property
    def text(self) -> str | None:
        """The text of the result line; None without a text in it."""
        return None if self._text is None else str(self._text)

    @property
    def length(self) -> int:
        """The number of characters in the text of the result line."""
        return 0 if self._text is None else len(self._text)

    def part(self, start: int, end: int) -> str:
        """Return the characters from `start` to `end` of the text of the result line."""
        return "" if self._text is None else self._text.part(start, end)

    @property
    def matches_text(self) -> bool | None:
        """Whether the streamed text equals the result.

        None without a result or without a stream, and if the result is an error message: it is no copy of the
        text.
        """
        is_empty = self.is_last_text and not self._text
        if self._text is None or is_empty or self.is_bare or self.outcome is not Outcome.SUCCEEDED:
            return None
        return self.is_streamed

    @property
    def is_streamed(self) -> bool:
        """Whether the streamed text equals the text of the result, which may be an error message."""
        self._compare()
        return self._compared is not None and self._compared[1]

    def settle(self) -> None:
        """Compare the result with the text for the last time, because the rest belongs to another turn."""
        self._compare()
        self._answer = None

    def forget_text(self) -> None:
        """Drop the text. If only a part of the answer was read, comparing the two would be wrong."""
        self._text = self._compared = None

    def _compare(self) -> None:
        """Compare the result with the text, unless this was done at its present size."""
        answer = self._answer
        if self._text is None or answer is None:
            return
        size = len(answer), len(answer[-1]) if answer else 0
        if self._compared is None or self._compared[0] != size:
            repeated = _last_texts(answer, len(self._text)) if self.is_last_text else answer
            self._compared = size, is_joined(self._text, repeated)


def _last_texts(answer: Answer, least: int) -> Sequence[Content]:
    """Return the texts at the end of an answer that together have at least a number of characters."""
    start, length = len(answer), 0
    while start and length < least:
        start -= 1
        length += len(answer[start])
    return answer[start:]
