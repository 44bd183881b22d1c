"""A run: one invocation of the agent, from its init to its result."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from agentwatch.events import Outcome, RunEnded, RunStarted
from agentwatch.session.calls import Place


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
    result: str | None = None
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
    _answer: list[str] = field(default_factory=list, repr=False)

    @classmethod
    def of(cls, event: RunStarted) -> Run:
        """Return the run that an init begins."""
        return cls(
            event.format,
            event.session_id,
            event.model,
            event.cwd,
            event.permission_mode,
            event.api_key_source,
        )

    @property
    def text(self) -> str:
        """The assistant's text, all segments joined without a separator, as the result joins them."""
        if len(self._answer) > 1:
            self._answer[:] = ["".join(self._answer)]
        return self._answer[0] if self._answer else ""

    @property
    def text_matches_result(self) -> bool | None:
        """Whether the rebuilt text is the result's; None without a result, or without a stream."""
        return None if self.result is None or self.is_bare else self.text == self.result

    @property
    def is_over(self) -> bool:
        """Whether its outcome is known."""
        return self.outcome is not Outcome.RUNNING

    def answer(self, text: str) -> None:
        """Add to the assistant's text."""
        self._answer.append(text)

    def end(self, event: RunEnded, place: Place) -> None:
        """Take the result."""
        self.ended, self.outcome, self.result = place, event.outcome, event.result
        self.session_id = self.session_id or event.session_id
        self.request_id, self.usage = event.request_id, event.usage
        self.duration_ms, self.duration_api_ms = event.duration_ms, event.duration_api_ms
