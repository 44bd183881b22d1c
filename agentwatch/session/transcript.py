"""The transcript: what was said and done, in order."""

from __future__ import annotations

from enum import StrEnum

from agentwatch.events import Channel
from agentwatch.session.calls import Call
from agentwatch.session.growing_text import GrowingText
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

    __slots__ = ("call", "ended_ms", "is_open", "kind", "run", "said", "started_ms")

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
        self.said = GrowingText(text)
        """Its text, to be had as a string."""
        if not self.is_open:
            self.said.complete()

    @property
    def text(self) -> str:
        """All of its text so far."""
        return str(self.said)

    def append(self, text: str, at_ms: int | None) -> None:
        """Add text to its end."""
        self.said.add(text)
        self.ended_ms = at_ms if at_ms is not None else self.ended_ms

    def close(self) -> None:
        """Take no more text."""
        self.is_open = False
        self.said.complete()


_KINDS = {Channel.ANSWER: Kind.ANSWER, Channel.REASONING: Kind.REASONING}


class Transcript(list[Entry]):
    """The entries, of which the last may be a text that still grows."""

    @property
    def last(self) -> Entry | None:
        """The last entry."""
        return self[-1] if self else None

    def add(self, entry: Entry) -> None:
        """Add an entry; a text before it grows no more."""
        if self.last is not None and self.last.is_open:
            self.last.close()
        self.append(entry)

    def forget(self) -> None:
        """Let go of every entry but the last."""
        del self[:-1]

    def note(self, message: str) -> None:
        """Add something the user may want to know."""
        self.add(Entry(Kind.NOTICE, message))

    def add_text(self, channel: Channel, text: str, at_ms: int | None) -> Entry | None:
        """Add text to the open entry of its channel, or begin one; return the entry, if there is one."""
        entry = self._open(channel)
        if entry is None and text:
            entry = Entry(_KINDS[channel], at_ms=at_ms)
            self.add(entry)
        if entry is not None:
            entry.append(text, at_ms)
        return entry

    def end_text(self, channel: Channel, at_ms: int | None) -> None:
        """Close the open entry of a channel."""
        entry = self._open(channel)
        if entry is not None:
            entry.append("", at_ms)
            entry.close()

    def _open(self, channel: Channel) -> Entry | None:
        last = self.last
        return last if last is not None and last.is_open and last.kind is _KINDS[channel] else None
