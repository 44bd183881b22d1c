"""A tool call, its start and its end joined by call_id; and the calls of a session.

The newest calls are objects, the older ones are serialised in a spill. A string longer than any that real
agents write is cut, so that a few large lines cannot fill the memory. The recording has all of it.
"""

from __future__ import annotations

import marshal
from array import array
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from itertools import islice
from operator import attrgetter
from typing import NamedTuple, overload
from weakref import ref

from agentwatch.session.events import Outcome, ToolEnded, ToolKind, ToolProgress, ToolStarted
from agentwatch.session.storage import CallIds, Numbers, Spill

_MOST_CHARACTERS = 4096
"""The length of the longest path on Linux. A target is shown with at most 200 columns."""
MOST_ID_CHARACTERS = 512
_MOST_MEMBERS = 256


def bounded(text: str | None, most: int = _MOST_CHARACTERS) -> str | None:
    if text is None or len(text) <= most:
        return text
    return f"{text[: most - 1]}…"


def bounded_id(text: str) -> str:
    """Return an id of at most 512 characters. The end of a longer one is replaced by a digest of all of it:
    two ids that differ only in their ends stay different."""
    if len(text) <= MOST_ID_CHARACTERS:
        return text
    from hashlib import blake2b  # takes 2 ms to import

    digest = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=32).hexdigest()
    return f"{text[: MOST_ID_CHARACTERS - len(digest) - 1]}…{digest}"


def bounded_members(members: Mapping[str, object] | None) -> Mapping[str, object] | None:
    """Return at most 256 members of an object without inner objects, with keys and texts cut."""
    if members is None:
        return None
    return {
        bounded(key) or "": bounded(value) if isinstance(value, str) else value
        for key, value in islice(members.items(), _MOST_MEMBERS)
    }


_MOST_SHOWN = 60


class Place(NamedTuple):
    """Where a line is in the recording, and when it arrived.

    Example:
        >>> import agentwatch
        >>> call = agentwatch.load("recordings/plain.ndjson").calls[0]
        >>> with open("recordings/plain.ndjson", "rb") as file:
        ...     _ = file.seek(call.ended.offset)
        ...     line = file.read(call.ended.length)
        >>> line[:20]
        b'{"type":"tool_call",'
    """

    offset: int
    """Bytes from the beginning of the recording."""
    length: int
    """The length in bytes, without the end of the line."""
    seen_ms: int | None
    """The arrival time, in milliseconds since the epoch; None if unknown."""


class Pieces(NamedTuple):
    first_ms: int
    longest_gap_ms: int
    offsets: Sequence[int] = ()
    """The offset of each line after the first that has another time than the line before it."""
    times_ms: Sequence[int] = ()


CallKey = tuple[int, str | None, str]
"""The number of the run, the session_id and the call_id. The same call_id may occur in another session."""


def call_key(run: int, event: ToolStarted | ToolProgress | ToolEnded) -> CallKey:
    session_id, call_id = event.session_id, event.call_id
    if session_id and len(session_id) > MOST_ID_CHARACTERS:  # asked here, as each call asks three times
        session_id = bounded_id(session_id)
    return run, session_id, call_id if len(call_id) <= MOST_ID_CHARACTERS else bounded_id(call_id)


@dataclass(slots=True, weakref_slot=True, repr=False)
class Call:
    """The facts about one tool call; None means unknown.

    Example:
        >>> import agentwatch
        >>> call = agentwatch.load("recordings/plain.ndjson").calls[1]
        >>> call
        <Call #2 edit 'lantern/settings.py': succeeded, 0.2 s>
        >>> call.number, call.phrase, call.target, call.outcome, call.duration_ms
        (2, 'Edited file', 'lantern/settings.py', <Outcome.SUCCEEDED: 'succeeded'>, 179)
    """

    number: int
    """Counted from 1, in the order in which calls first appear in the recording."""
    run: int
    """The number of the run, counted from 1."""
    call_id: str
    """May contain a newline. Use it as a key, never as the id of a widget, and never print it raw."""
    tool: str
    phrase: str
    target: str | None = None
    path: str | None = None
    group: str | None = None
    limit_ms: int | None = None
    error: str | None = None
    note: str | None = None
    exit_code: int | None = None
    is_new_file: bool = False
    lines_added: int | None = None
    lines_removed: int | None = None
    started_ms: int | None = None
    """Agent time."""
    ended_ms: int | None = None
    """Agent time."""
    measured_ms: int | None = None
    """The duration that the agent measured."""
    parent_call: str | None = None
    """The call_id of the call whose subagent made this one; None for the main agent."""
    parent: int | None = None
    """The number of that call; 0 if the recording does not contain it, None for the main agent."""
    more_paths: tuple[str, ...] = ()
    """The other files that the call acts on; at most 100."""
    output: str | None = None
    """The last 4,096 characters that an open call has printed, if the agent reports them."""
    has_result: bool = True
    """Whether the line that ended the call is about it. If not, the recording has no result of the call."""
    kind: ToolKind = ToolKind.OTHER
    outcome: Outcome = Outcome.RUNNING
    started: Place | None = None
    """The line that started the call; None if the recording does not contain it."""
    ended: Place | None = None
    """The line that ended the call; None if it has not arrived."""
    described: Place | None = None
    """The line with the call's arguments, if they came after the line that started it."""

    def __repr__(self) -> str:
        """Return the number, the tool, the target, the outcome and the duration, for a notebook."""
        from agentwatch.text.durations import duration_words  # only a notebook needs it

        shown = [f"<Call #{self.number} {self.tool[:_MOST_SHOWN]}"]
        if self.target:
            shown.append(f" {self.target[:_MOST_SHOWN]!r}{'…' * (len(self.target) > _MOST_SHOWN)}")
        shown.append(f": {self.outcome}")
        if self.error:
            shown.append(f" ({self.error[:_MOST_SHOWN]!r})")
        if self.duration_ms is not None:
            shown.append(f", {duration_words(self.duration_ms)}")
        return "".join([*shown, ">"])

    @property
    def command(self) -> str | None:
        """The whole command of a shell call, at most 65,536 characters; None for another tool."""
        return self.target if self.kind is ToolKind.EXECUTE else None

    @property
    def arguments_place(self) -> Place | None:
        """The line with the call's arguments; None if only the line that ended the call contains them."""
        return self.described or self.started

    @property
    def result_place(self) -> Place | None:
        """The line with the call's result; None if it has not arrived, or the recording has none."""
        return self.ended if self.has_result else None

    @property
    def duration_ms(self) -> int | None:
        """The duration by the agent's clock; None unless the agent gave both times and they are in order."""
        if self.measured_ms is not None:
            return self.measured_ms
        return _between(self.started_ms, self.ended_ms)

    @property
    def seen_duration_ms(self) -> int | None:
        """The duration by the arrival times; None if a line is missing or both arrived in one read."""
        if self.started is None or self.ended is None:
            return None
        return _between(self.started.seen_ms, self.ended.seen_ms) or None


def _between(start_ms: int | None, end_ms: int | None) -> int | None:
    if start_ms is None or end_ms is None or end_ms < start_ms:
        return None
    return end_ms - start_ms


_MOST_SETTLED = 8192
"""The number of the newest settled calls that stay unpacked: 750 bytes each, 6 MB in all.

With 256, the summary of 100 MB (6,924 calls) takes 5 % more CPU. With 16,384, it takes the same. A screen
shows few calls at a time and keeps `FEW_SETTLED`.
"""
FEW_SETTLED = 1024
_MOST_TEXTS = 8 << 20
"""The length of all texts of the calls that stay unpacked. Real ones have 100 characters each, a hostile one
has thousands."""
_MOST_RECENT = 1024
"""The number of calls last unpacked that stay unpacked: code that visits all calls reads each six times."""
_LEAST_HELD = 1024
_MOST_LATE = 1000
_LENGTH_BITS = 24
"""A packed call has at most 16 MiB: each of its texts has at most 4,096 characters."""
_VERSION = 2
"""The marshal format without object references. It is read in half the time."""
_PLAIN = attrgetter(*[field.name for field in fields(Call)][:-5])
_KINDS = {kind.value: kind for kind in ToolKind}
_OUTCOMES = {outcome.value: outcome for outcome in Outcome}


class LateChange(NamedTuple):
    offset: int
    call: Call
    """The call in its state before that line."""


class Calls(Sequence[Call]):
    """The calls, in the order in which they first appeared. A settled call takes 750 bytes of memory
    unpacked and 16 bytes packed. While code outside holds a call, every access returns that same object."""

    def __init__(self) -> None:
        self.most_settled = _MOST_SETTLED
        self._spill = Spill()
        self._places = Numbers("Q", self._spill)
        """The place and length of each packed call; 0 for the others."""
        self._unpacked: dict[int, Call] = {}
        """The calls that are not settled, and the newest that are, by number."""
        self._settled: deque[tuple[int, int]] = deque()
        self._settled_characters = 0
        self._held: dict[int, ref[Call]] = {}
        self._recent: deque[Call] = deque(maxlen=_MOST_RECENT)
        self._most_held = _LEAST_HELD
        self.ids = CallIds()
        self.late: list[LateChange] = []
        """The calls that a line changed after their end: it started them, or corrected their outcome."""
        self.corrected: dict[int, Call] = {}
        """The calls whose outcome was corrected, as they were before, by number."""

    def __len__(self) -> int:
        return len(self._places)

    @overload
    def __getitem__(self, index: int) -> Call: ...
    @overload
    def __getitem__(self, index: slice) -> list[Call]: ...
    def __getitem__(self, index: int | slice) -> Call | list[Call]:
        if isinstance(index, slice):
            unpacked = self._unpacked
            return [unpacked.get(at + 1) or self._at(at) for at in range(len(self))[index]]
        return self._unpacked.get(index + 1) or self._at(range(len(self))[index])

    def find(self, run: int, session_id: str | None, call_id: str) -> Call | None:
        numbers = self.ids.numbers(run, session_id, call_id)
        if not numbers:
            return None
        for number in numbers:
            call = self._at(number - 1)
            if call.call_id == call_id and call.run == run:
                return call
        return None

    def add(self, call: Call, session_id: str | None = None) -> None:
        self.ids.add(call.run, session_id, call.call_id, call.number)
        self._places.append(0)
        self._unpacked[call.number] = call

    def settle(self, call: Call) -> None:
        """Allow a call to be packed: no further event is expected to change it."""
        self._unpacked[call.number] = call
        characters = (
            len(call.target or "")
            + len(call.path or "")
            + len(call.error or "")
            + len(call.note or "")
            + len(call.tool)
        )
        if call.more_paths:
            characters += sum(map(len, call.more_paths))
        self._settled.append((call.number, characters))
        self._settled_characters += characters
        while len(self._settled) > self.most_settled or self._settled_characters > _MOST_TEXTS:
            number, characters = self._settled.popleft()
            self._settled_characters -= characters
            self._pack(number)

    @property
    def differing(self) -> Iterable[int]:
        """The numbers of the calls whose state differs from that in the newest session: none."""
        return ()

    def changes_late(self, call: Call, offset: int, *, is_correction: bool = False) -> None:
        """Keep the state of a settled call that a line is about to change. `is_correction` says whether the
        line gives the call another outcome."""
        if len(self.late) < _MOST_LATE:
            self.late.append(LateChange(offset, replace(call)))
            if is_correction:
                self.corrected.setdefault(call.number, self.late[-1].call)

    def as_ended(self, call: Call) -> Call:
        """Return a call with the outcome of the line that ended it, which a later line may have corrected.
        What is printed when a call ends must not depend on how much of the recording was read at once."""
        return self.corrected.get(call.number, call) if self.corrected else call

    def changed(self, call: Call) -> None:
        if call.number not in self._unpacked:
            self.settle(call)

    def _at(self, index: int) -> Call:
        number = index + 1
        call = self._unpacked.get(number)
        if call is None and (held := self._held.get(number)) is not None:
            call = held()
        if call is None:
            place = self._places[index]
            call = _unpacked(self._spill.get(place >> _LENGTH_BITS, place & (1 << _LENGTH_BITS) - 1))
            self._hold(number, ref(call))
            self._recent.append(call)
        return call

    def _hold(self, number: int, held: ref[Call]) -> None:
        self._held[number] = held
        if len(self._held) > self._most_held:
            self._held = {number: held for number, held in self._held.items() if held() is not None}
            self._most_held = max(2 * len(self._held), _LEAST_HELD)

    def _pack(self, number: int) -> None:
        call = self._unpacked.pop(number, None)
        if call is None:
            return
        packed, held = _packed(call), ref(call)
        self._places[number - 1] = self._spill.add(packed) << _LENGTH_BITS | len(packed)
        del call
        if held() is not None:
            self._hold(number, held)


class CallOrder(Sequence[Call]):
    def __init__(self, calls: Sequence[Call], indices: Iterable[int] = ()) -> None:
        self._calls = calls
        self._indices = array("I", indices)

    def __len__(self) -> int:
        return len(self._indices)

    @overload
    def __getitem__(self, index: int) -> Call: ...
    @overload
    def __getitem__(self, index: slice) -> list[Call]: ...
    def __getitem__(self, index: int | slice) -> Call | list[Call]:
        if isinstance(index, slice):
            return [self._calls[at] for at in self._indices[index]]
        return self._calls[self._indices[index]]


class EndedCalls(Sequence[Call]):
    """The calls in the order in which they ended, as numbers: the newest in memory, the rest in a spill."""

    def __init__(self, calls: Sequence[Call], indices: Numbers | None = None) -> None:
        self._calls = calls
        self._indices = Numbers("I", Spill()) if indices is None else indices

    def __len__(self) -> int:
        return len(self._indices)

    @overload
    def __getitem__(self, index: int) -> Call: ...
    @overload
    def __getitem__(self, index: slice) -> list[Call]: ...
    def __getitem__(self, index: int | slice) -> Call | list[Call]:
        if isinstance(index, slice):
            start, end, step = index.indices(len(self))
            calls = self._calls
            return [calls[number] for number in self._indices.part(start, end)[::step]]
        return self._calls[self._indices[range(len(self))[index]]]

    def prefix(self, calls: Sequence[Call], count: int) -> EndedCalls:
        return EndedCalls(calls, self._indices.prefix(count))

    def indices(self, start: int, end: int) -> list[int]:
        """Return the indices, among all calls, of the entries from `start` up to `end`."""
        return self._indices.part(start, min(end, len(self))).tolist()

    def append(self, call: Call) -> None:
        self._indices.append(call.number - 1)


def _packed(call: Call) -> bytes:
    places = [place and tuple(place) for place in (call.started, call.ended, call.described)]
    return marshal.dumps((*_PLAIN(call), call.kind.value, call.outcome.value, *places), _VERSION)


def _unpacked(data: bytes) -> Call:
    *plain, kind, outcome, started, ended, described = marshal.loads(data)  # noqa: S302 - written by _packed
    places = started and Place(*started), ended and Place(*ended), described and Place(*described)
    return Call(*(*plain, _KINDS[kind], _OUTCOMES[outcome], *places))
