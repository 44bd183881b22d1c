"""The calls of a session: the newest as objects, the older ones serialised in a spill."""

from __future__ import annotations

import marshal
from array import array
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import fields, replace
from operator import attrgetter
from typing import NamedTuple, overload
from weakref import ref

from agentwatch.session.call import Call, Place
from agentwatch.session.events import Outcome, ToolKind
from agentwatch.session.storage import CallIds, Numbers, Spill

_MOST_SETTLED = 8192
"""The number of the newest settled calls that stay unpacked: 750 bytes each, 6 MB in all.

With 256, the summary of 100 MB (6,924 calls) takes 5 % more CPU. With 16,384, it takes the same. A screen
shows few calls at a time and keeps `FEW_SETTLED`.
"""
FEW_SETTLED = 1024
_MOST_CHARACTERS = 8 << 20
"""The length of all texts of the calls that stay unpacked. Real ones have 100 characters each, a hostile one
has thousands."""
_MOST_RECENT = 1024
"""The number of calls last unpacked that stay unpacked: code that visits all calls reads each six times."""
_LEAST_HELD = 1024
"""Dead weak references are removed only when at least this many references are held."""
_MOST_LATE = 1000
"""The number of late lines whose effect can be taken back."""
_LENGTH_BITS = 24
"""A packed call has at most 16 MiB: each of its texts has at most 4,096 characters."""
_VERSION = 2
"""The marshal format without object references. It is read in half the time."""
_PLAIN = attrgetter(*[field.name for field in fields(Call)][:-5])
_KINDS = {kind.value: kind for kind in ToolKind}
_OUTCOMES = {outcome.value: outcome for outcome in Outcome}


class LateChange(NamedTuple):
    """A call that had ended, and the offset of the line that started it or corrected its outcome."""

    offset: int
    call: Call
    """The call in its state before that line."""


class Calls(Sequence[Call]):
    """The calls, in the order in which they first appeared. A settled call takes 750 bytes of memory unpacked
    and 16 bytes packed. Unpacking it takes 2 µs. While code outside holds a call, every access returns that
    same object."""

    def __init__(self) -> None:
        self.most_settled = _MOST_SETTLED
        """The number of the newest settled calls that stay unpacked."""
        self._spill = Spill()
        self._places = Numbers("Q", self._spill)
        """The place and length of each packed call; 0 for the others."""
        self._unpacked: dict[int, Call] = {}
        """By number: the calls that are not settled, and the newest that are."""
        self._settled: deque[tuple[int, int]] = deque()
        """The number of each unpacked settled call, and the length of its texts."""
        self._settled_characters = 0
        self._held: dict[int, ref[Call]] = {}
        """By number: packed calls that code outside may still hold."""
        self._recent: deque[Call] = deque(maxlen=_MOST_RECENT)
        self._most_held = _LEAST_HELD
        self.ids = CallIds()
        """The calls of all runs, by their ids."""
        self.late: list[LateChange] = []
        """The calls that a line changed after their end: it started them, or corrected their outcome."""
        self.corrected: dict[int, Call] = {}
        """By number: the calls whose outcome was corrected, as they were before."""

    def __len__(self) -> int:
        return len(self._places)

    @overload
    def __getitem__(self, index: int) -> Call: ...
    @overload
    def __getitem__(self, index: slice) -> list[Call]: ...
    def __getitem__(self, index: int | slice) -> Call | list[Call]:
        if isinstance(index, slice):
            return [self._at(at) for at in range(len(self))[index]]
        return self._unpacked.get(index + 1) or self._at(range(len(self))[index])

    def find(self, run: int, session_id: str | None, call_id: str) -> Call | None:
        """Return the call of a run with this id; None if the run has no such call yet."""
        numbers = self.ids.numbers(run, session_id, call_id)
        if not numbers:
            return None
        for number in numbers:
            call = self._at(number - 1)
            if call.call_id == call_id and call.run == run:
                return call
        return None

    def add(self, call: Call, session_id: str | None = None) -> None:
        """Append a call. Its number must be the present length plus one."""
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
        while len(self._settled) > self.most_settled or self._settled_characters > _MOST_CHARACTERS:
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
        """Store the new state of a call that was changed, even if it was already packed."""
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
    """A selection of the calls in its own order. Each call is unpacked when it is accessed."""

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
        """Return the first `count` calls as those of an earlier session."""
        return EndedCalls(calls, self._indices.prefix(count))

    def indices(self, start: int, end: int) -> list[int]:
        """Return the indices, among all calls, of the entries from `start` up to `end`."""
        return self._indices.part(start, min(end, len(self))).tolist()

    def append(self, call: Call) -> None:
        """Append a call."""
        self._indices.append(call.number - 1)


def _packed(call: Call) -> bytes:
    places = [place and tuple(place) for place in (call.started, call.ended, call.described)]
    return marshal.dumps((*_PLAIN(call), call.kind.value, call.outcome.value, *places), _VERSION)


def _unpacked(data: bytes) -> Call:
    *plain, kind, outcome, started, ended, described = marshal.loads(data)  # noqa: S302 - written by _packed
    places = started and Place(*started), ended and Place(*ended), described and Place(*described)
    return Call(*(*plain, _KINDS[kind], _OUTCOMES[outcome], *places))
