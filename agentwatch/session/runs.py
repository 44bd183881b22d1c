"""A run: one invocation of the agent, from its init to its result."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from agentwatch.events import Outcome, RunEnded, RunStarted
from agentwatch.session.call import Place
from agentwatch.session.growing_text import GrowingText, is_joined
from agentwatch.session.spill import Spill


@dataclass(slots=True)
class Run:
    """What is known of one run; None is unknown."""

    format: str | None = None
    session_id: str | None = None
    model: str | None = None
    cwd: str | None = None
    permission_mode: str | None = None
    api_key_source: str | None = None
    prompt: str | None = None
    outcome: Outcome = Outcome.RUNNING
    request_id: str | None = None
    duration_ms: int | None = None
    duration_api_ms: int | None = None
    usage: Mapping[str, object] | None = None
    ended: Place | None = None
    """The line of its result."""
    is_bare: bool = False
    """The recording holds nothing of it but its result, as the agent's `json` format does."""
    began_seen_ms: int | None = None
    """When its first line reached us."""
    answer: list[GrowingText] = field(default_factory=list, repr=False)
    """The assistant's text, in the pieces of the transcript."""
    _result: GrowingText | None = field(default=None, repr=False)
    _compared: tuple[tuple[int, int], bool] | None = field(default=None, repr=False)
    """How large the answer was when it was last compared with the result, and whether it was the same."""

    @classmethod
    def of(cls, event: RunStarted) -> Run:
        """Return the run that an init begins."""
        return cls(
            format=event.format,
            session_id=event.session_id,
            model=event.model,
            cwd=event.cwd,
            permission_mode=event.permission_mode,
            api_key_source=event.api_key_source,
        )

    @property
    def text(self) -> str:
        """The assistant's text, all segments joined without a separator, as the result joins them."""
        return "".join(map(str, self.answer))

    @property
    def result(self) -> str | None:
        """What the result line says; None without one, or where it says nothing."""
        return None if self._result is None else str(self._result)

    @property
    def result_length(self) -> int:
        """How many characters the result line says."""
        return 0 if self._result is None else len(self._result)

    def result_part(self, start: int, end: int) -> str:
        """Return what the result line says, from one character to another."""
        return "" if self._result is None else self._result.part(start, end)

    @property
    def text_matches_result(self) -> bool | None:
        """Whether the rebuilt text is the result's; None without a result, or without a stream."""
        if self._result is None or self.is_bare:
            return None
        size = len(self.answer), len(self.answer[-1]) if self.answer else 0
        if self._compared is None or self._compared[0] != size:
            self._compared = size, is_joined(self._result, self.answer)
        return self._compared[1]

    @property
    def is_over(self) -> bool:
        """Whether its outcome is known."""
        return self.outcome is not Outcome.RUNNING

    def add_answer(self, text: GrowingText) -> None:
        """Take note of a piece of the transcript that holds the assistant's text."""
        if not self.answer or self.answer[-1] is not text:
            self.answer.append(text)

    def forget_result(self) -> None:
        """Compare nothing with the result: most of the text it repeats was not read."""
        self._result = None

    def end(self, event: RunEnded, place: Place, spill: Spill) -> None:
        """Take the result; its text goes to `spill`."""
        self.ended, self.outcome = place, event.outcome
        self._result, self._compared = None, None
        if event.result is not None:
            self._result = GrowingText(spill, event.result)
            self._result.complete()
        self.session_id = self.session_id or event.session_id
        self.request_id, self.usage = event.request_id, event.usage
        self.duration_ms, self.duration_api_ms = event.duration_ms, event.duration_api_ms
