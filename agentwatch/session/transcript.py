"""The transcript: the prompts, texts, calls, notices and results of a session, in order."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import overload

from agentwatch.events import Channel
from agentwatch.session.bounds import bounded
from agentwatch.session.call import Call
from agentwatch.session.call_store import Calls
from agentwatch.session.growing_text import GrowingText
from agentwatch.session.runs import Run
from agentwatch.session.spill import Spill


class Kind(StrEnum):
    """The kind of a transcript entry."""

    PROMPT = "prompt"
    ANSWER = "answer"
    REASONING = "reasoning"
    CALL = "call"
    NOTICE = "notice"
    RESULT = "result"


class Entry:
    """A transcript entry: a text that may still grow, or a reference to a call or to the result of a run."""

    __slots__ = ("_about", "_calls", "content", "ended_ms", "is_open", "kind", "started_ms")

    def __init__(
        self,
        kind: Kind,
        content: GrowingText,
        calls: Calls,
        about: Run | int | None = None,
        at_ms: int | None = None,
    ) -> None:
        """Create an entry with a text or with a subject.

        Args:
            kind: The kind of the entry.
            content: Its text; empty for an entry with a subject.
            calls: The calls of the session.
            about: The subject: the run of a result, or the number of a call. None for a text.
            at_ms: When the entry began, in agent time.
        """
        self.kind = kind
        self._calls = calls
        self._about = about
        self.is_open = kind in (Kind.ANSWER, Kind.REASONING)
        """Whether more text may be appended."""
        self.started_ms = self.ended_ms = at_ms
        self.content = content
        """The text. Use `str` or `Entry.text` to get it as a string."""
        if not self.is_open:
            content.complete()

    @property
    def run(self) -> Run | None:
        """The run of a result; None for other entries."""
        return self._about if isinstance(self._about, Run) else None

    @property
    def call(self) -> Call | None:
        """The call of a call entry; None for other entries."""
        return self._calls[self._about - 1] if isinstance(self._about, int) else None

    @property
    def text(self) -> str:
        """All of the text so far, as a string."""
        return str(self.content)

    def append(self, text: str, at_ms: int | None) -> None:
        """Append text that the agent wrote at `at_ms`."""
        self.content.add(text)
        self.ended_ms = at_ms if at_ms is not None else self.ended_ms

    def close(self) -> None:
        """Mark the text as complete."""
        self.is_open = False
        self.content.complete()


_MOST_NOTED = 1000
_MOST_MALFORMED = 10_000
_NOTHING = GrowingText(Spill())
_NOTHING.complete()
_KINDS = {Channel.ANSWER: Kind.ANSWER, Channel.REASONING: Kind.REASONING}


class Transcript(Sequence[Entry]):
    """The entries in order. Only the last may be a text that still grows.

    The entry of a call is made when it is accessed: its number takes 36 bytes, an entry takes 130.
    """

    def __init__(self, calls: Calls) -> None:
        """Create an empty transcript. Its call entries refer to `calls`."""
        self._entries: list[Entry | int] = []
        """The entries, and for each call only its number."""
        self._of_calls = calls
        self.spill = Spill()
        """Where the texts are stored."""
        self._noted: set[str] = set()
        self._malformed = 0

    def __len__(self) -> int:
        return len(self._entries)

    @overload
    def __getitem__(self, index: int) -> Entry: ...
    @overload
    def __getitem__(self, index: slice) -> list[Entry]: ...
    def __getitem__(self, index: int | slice) -> Entry | list[Entry]:
        if isinstance(index, slice):
            return [self._entry(entry) for entry in self._entries[index]]
        return self._entry(self._entries[index])

    @property
    def last(self) -> Entry | None:
        """The last entry; None if the transcript is empty."""
        return self[-1] if self._entries else None

    def add(
        self,
        kind: Kind,
        text: str = "",
        *,
        about: Run | int | None = None,
        at_ms: int | None = None,
    ) -> Entry:
        """Append an entry and return it. An open text before it is closed.

        Args:
            kind: The kind of the entry.
            text: Its text so far.
            about: The run of a result, or the number of a call.
            at_ms: When the entry began, in agent time.
        """
        if self.last is not None and self.last.is_open:
            self.last.close()
        content = _NOTHING if about is not None else GrowingText(self.spill, text)
        entry = Entry(kind, content, self._of_calls, about, at_ms)
        self._entries.append(about if kind is Kind.CALL and isinstance(about, int) else entry)
        return entry

    def forget(self) -> None:
        """Drop all entries except the last."""
        del self._entries[:-1]
        self.spill = Spill()

    def note(self, message: str) -> None:
        """Append a notice for the user."""
        self.add(Kind.NOTICE, message)

    def note_once(self, message: str) -> None:
        """Append a notice unless it was appended before. At most 1,000 different notices are appended."""
        message = bounded(message) or ""
        if message not in self._noted and len(self._noted) < _MOST_NOTED:
            self._noted.add(message)
            self.note(message)

    def note_malformed(self, message: str) -> None:
        """Append a notice of a malformed line. After 10,000 of them, a last notice says that no more follow.

        A notice takes hundreds of bytes, and a malformed line may have only two.
        """
        if self._malformed <= _MOST_MALFORMED:
            is_last = self._malformed == _MOST_MALFORMED
            self.note("more lines that are not events are only counted" if is_last else message)
            self._malformed += 1

    def add_text(self, channel: Channel, text: str, at_ms: int | None) -> Entry | None:
        """Append text to the open entry of a channel, or begin an entry.

        Returns:
            The entry; None if none is open and the text is empty.
        """
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

    def _entry(self, entry: Entry | int) -> Entry:
        return Entry(Kind.CALL, _NOTHING, self._of_calls, entry) if isinstance(entry, int) else entry

    def _open(self, channel: Channel) -> Entry | None:
        last = self.last
        return last if last is not None and last.is_open and last.kind is _KINDS[channel] else None
