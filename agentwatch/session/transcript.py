"""The transcript: what was said and done, in order."""

from __future__ import annotations

from enum import StrEnum

from agentwatch.events import Channel
from agentwatch.session.call import Call
from agentwatch.session.call_store import Calls
from agentwatch.session.growing_text import GrowingText
from agentwatch.session.runs import Run
from agentwatch.session.spill import Spill


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

    __slots__ = ("_about", "_calls", "ended_ms", "is_open", "kind", "said", "started_ms")

    def __init__(
        self,
        kind: Kind,
        said: GrowingText,
        calls: Calls,
        about: Run | int | None = None,
        at_ms: int | None = None,
    ) -> None:
        """Hold a text, or else what the entry is about: the run whose result it is, or a call's number."""
        self.kind = kind
        self._calls = calls
        self._about = about
        self.is_open = kind in (Kind.ANSWER, Kind.REASONING)
        """Whether more text may come."""
        self.started_ms = self.ended_ms = at_ms
        self.said = said
        """Its text, to be had as a string."""
        if not self.is_open:
            said.complete()

    @property
    def run(self) -> Run | None:
        """The run whose result this is."""
        return self._about if isinstance(self._about, Run) else None

    @property
    def call(self) -> Call | None:
        """The call whose place this is."""
        return self._calls[self._about - 1] if isinstance(self._about, int) else None

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


_MOST_NOTED = 1000
_NOTHING = GrowingText(Spill())
_NOTHING.complete()
_KINDS = {Channel.ANSWER: Kind.ANSWER, Channel.REASONING: Kind.REASONING}


class Transcript(list[Entry]):
    """The entries, of which the last may be a text that still grows."""

    def __init__(self, calls: Calls) -> None:
        """Keep the places of calls, by their numbers."""
        super().__init__()
        self._of_calls = calls
        self.spill = Spill()
        """Where the texts lie."""
        self._noted: set[str] = set()

    @property
    def last(self) -> Entry | None:
        """The last entry."""
        return self[-1] if self else None

    def add(
        self,
        kind: Kind,
        text: str = "",
        *,
        about: Run | int | None = None,
        at_ms: int | None = None,
    ) -> Entry:
        """Add an entry, and return it; a text before it grows no more.

        Args:
            kind: What it is.
            text: Its text, or the beginning of it.
            about: Of a result its run, of a call its number.
            at_ms: When it began, in agent time.
        """
        if self.last is not None and self.last.is_open:
            self.last.close()
        said = _NOTHING if about is not None else GrowingText(self.spill, text)
        entry = Entry(kind, said, self._of_calls, about, at_ms)
        self.append(entry)
        return entry

    def forget(self) -> None:
        """Let go of every entry but the last."""
        del self[:-1]
        self.spill = Spill()

    def note(self, message: str) -> None:
        """Add something the user may want to know."""
        self.add(Kind.NOTICE, message)

    def note_once(self, message: str) -> None:
        """Add something that is said again and again the first time; of 1,000 different ones at most."""
        if message not in self._noted and len(self._noted) < _MOST_NOTED:
            self._noted.add(message)
            self.note(message)

    def add_text(self, channel: Channel, text: str, at_ms: int | None) -> Entry | None:
        """Add text to the open entry of its channel, or begin one; return the entry, if there is one."""
        entry = self._open(channel)
        if entry is None and text:
            entry = self.add(_KINDS[channel], at_ms=at_ms)
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
