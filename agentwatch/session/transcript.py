"""The transcript: what was said and done, in order."""

from __future__ import annotations

from enum import StrEnum

from agentwatch.session.calls import Call
from agentwatch.session.runs import Run


class Kind(StrEnum):
    """What an entry of the transcript is."""

    PROMPT = "prompt"
    ANSWER = "answer"
    REASONING = "reasoning"
    CALL = "call"
    NOTICE = "notice"
    RESULT = "result"


class Entry:
    """One entry: a stretch of text that may still grow, or the place of a call."""

    __slots__ = ("_parts", "call", "ended_ms", "is_open", "kind", "run", "started_ms")

    def __init__(
        self,
        kind: Kind,
        text: str = "",
        *,
        call: Call | None = None,
        run: Run | None = None,
        at_ms: int | None = None,
    ) -> None:
        self.kind = kind
        self.run = run
        """The run whose result this is."""
        self.call = call
        """The call whose place this is."""
        self.is_open = kind in (Kind.ANSWER, Kind.REASONING)
        """Whether more text may come."""
        self.started_ms = self.ended_ms = at_ms
        self._parts = [text] if text else []

    @property
    def text(self) -> str:
        """All of its text so far."""
        if len(self._parts) > 1:
            self._parts[:] = ["".join(self._parts)]
        return self._parts[0] if self._parts else ""

    def append(self, text: str, at_ms: int | None) -> None:
        """Add text to its end."""
        self._parts.append(text)
        self.ended_ms = at_ms if at_ms is not None else self.ended_ms

    def close(self) -> None:
        """Take no more text; the parts become one string, which frees 60 bytes a delta."""
        self.is_open = False
        self._parts[:] = [self.text]
