"""An entry of the transcript: a prompt, a text, a call, a notice or a result."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

from agentwatch.session.call import Call
from agentwatch.session.storage.growing_text import Content
from agentwatch.session.turns import TurnResult


class Kind(StrEnum):
    """The kind of a transcript entry.

    Example:
        >>> import agentwatch
        >>> [entry.kind.value for entry in agentwatch.load("recordings/plain.ndjson").transcript]
        ['prompt', 'reasoning', 'answer', 'call', 'answer', 'call', 'answer', 'result']
    """

    PROMPT = "prompt"
    ANSWER = "answer"
    REASONING = "reasoning"
    CALL = "call"
    NOTICE = "notice"
    RESULT = "result"


class Entry:
    """A transcript entry: a text that may still grow, or a reference to a call or to the end of a turn.

    Example:
        >>> import agentwatch
        >>> entry = agentwatch.load("recordings/plain.ndjson").transcript[0]
        >>> entry.kind, entry.text
        (<Kind.PROMPT: 'prompt'>, 'Raise the request timeout in settings.py to 45 seconds.')
    """

    __slots__ = (
        "_about",
        "_calls",
        "content",
        "ended_ms",
        "is_open",
        "kind",
        "number",
        "parent",
        "started_ms",
    )

    def __init__(
        self,
        number: int,
        kind: Kind,
        content: Content,
        calls: Sequence[Call],
        about: TurnResult | int | None = None,
        at_ms: int | None = None,
        parent: int | None = None,
    ) -> None:
        """Create an entry with a text or with a subject.

        Args:
            number: Its index in the transcript.
            kind: The kind of the entry.
            content: Its text; empty for an entry with a subject.
            calls: The calls of the session.
            about: The subject: the end of a turn, or the number of a call. None for a text.
            at_ms: When the entry began, in agent time.
            parent: The number of the call whose subagent wrote the text; None for the main agent.
        """
        self.number = number
        """Its index in the transcript. An ended entry may be another object each time it is accessed."""
        self.kind = kind
        self._calls = calls
        self._about = about
        self.is_open = kind is Kind.ANSWER or kind is Kind.REASONING
        """Whether more text may be appended."""
        self.started_ms = self.ended_ms = at_ms
        self.parent = parent
        """The number of the call whose subagent wrote the text or made the call. None for the main agent; 0
        if the recording does not contain that call."""
        self.content = content
        """The text. Use `str` or `Entry.text` to get it as a string."""

    @property
    def result(self) -> TurnResult | None:
        """The end of the turn that a result ends; None for other entries."""
        return self._about if isinstance(self._about, TurnResult) else None

    @property
    def call(self) -> Call | None:
        """The call of a call entry; None for other entries."""
        return self._calls[self._about - 1] if isinstance(self._about, int) else None

    @property
    def text(self) -> str:
        """All of the text so far, as a string."""
        return str(self.content)

    def among(self, calls: Sequence[Call]) -> Entry:
        """Return the same entry of an earlier session, whose calls are these."""
        return Entry(self.number, self.kind, self.content, calls, self._about, self.started_ms, self.parent)

    def append(self, text: str, at_ms: int | None) -> None:
        """Append text that the agent wrote at `at_ms`."""
        self.content.add(text)
        self.ended_ms = at_ms if at_ms is not None else self.ended_ms

    def close(self) -> None:
        """Mark the text as complete."""
        self.is_open = False
        self.content.complete()
