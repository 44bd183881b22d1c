"""The transcript: the prompts, texts, calls, notices and results of a session, in order."""

from __future__ import annotations

import marshal
from collections import deque
from collections.abc import Iterator, Sequence
from enum import StrEnum
from typing import overload

from agentwatch.session.call import Call, Calls, Place, bounded
from agentwatch.session.events import Channel, Outcome, TurnEnded
from agentwatch.session.storage import PAGE, Content, GrowingText, Numbers, Spill, is_joined


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


_GROWING = frozenset((Kind.ANSWER, Kind.REASONING))
_RESULT = Kind.RESULT


class Answer(Sequence[Content]):
    """The texts of some entries of a transcript; each takes 4 bytes, and is unpacked when it is accessed."""

    def __init__(self, transcript: Sequence[Entry], spill: Spill | None = None) -> None:
        self._transcript = transcript
        self._numbers = Numbers("I", spill or Spill())
        self._last = -1
        """The number of the entry of the last text; -1 without texts."""

    def __len__(self) -> int:
        return len(self._numbers)

    @overload
    def __getitem__(self, index: int) -> Content: ...
    @overload
    def __getitem__(self, index: slice) -> list[Content]: ...
    def __getitem__(self, index: int | slice) -> Content | list[Content]:
        if isinstance(index, slice):
            start, end, step = index.indices(len(self))
            entries = self._transcript
            return [entries[number].content for number in self._numbers.part(start, end)[::step]]
        return self._transcript[self._numbers[range(len(self))[index]]].content

    def __iter__(self) -> Iterator[Content]:
        """Yield the texts, of which a thousand are unpacked at once: in half the time of one at a time."""
        for start in range(0, len(self), PAGE):
            yield from self[start : start + PAGE]

    def add(self, entry: Entry) -> None:
        if self._last != entry.number:
            self._last = entry.number
            self._numbers.append(entry.number)

    def retract(self, characters: int) -> None:
        while characters > 0 and len(self):
            characters -= len(self[-1])
            self._pop()

    def rewind(self, number: int) -> None:
        while self._last >= number:
            self._pop()

    def clear(self) -> None:
        self._numbers = Numbers("I", Spill())
        self._last = -1

    def _pop(self) -> None:
        self._numbers.pop()
        self._last = self._numbers[len(self) - 1] if len(self) else -1


class TurnResult:
    """The end of a turn: its outcome, and the text of its result line.

    Example:
        >>> import agentwatch
        >>> result = agentwatch.load("recordings/disagreement.ndjson").run.turn_result
        >>> result.outcome, result.matches_text
        (<Outcome.SUCCEEDED: 'succeeded'>, False)
    """

    __slots__ = (
        "_answer",
        "_compared",
        "_text",
        "duration_api_ms",
        "duration_ms",
        "is_bare",
        "is_last_text",
        "outcome",
        "place",
        "request_id",
    )

    def __init__(
        self,
        event: TurnEnded,
        place: Place,
        answer: Answer,
        spill: Spill,
        *,
        is_last_text: bool,
        is_bare: bool,
    ) -> None:
        """Keep the end of a turn at a line. `is_last_text`: the result repeats only the last text of its
        turn. `is_bare`: the recording has only the result, as in the `json` format of an agent."""
        self.outcome: Outcome = event.outcome
        self.place = place
        """Its line in the recording."""
        self.duration_ms: int | None = event.duration_ms
        self.duration_api_ms: int | None = event.duration_api_ms
        self.request_id: str | None = bounded(event.request_id)
        self.is_last_text = is_last_text
        self.is_bare = is_bare
        self._answer: Answer | None = answer
        """The text that is compared with the result; None once it was compared for the last time.

        The transcript refers to this object, and the answer to the transcript: without the answer, the file
        of a session is closed as soon as nothing refers to the session.
        """
        self._text = None if event.result is None else GrowingText(spill, event.result)
        if self._text is not None:
            self._text.complete()
        self._compared: tuple[tuple[int, int], bool] | None = None
        """The size of the answer at its last comparison with the result, and whether they were equal."""

    @property
    def text(self) -> str | None:
        """The text of the result line; None without a text in it."""
        return None if self._text is None else str(self._text)

    @property
    def length(self) -> int:
        return 0 if self._text is None else len(self._text)

    def part(self, start: int, end: int) -> str:
        return "" if self._text is None else self._text.part(start, end)

    @property
    def matches_text(self) -> bool | None:
        """Whether the streamed text equals the result. None without a result or without a stream, and if the
        result is an error message: it does not repeat the text."""
        is_empty = self.is_last_text and not self._text
        if self._text is None or is_empty or self.is_bare or self.outcome is not Outcome.SUCCEEDED:
            return None
        return self.is_streamed

    @property
    def is_streamed(self) -> bool:
        """Whether the streamed text equals the text of the result, which may be an error message."""
        self._compare()
        return self._compared is not None and self._compared[1]

    def settle(self) -> None:
        """Compare the result with the text for the last time, because the rest belongs to another turn."""
        self._compare()
        self._answer = None

    def forget_text(self) -> None:
        """Drop the text. If only a part of the answer was read, comparing the two would be wrong."""
        self._text = self._compared = None

    def _compare(self) -> None:
        """Compare the result with the text, unless this was done at its present size."""
        answer = self._answer
        if self._text is None or answer is None:
            return
        size = len(answer), len(answer[-1]) if answer else 0
        if self._compared is None or self._compared[0] != size:
            repeated = _last_texts(answer, len(self._text)) if self.is_last_text else answer
            self._compared = size, is_joined(self._text, repeated)


def _last_texts(answer: Answer, least: int) -> Sequence[Content]:
    start, length = len(answer), 0
    while start and length < least:
        start -= 1
        length += len(answer[start])
    return answer[start:]


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
        """Keep a text, or a subject: the end of a turn, or the number of a call. `parent` is the call whose
        subagent wrote it."""
        self.number = number
        """Its index in the transcript. An ended entry may be another object each time it is accessed."""
        self.kind = kind
        """The kind of the entry."""
        self._calls = calls
        self._about = about
        self.is_open: bool = kind in _GROWING
        """Whether more text may be appended."""
        self.started_ms = self.ended_ms = at_ms
        """The agent's times of the first and of the last piece of a text; None if unknown."""
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
    def call_number(self) -> int | None:
        """The number of the call of a call entry; None for other entries."""
        return self._about if isinstance(self._about, int) else None

    @property
    def call(self) -> Call | None:
        """The call of a call entry; None for other entries."""
        number = self.call_number
        return None if number is None else self._calls[number - 1]

    @property
    def text(self) -> str:
        """All of the text so far, as a string."""
        return str(self.content)

    def among(self, calls: Sequence[Call]) -> Entry:
        """Return the same entry of an earlier session, whose calls are these."""
        return Entry(self.number, self.kind, self.content, calls, self._about, self.started_ms, self.parent)

    def append(self, text: str, at_ms: int | None) -> None:
        self.content.add(text)
        self.ended_ms = at_ms if at_ms is not None else self.ended_ms

    def close(self) -> None:
        self.is_open = False
        self.content.complete()


_NOTHING = GrowingText(Spill())
_NOTHING.complete()
_KINDS = {Channel.ANSWER: Kind.ANSWER, Channel.REASONING: Kind.REASONING}


_MOST_ENDED = 8192
"""So many ended texts stay unpacked: up to 800 bytes each, 4 MB in all. With 4,096, the summary of 100 MB
(5,500 texts) takes 2.5 % more CPU. A screen shows few texts at a time and keeps `FEW_ENDED`."""
FEW_ENDED = 512
_MOST_RECENT = 64
_LENGTH_BITS = 20
_VERSION = 2
"""The marshal format without object references. It is read in half the time."""
_TEXTS = (Kind.PROMPT, Kind.ANSWER, Kind.REASONING, Kind.NOTICE)


class Transcript(Sequence[Entry]):
    """The entries in order. Only the last may be a text that still grows. An entry takes 8 bytes: the number
    of a call, or the place of a packed text. The entry is made when it is accessed, which takes 5 µs for a
    text. Unpacked, a text takes 500 bytes."""

    def __init__(self, calls: Calls) -> None:
        self.most_ended = _MOST_ENDED
        self.spill = Spill()
        self._places = Numbers("Q", self.spill)
        """Twice the number of a call plus one; the place and the length of a packed text; for others 0."""
        self._unpacked: dict[int, Entry] = {}
        """The results, the newest texts, and the last entry unless it is a call, by number."""
        self._ended: deque[int] = deque()
        self._recent: dict[int, Entry] = {}
        self.parents: dict[int, int] = {}
        """The parents of the calls that subagents made, by the number of the call."""
        self._of_calls = calls
        self.last_text: Entry | None = None
        self.last_result: Entry | None = None
        """The newest result; its duration may still arrive."""
        self.offsets = Numbers("Q", self.spill)
        """The offset of the line with which each entry began."""
        self.line_offset = 0

    def __len__(self) -> int:
        return len(self._places)

    @overload
    def __getitem__(self, index: int) -> Entry: ...
    @overload
    def __getitem__(self, index: slice) -> list[Entry]: ...
    def __getitem__(self, index: int | slice) -> Entry | list[Entry]:
        if isinstance(index, slice):
            return [self._at(number) for number in range(len(self))[index]]
        return self._unpacked.get(index) or self._at(range(len(self))[index])

    @property
    def open_kind(self) -> Kind | None:
        return self.last_text.kind if self.last_text is not None and self.last_text.is_open else None

    def add_call(self, number: int, parent: int | None = None) -> None:
        if parent is not None:
            self.parents[number] = parent
        self._end_last()
        self.last_text = None
        self._append(number << 1 | 1)

    def add(
        self,
        kind: Kind,
        text: str = "",
        *,
        about: TurnResult | None = None,
        at_ms: int | None = None,
        parent: int | None = None,
    ) -> Entry:
        self._end_last()
        content = _NOTHING if about is not None else GrowingText(self.spill, text)
        entry = Entry(len(self), kind, content, self._of_calls, about, at_ms, parent)
        self.last_text = entry
        if about is not None:
            self.last_result = entry
        if not entry.is_open:
            content.complete()
        self._unpacked[entry.number] = entry
        self._append(0)
        return entry

    def forget(self) -> None:
        place = self._places[len(self) - 1] if len(self) else 0
        self.spill = Spill()
        self._places, self.offsets = Numbers("Q", self.spill), Numbers("Q", self.spill)
        self._unpacked.clear()
        self._recent.clear()
        self._ended.clear()
        if place:
            self._places.append(place)
        elif self.last_text is not None:
            self.last_text.number = 0
            self._places.append(0)
            self._unpacked[0] = self.last_text

    def note(self, message: str) -> None:
        self.add(Kind.NOTICE, message)

    def add_text(
        self, channel: Channel, text: str, at_ms: int | None, parent: int | None = None
    ) -> Entry | None:
        """Return None if no text of the channel is open and the text is empty."""
        entry = self._open(channel, parent)
        if entry is None and text:
            entry = self.add(_KINDS[channel], at_ms=at_ms, parent=parent)
        if entry is not None:
            entry.append(text, at_ms)
        return entry

    def end_text(self, channel: Channel, at_ms: int | None, parent: int | None = None) -> None:
        entry = self._open(channel, parent)
        if entry is not None:
            entry.ended_ms = entry.ended_ms if at_ms is None else at_ms
            entry.close()

    def _append(self, place: int) -> None:
        places, offsets = self._places.newest, self.offsets.newest
        places.append(place)
        offsets.append(self.line_offset)
        if len(places) >= 2 * PAGE:
            self._places.store()
            self.offsets.store()

    def _at(self, number: int) -> Entry:
        place = self._places[number]
        if place & 1:
            call = place >> 1
            return Entry(number, Kind.CALL, _NOTHING, self._of_calls, call, parent=self.parents.get(call))
        return self._text_at(number, place >> 1) if place else self._unpacked[number]

    def _text_at(self, number: int, place: int) -> Entry:
        entry = self._recent.get(number)
        if entry is None:
            data = self.spill.get(place >> _LENGTH_BITS, place & (1 << _LENGTH_BITS) - 1)
            kind, parent, started_ms, ended_ms, *values = marshal.loads(data)  # noqa: S302 - written by _pack
            content = GrowingText.unpacked(self.spill, *values)
            entry = Entry(number, _TEXTS[kind], content, self._of_calls, None, started_ms, parent)
            entry.ended_ms, entry.is_open = ended_ms, False
            if len(self._recent) >= _MOST_RECENT:
                self._recent.clear()
            self._recent[number] = entry
        return entry

    def _end_last(self) -> None:
        """Close the last entry if it is a text; if too many ended ones are unpacked, pack the oldest."""
        last = self.last_text
        if last is None or last.kind is _RESULT:
            return
        if last.is_open:
            last.close()
        self._ended.append(last.number)
        if len(self._ended) > self.most_ended:
            self._pack(self._ended.popleft())

    def _pack(self, number: int) -> None:
        """Write an entry to the spill; one whose text is in an earlier spill or very long stays unpacked."""
        entry = self._unpacked[number]
        assert isinstance(entry.content, GrowingText)
        values = entry.parent, entry.started_ms, entry.ended_ms
        data = marshal.dumps((_TEXTS.index(entry.kind), *values, *entry.content.packed()), _VERSION)
        if entry.content.spill is self.spill and len(data) < 1 << _LENGTH_BITS:
            self._places[number] = (self.spill.add(data) << _LENGTH_BITS | len(data)) << 1
            del self._unpacked[number]

    def _open(self, channel: Channel, parent: int | None) -> Entry | None:
        last = self.last_text
        is_open = last is not None and last.is_open and last.kind is _KINDS[channel]
        return last if is_open and last is not None and last.parent == parent else None
