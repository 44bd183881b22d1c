"""A run: one invocation of the agent, from its init to its result."""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, overload

from agentwatch.events import Outcome, RunInfo, RunStarted, Tokens, TurnEnded
from agentwatch.session.bounds import bounded, bounded_members
from agentwatch.session.call import Place
from agentwatch.session.storage.growing_text import GrowingText, is_joined
from agentwatch.session.storage.spill import Spill
from agentwatch.session.usage_counts import UsageCounts

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


@dataclass(slots=True)
class Run:
    """The facts about one run; None means unknown."""

    format: str | None = None
    session_id: str | None = None
    model: str | None = None
    cwd: str | None = None
    permission_mode: str | None = None
    api_key_source: str | None = None
    agent_version: str | None = None
    awaits_prompt: bool = False
    """Whether a turn has started whose prompt has not arrived."""
    outcome: Outcome = Outcome.RUNNING
    request_id: str | None = None
    duration_ms: int | None = None
    duration_api_ms: int | None = None
    usage: Mapping[str, object] | None = None
    usage_counts: UsageCounts = field(default_factory=UsageCounts)
    ended: Place | None = None
    """Where its result line is in the recording; None if it has not arrived."""
    is_bare: bool = False
    """Whether the recording contains only its result, as the agent's `json` format does."""
    result_is_last_text: bool = False
    """Whether the result repeats only the last text of its turn."""
    began_seen_ms: int | None = None
    """When its first line arrived, in milliseconds since the epoch."""
    answer: Answer = field(default_factory=lambda: Answer(()), repr=False)
    """The assistant's text, one piece per transcript entry."""
    _turn_starts: array[int] = field(default_factory=lambda: array("I"), repr=False)
    """For each turn, the number of its first entry in the transcript."""
    _prompt: GrowingText | None = field(default=None, repr=False)
    _result: GrowingText | None = field(default=None, repr=False)
    _compared: tuple[tuple[int, int], bool] | None = field(default=None, repr=False)
    """The size of the answer at its last comparison with the result, and whether they were equal."""

    @classmethod
    def of(cls, event: RunStarted, answer: Answer) -> Run:
        """Return the run that an init line begins; `answer` is empty."""
        run = cls(answer=answer)
        run.describe(event)
        return run

    def describe(self, event: RunStarted | RunInfo) -> None:
        """Apply a line with facts about the run. Facts that it does not contain keep their values."""
        self.format = event.format if isinstance(event, RunStarted) else self.format
        self.session_id = bounded(event.session_id) or self.session_id
        self.model = bounded(event.model) or self.model
        self.cwd = bounded(event.cwd) or self.cwd
        self.permission_mode = bounded(event.permission_mode) or self.permission_mode
        self.api_key_source = bounded(event.api_key_source) or self.api_key_source
        self.agent_version = bounded(event.agent_version) or self.agent_version

    @property
    def turns(self) -> int:
        """The number of the user's prompts."""
        return len(self._turn_starts)

    @property
    def tokens(self) -> Tokens:
        """The tokens of the run so far."""
        return self.usage_counts.tokens

    @property
    def prompt(self) -> str | None:
        """The first prompt; None if the run has none."""
        return None if self._prompt is None else str(self._prompt)

    @property
    def text(self) -> str:
        """The assistant's text: all segments joined without a separator, as the result joins them."""
        return "".join(map(str, self.answer))

    @property
    def result(self) -> str | None:
        """The text of the result line; None without a result line or without a text in it."""
        return None if self._result is None else str(self._result)

    @property
    def result_length(self) -> int:
        """The number of characters in the text of the result line."""
        return 0 if self._result is None else len(self._result)

    def result_part(self, start: int, end: int) -> str:
        """Return the characters from `start` to `end` of the text of the result line."""
        return "" if self._result is None else self._result.part(start, end)

    @property
    def text_matches_result(self) -> bool | None:
        """Whether the streamed text equals the result.

        None without a result or without a stream, and if the result is an error message: it is no copy of the
        text.
        """
        is_empty = self.result_is_last_text and not self._result
        if self._result is None or is_empty or self.is_bare or self.outcome is not Outcome.SUCCEEDED:
            return None
        return self.has_streamed_result

    @property
    def has_streamed_result(self) -> bool:
        """Whether the streamed text equals the text of the result, which may be an error message."""
        if self._result is None:
            return False
        size = len(self.answer), len(self.answer[-1]) if self.answer else 0
        if self._compared is None or self._compared[0] != size:
            self._compared = size, is_joined(self._result, self._repeated())
        return self._compared[1]

    def _repeated(self) -> Sequence[GrowingText]:
        """Return the texts that the result repeats: all of them, or those at the end with its length."""
        if not self.result_is_last_text or self._result is None:
            return self.answer
        start, length = len(self.answer), 0
        while start and length < len(self._result):
            start -= 1
            length += len(self.answer[start])
        return self.answer[start:]

    @property
    def is_over(self) -> bool:
        """Whether the outcome is known."""
        return self.outcome is not Outcome.RUNNING

    def begin_turn(self, number: int) -> None:
        """Begin a turn with an entry of the transcript. A run that was over continues."""
        self._turn_starts.append(number)
        self.awaits_prompt = True
        self.usage_counts.begin_turn()
        self.outcome = Outcome.RUNNING

    def rewind(self, turns: int) -> None:
        """Remove the last turns and their texts."""
        self.answer.rewind(self._turn_starts[-turns])
        del self._turn_starts[-turns:]
        self.awaits_prompt = False

    def add_prompt(self, content: GrowingText) -> None:
        """Add a prompt, whose text is complete; only the first of a run is kept."""
        self._prompt = self._prompt or content
        self.awaits_prompt = False

    def forget_result(self) -> None:
        """Drop the result. If only a part of the text was read, comparing the two would be wrong."""
        self._result = None

    def end(self, event: TurnEnded, place: Place, spill: Spill) -> None:
        """Apply the result line, and store its text in `spill`."""
        self.ended, self.outcome, self.awaits_prompt = place, event.outcome, False
        self._result, self._compared = None, None
        if event.result is not None:
            self._result = GrowingText(spill, event.result)
            self._result.complete()
        self.session_id = self.session_id or bounded(event.session_id)
        self.request_id, self.usage = bounded(event.request_id), bounded_members(event.usage)
        self.duration_ms, self.duration_api_ms = event.duration_ms, event.duration_api_ms
