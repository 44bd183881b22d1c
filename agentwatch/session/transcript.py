"""The transcript: what was said and done, in order."""

from __future__ import annotations

from enum import StrEnum

from agentwatch.events import Channel
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

    def note(self, message: str) -> None:
        """Add something the user may want to know."""
        self.add(Entry(Kind.NOTICE, message))

    def add_text(self, channel: Channel, text: str, at_ms: int | None) -> None:
        """Add text to the open entry of its channel, or begin one."""
        entry = self._open(channel)
        if entry is None and text:
            entry = Entry(_KINDS[channel], at_ms=at_ms)
            self.add(entry)
        if entry is not None:
            entry.append(text, at_ms)

    def end_text(self, channel: Channel, at_ms: int | None) -> None:
        """Close the open entry of a channel."""
        entry = self._open(channel)
        if entry is not None:
            entry.append("", at_ms)
            entry.close()

    def _open(self, channel: Channel) -> Entry | None:
        last = self.last
        return last if last is not None and last.is_open and last.kind is _KINDS[channel] else None
