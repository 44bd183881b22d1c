"""Checkpoints: what a feed had read and applied at some lines of its recording, to continue from there."""

import pickle
import sys
from array import array
from bisect import bisect_right
from collections.abc import Callable, Iterable
from dataclasses import replace
from io import BytesIO
from typing import Any, NamedTuple

from agentwatch.agents import Agent, Decoder
from agentwatch.agents.tool import Tool
from agentwatch.session.call import Call, Calls, LateChange
from agentwatch.session.rules import OpenQuestions
from agentwatch.session.session import Session
from agentwatch.session.storage import Content, Spill, TextPrefix
from agentwatch.session.transcript import Entry, Kind, Transcript, TurnResult


class EarlierCalls(Calls):
    """The first calls of a session. Those that later lines changed are kept in their earlier state, the
    others are those of the newest session, which has every call."""

    def __init__(self, newest: Calls) -> None:
        self._newest = newest
        self.corrected = newest.corrected
        self.late: list[LateChange] = []
        self._count = 0
        self._unpacked: dict[int, Call] = {}
        """The calls by number whose state differs, or may differ, from that in the newest session."""

    def restore(self, count: int, changed: Iterable[Call], offset: int) -> None:
        """Show the calls of a checkpoint; one that was changed after its end as it was at `offset`."""
        self._count = count
        late = reversed([replace(each.call) for each in self._newest.late if each.offset >= offset])
        self._unpacked = {call.number: call for call in (*late, *changed) if call.number <= count}

    @property
    def differing(self) -> Iterable[int]:
        """The numbers of the calls whose state differs from that in the newest session, or may differ."""
        return self._unpacked.keys()

    def __len__(self) -> int:
        return self._count

    def find(self, run: int, session_id: str | None, call_id: str) -> Call | None:
        """Return None if the run has no such call yet."""
        for number in self._newest.ids.numbers(run, session_id, call_id):
            call = self._at(number - 1) if number <= self._count else None
            if call is not None and call.call_id == call_id and call.run == run:
                return call
        return None

    def add(self, call: Call, _session_id: str | None = None) -> None:
        """Append a call, which the newest session has too."""
        self._count += 1
        self._unpacked[call.number] = call

    def settle(self, call: Call) -> None:
        """Drop the view's own state of a call if that in the newest session is the same."""
        if self._newest[call.number - 1] == call:
            self._unpacked.pop(call.number, None)
        else:
            self._unpacked[call.number] = call

    def changed(self, call: Call) -> None:
        self._unpacked[call.number] = call

    def _at(self, index: int) -> Call:
        return self._unpacked.get(index + 1) or self._newest[index]


class TranscriptState(NamedTuple):
    entries: int
    """The number of its entries."""
    last: tuple[Kind, int, bool, int | None, int | None, int | None] | None
    """The last entry if it is a text: kind, characters, `is_open`, start and end in agent time, parent."""
    result: tuple[int, TurnResult, int | None] | None
    """The newest result: the number of its entry, the end of the turn, and when the entry began."""
    is_result_last: bool


def transcript_state(transcript: Transcript) -> TranscriptState:
    last, result = transcript.last_text, transcript.last_result
    values = None
    if last is not None and last is not result:
        values = (last.kind, len(last.content), last.is_open, last.started_ms, last.ended_ms, last.parent)
    about = None
    if result is not None and result.result is not None:
        about = (result.number, result.result, result.started_ms)
    is_last = result is not None and last is result
    return TranscriptState(len(transcript), values, about, is_last)


class EarlierTranscript(Transcript):
    """The first entries of a transcript, the last of which may be the beginning of a longer text. The newest
    transcript has every entry, so that nothing is stored here."""

    def __init__(self, newest: Transcript, calls: EarlierCalls) -> None:
        super().__init__(calls)
        self._newest = newest
        self._count = 0
        self.parents, self.offsets = newest.parents, newest.offsets

    def restore(self, state: TranscriptState) -> None:
        self._count = state.entries
        if state.last is not None:
            kind, length, is_open, started_ms, ended_ms, parent = state.last
            number = state.entries - 1
            content = TextPrefix(self._newest[number].content, length)
            entry = Entry(number, kind, content, self._of_calls, None, started_ms, parent)
            entry.is_open, entry.ended_ms = is_open, ended_ms
            self.last_text = self._unpacked[number] = entry
        if state.result is not None:
            number, result, at_ms = state.result
            entry = Entry(number, Kind.RESULT, self._newest[number].content, self._of_calls, result, at_ms)
            self.last_result = self._unpacked[number] = entry
            self.last_text = entry if state.is_result_last else self.last_text

    def __len__(self) -> int:
        return self._count

    def _append(self, _place: int) -> None:
        self._count += 1

    def _stored(self, text: str) -> Content:
        return TextPrefix(self._newest[self._count].content, len(text))

    def _at(self, number: int) -> Entry:
        entry = self._unpacked.get(number)
        if entry is not None:
            return entry
        newest = self._newest[number]
        if newest.kind is not Kind.CALL:
            return newest
        return newest.among(self._of_calls)

    def _end_last(self) -> None:
        last = self.last_text
        if last is None or last.kind is Kind.RESULT:
            return
        if last.is_open:
            last.close()
        self._unpacked.pop(last.number, None)


SessionState = dict[str, Any]
"""The attributes of a session. Lists that only grow are kept by their length."""


def session_state(session: Session) -> SessionState:
    """The values are those of the session, not copies."""
    lines, questions = session.lines, session.questions
    return {
        **vars(session),
        "calls": len(session.calls),
        "ended_calls": len(session.ended_calls),
        "notices": session.notices.counts(),
        "transcript": transcript_state(session.transcript),
        "runs": (len(session.runs) - 1, session.runs[-1]) if session.runs else None,
        "questions": (len(questions.history), questions.by_key, questions.count),
        "lines": (len(lines.odd), replace(lines, odd=[])),
    }


def earlier_session(newest: Session, restored: Callable[[Transcript], SessionState], offset: int) -> Session:
    """`restored` returns a copy of what the checkpoint kept, in which the answers of the runs are texts of
    the given transcript."""
    calls = EarlierCalls(newest.calls)
    transcript = EarlierTranscript(newest.transcript, calls)
    state = restored(transcript)
    session = Session.__new__(Session)
    vars(session).update(state)
    calls.restore(state["calls"], state["unended"].values(), offset)
    transcript.restore(state["transcript"])
    session.calls, session.transcript = calls, transcript
    session.notices = newest.notices.at(transcript, state["notices"])
    session.ended_calls = newest.ended_calls.prefix(calls, state["ended_calls"])
    session.runs = [] if state["runs"] is None else [*newest.runs[: state["runs"][0]], state["runs"][1]]
    asked, by_key, count = state["questions"]
    session.questions = OpenQuestions(newest.questions.history[:asked], by_key, count)
    odd, lines = state["lines"]
    session.lines = replace(lines, odd=newest.lines.odd[:odd])
    return session


def empty_session(newest: Session) -> Session:
    """The session before its first line; `newest` is that with all lines."""
    return earlier_session(newest, lambda _: session_state(Session()), 0)


_LEAST_BYTES = 3 << 17
"""Bytes of the recording between two checkpoints: less than the 512 KiB that are read at once, of which the
last line may be incomplete. So one is taken after each reading. Decoding it again takes 6 ms."""
_STATE_SHARE = 16
"""A checkpoint is at most this part of the bytes since the one before it, so that large ones are rare."""
NOT_PICKLED = (pickle.PicklingError, AttributeError, TypeError, ValueError, RecursionError)
"""What is raised for a function or class in a function, a lock, or a cycle of many objects."""
_NOT_RESTORED = (
    OSError,
    pickle.UnpicklingError,
    AttributeError,
    TypeError,
    ValueError,
    LookupError,
    ImportError,
)
"""What is raised for a class that cannot be created without arguments, and for a lost temporary file."""


class Checkpoint(NamedTuple):
    offset: int
    session: Session
    decoder: Decoder


class Checkpoints:
    """The checkpoints of one feed, serialised in an unlinked file: 3 to 40 KB each, which refer to the
    session's calls, texts and numbers. None are taken if a plugin's decoder has a state that cannot be
    serialised."""

    def __init__(self) -> None:
        self._spill = Spill()
        self._offsets = array("Q")
        self._places = array("Q")
        """The place and the length of each checkpoint, alternating."""
        self._shared: list[object] = []
        self._next = _LEAST_BYTES

    def take(self, offset: int, session: Session, decoder: Decoder) -> None:
        """Take a checkpoint if the last one is far enough back. `session`, always the same, contains `offset`
        bytes; `decoder` is after the last line before it."""
        if offset < self._next:
            return
        try:
            data = self._packed((session_state(session), decoder))
        except NOT_PICKLED:
            self._next = sys.maxsize
            return
        self._offsets.append(offset)
        self._places.extend((self._spill.add(data), len(data)))
        self._next = offset + max(_LEAST_BYTES, _STATE_SHARE * len(data))

    def before(self, offset: int, newest: Session) -> Checkpoint | None:
        """The last one at or before an offset, of which `newest` is the present session. None before the
        first one, and if one cannot be restored: an earlier one is not tried."""
        index = bisect_right(self._offsets, offset) - 1
        if index < 0:
            return None
        at = self._offsets[index]
        decoders: list[Decoder] = []

        def restored(transcript: Transcript) -> SessionState:
            data = self._spill.get(self._places[2 * index], self._places[2 * index + 1])
            state, decoder = _Unpickler(data, [transcript, *self._shared]).load()
            decoders.append(decoder)
            return state  # type: ignore[no-any-return]

        try:
            session = earlier_session(newest, restored, at)
        except _NOT_RESTORED:
            del self._offsets[:], self._places[:]
            self._next = sys.maxsize
            return None
        return Checkpoint(at, session, decoders[0])

    def offset_before(self, offset: int) -> int:
        """0 before the first one."""
        index = bisect_right(self._offsets, offset) - 1
        return 0 if index < 0 else self._offsets[index]

    def _packed(self, values: object) -> bytes:
        buffer = BytesIO()
        pickler = pickle.Pickler(buffer, pickle.HIGHEST_PROTOCOL)
        pickler.dispatch_table = {
            Transcript: lambda _: (_shared, (0,)),
            Spill: self._by_number,
            Agent: self._by_number,
            Tool: self._by_number,
        }
        pickler.dump(values)
        return buffer.getvalue()

    def _by_number(self, value: object) -> tuple[Any, ...]:
        """The reduced form of an object that all checkpoints share."""
        for number, each in enumerate(self._shared, 1):
            if each is value:
                return _shared, (number,)
        self._shared.append(value)
        return _shared, (len(self._shared),)


class _Unpickler(pickle.Unpickler):
    """A shared object is found by its number, the transcript is number 0."""

    def __init__(self, data: bytes, shared: list[object]) -> None:
        super().__init__(BytesIO(data))
        self._objects = shared

    def find_class(self, module: str, name: str) -> Any:
        """Return the access to the shared objects for `_shared`."""
        if module == __name__ and name == _shared.__name__:
            return self._objects.__getitem__
        return super().find_class(module, name)


def _shared(number: int) -> object:
    """Stand for a shared object in a checkpoint. Never called."""
    raise NotImplementedError(number)
