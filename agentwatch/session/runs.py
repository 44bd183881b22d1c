"""A run: one invocation of the agent, from its init to its result."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from agentwatch.events import Outcome, RunEnded, RunStarted, Tokens
from agentwatch.session.bounds import bounded, bounded_members
from agentwatch.session.call import Place
from agentwatch.session.growing_text import GrowingText, is_joined
from agentwatch.session.spill import Spill


@dataclass(slots=True)
class Run:
    """The facts about one run; None means unknown."""

    format: str | None = None
    session_id: str | None = None
    model: str | None = None
    cwd: str | None = None
    permission_mode: str | None = None
    api_key_source: str | None = None
    turns: int = 0
    """The number of the user's prompts."""
    outcome: Outcome = Outcome.RUNNING
    request_id: str | None = None
    duration_ms: int | None = None
    duration_api_ms: int | None = None
    usage: Mapping[str, object] | None = None
    tokens: Tokens = field(default_factory=Tokens)
    ended: Place | None = None
    """Where its result line is in the recording; None if it has not arrived."""
    is_bare: bool = False
    """Whether the recording contains only its result, as the agent's `json` format does."""
    began_seen_ms: int | None = None
    """When its first line arrived, in milliseconds since the epoch."""
    answer: list[GrowingText] = field(default_factory=list, repr=False)
    """The assistant's text, one piece per transcript entry."""
    _prompt: GrowingText | None = field(default=None, repr=False)
    _result: GrowingText | None = field(default=None, repr=False)
    _compared: tuple[tuple[int, int], bool] | None = field(default=None, repr=False)
    """The size of the answer at its last comparison with the result, and whether they were equal."""

    @classmethod
    def of(cls, event: RunStarted) -> Run:
        """Return the run that an init line begins."""
        run = cls()
        run.describe(event)
        return run

    def describe(self, event: RunStarted) -> None:
        """Apply a start line. Facts that the line does not contain keep their values."""
        self.format = event.format
        self.session_id = bounded(event.session_id) or self.session_id
        self.model = bounded(event.model) or self.model
        self.cwd = bounded(event.cwd) or self.cwd
        self.permission_mode = bounded(event.permission_mode) or self.permission_mode
        self.api_key_source = bounded(event.api_key_source) or self.api_key_source

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
        if self._result is None or self.is_bare or self.outcome is Outcome.FAILED:
            return None
        return self.has_streamed_result

    @property
    def has_streamed_result(self) -> bool:
        """Whether the streamed text equals the text of the result, which may be an error message."""
        if self._result is None:
            return False
        size = len(self.answer), len(self.answer[-1]) if self.answer else 0
        if self._compared is None or self._compared[0] != size:
            self._compared = size, is_joined(self._result, self.answer)
        return self._compared[1]

    @property
    def is_over(self) -> bool:
        """Whether the outcome is known."""
        return self.outcome is not Outcome.RUNNING

    def add_prompt(self, content: GrowingText) -> None:
        """Add a prompt, whose text is complete; only the first of a run is kept."""
        self._prompt = self._prompt or content

    def add_answer(self, text: GrowingText) -> None:
        """Add the text of a transcript entry to the assistant's text, unless it is already the last piece."""
        if not self.answer or self.answer[-1] is not text:
            self.answer.append(text)

    def forget_result(self) -> None:
        """Drop the result. If only a part of the text was read, comparing the two would be wrong."""
        self._result = None

    def end(self, event: RunEnded, place: Place, spill: Spill) -> None:
        """Apply the result line, and store its text in `spill`."""
        self.ended, self.outcome = place, event.outcome
        self._result, self._compared = None, None
        if event.result is not None:
            self._result = GrowingText(spill, event.result)
            self._result.complete()
        self.session_id = self.session_id or bounded(event.session_id)
        self.request_id, self.usage = bounded(event.request_id), bounded_members(event.usage)
        self.tokens = event.tokens
        self.duration_ms, self.duration_api_ms = event.duration_ms, event.duration_api_ms
