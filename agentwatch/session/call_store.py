"""All the calls of a session: the newest as they are, the others packed."""

from __future__ import annotations

import marshal
from array import array
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import fields
from operator import attrgetter
from typing import overload
from weakref import ref

from agentwatch.events import Outcome
from agentwatch.session.call import Call, Place
from agentwatch.session.spill import Spill

_MOST_SETTLED = 8192
"""Completed calls that stay unpacked, 750 bytes each: a session with fewer calls never packs one.

The summary of 100 MB with 6,924 calls takes 6 % less CPU than with 256. With 16,384 it takes no less, and
the screen holds 7 MB more after a million lines.
"""
_MOST_RECENT = 1024
_LEAST_HELD = 1024
_NO_NUMBERS: dict[str, int] = {}
_VERSION = 2
"""Of marshal's formats the one without references: it takes half the time to read."""
_PLAIN = attrgetter(*[field.name for field in fields(Call)][:-3])
_OUTCOMES = {outcome.value: outcome for outcome in Outcome}


class Calls(Sequence[Call]):
    """Calls in the order in which they first appeared.

    One that is settled takes a kilobyte as it is, and 16 bytes when it lies packed in a spill, from which
    it is read in 2 µs. However often it is asked for, whoever holds it holds the same object.
    """

    def __init__(self) -> None:
        self._spill = Spill()
        self._places = array("Q")
        self._lengths = array("I")
        self._unpacked: dict[int, Call] = {}
        """By their numbers, those that are not settled, and the newest that are."""
        self._settled: deque[int] = deque()
        self._held: dict[int, ref[Call]] = {}
        """By their numbers, those that are packed and that somebody may hold."""
        self._recent: deque[Call] = deque(maxlen=_MOST_RECENT)
        """Those that were unpacked last, held here: who looks through all of them asks for each six times."""
        self._most_held = _LEAST_HELD
        self._numbers: dict[str | None, dict[str, int]] = {}
        """Of the calls of the present run, by session_id and call_id."""

    def __len__(self) -> int:
        return len(self._places)

    @overload
    def __getitem__(self, index: int) -> Call: ...
    @overload
    def __getitem__(self, index: slice) -> list[Call]: ...
    def __getitem__(self, index: int | slice) -> Call | list[Call]:
        if isinstance(index, slice):
            return [self._at(at) for at in range(len(self))[index]]
        return self._at(range(len(self))[index])

    def begin_run(self) -> None:
        """Find the calls before this by no id any more: ids come again in another run."""
        self._numbers.clear()

    def find(self, session_id: str | None, call_id: str) -> Call | None:
        """Return the call of this run that bears an id; None when there is none yet."""
        number = self._numbers.get(session_id, _NO_NUMBERS).get(call_id)
        return None if number is None else self._at(number - 1)

    def add(self, call: Call, session_id: str | None = None) -> None:
        """Add a call, whose number is the next."""
        self._numbers.setdefault(session_id, {})[call.call_id] = call.number
        self._places.append(0)
        self._lengths.append(0)
        self._unpacked[call.number] = call

    def settle(self, call: Call) -> None:
        """Take note that nothing more is expected of a call."""
        self._unpacked[call.number] = call
        self._settled.append(call.number)
        while len(self._settled) > _MOST_SETTLED:
            self._pack(self._settled.popleft())

    def changed(self, call: Call) -> None:
        """Take note that a call has changed, though it may have been settled."""
        if call.number not in self._unpacked:
            self.settle(call)

    def _at(self, index: int) -> Call:
        number = index + 1
        call = self._unpacked.get(number)
        if call is None and (held := self._held.get(number)) is not None:
            call = held()
        if call is None:
            call = _unpacked(self._spill.get(self._places[index], self._lengths[index]))
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
        self._places[number - 1], self._lengths[number - 1] = self._spill.add(packed), len(packed)
        del call
        if held() is not None:
            self._hold(number, held)


class CallOrder(Sequence[Call]):
    """Some of the calls, in an order of their own, each unpacked when it is asked for."""

    def __init__(self, calls: Sequence[Call], indices: Iterable[int] = ()) -> None:
        """Begin with the calls at `indices` of all of them."""
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

    def indices(self, start: int, end: int) -> Sequence[int]:
        """Return where among all calls those from one to before another stand."""
        return self._indices[start:end]

    def append(self, call: Call) -> None:
        """Add a call at the end."""
        self._indices.append(call.number - 1)


def _packed(call: Call) -> bytes:
    started, ended = call.started and tuple(call.started), call.ended and tuple(call.ended)
    return marshal.dumps((*_PLAIN(call), call.outcome.value, started, ended), _VERSION)


def _unpacked(data: bytes) -> Call:
    values = list(marshal.loads(data))  # noqa: S302 - our own bytes
    outcome, started, ended = values[-3:]
    values[-3:] = _OUTCOMES[outcome], started and Place(*started), ended and Place(*ended)
    return Call(*values)
