"""Checkpoints: what a feed had read and applied at some lines of its recording, to continue from there."""

from __future__ import annotations

import pickle
import sys
from array import array
from bisect import bisect_right
from io import BytesIO
from typing import Any, NamedTuple

from agentwatch.agents import Agent, Decoder
from agentwatch.agents.tool import Tool
from agentwatch.session.earlier import SessionState, earlier_session, session_state
from agentwatch.session.session import Session
from agentwatch.session.storage import Spill
from agentwatch.session.transcript import Transcript

_LEAST_BYTES = 1 << 19
"""Bytes of the recording between two checkpoints. Decoding them again takes 6 ms."""
_STATE_SHARE = 16
"""A checkpoint is at most this part of the bytes since the one before it, so that large ones are rare."""
_NOT_PICKLED = (pickle.PicklingError, AttributeError, TypeError, ValueError, RecursionError)
"""What is raised for objects that cannot be serialised: a function or class in a function, a lock, a cycle of
many objects."""
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
    """The state of a feed at an offset of its recording."""

    offset: int
    session: Session
    decoder: Decoder


class Checkpoints:
    """The checkpoints of one feed, serialised in an unlinked file: 3 to 40 KB each.

    The session's calls, texts and numbers are not copied: a checkpoint refers to them. The decoder of a
    plugin may have a state that cannot be serialised. No checkpoints are taken then.
    """

    def __init__(self) -> None:
        self._spill = Spill()
        self._offsets = array("Q")
        self._places = array("Q")
        """The place and the length of each checkpoint, alternating."""
        self._shared: list[object] = []
        self._next = _LEAST_BYTES

    def take(self, offset: int, session: Session, decoder: Decoder) -> None:
        """Take a checkpoint, if the last one is far enough back. `offset` is the number of bytes that the
        session contains. `session` is the same at each call, and `decoder` is after the last line before the
        offset."""
        if offset < self._next:
            return
        try:
            data = self._packed((session_state(session), decoder))
        except _NOT_PICKLED:
            self._next = sys.maxsize
            return
        self._offsets.append(offset)
        self._places.extend((self._spill.add(data), len(data)))
        self._next = offset + max(_LEAST_BYTES, _STATE_SHARE * len(data))

    def before(self, offset: int, newest: Session) -> Checkpoint | None:
        """Return the last checkpoint at or before an offset, of which `newest` is the present session. Return
        None before the first one, and if a checkpoint cannot be restored: an earlier one is not tried."""
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
        """Return the offset of the last checkpoint at or before an offset; 0 before the first one."""
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
        """Return the reduced form of an object that all checkpoints share."""
        for number, each in enumerate(self._shared, 1):
            if each is value:
                return _shared, (number,)
        self._shared.append(value)
        return _shared, (len(self._shared),)


class _Unpickler(pickle.Unpickler):
    """Reads a checkpoint; a shared object is found by its number, the transcript is number 0."""

    def __init__(self, data: bytes, shared: list[object]) -> None:
        super().__init__(BytesIO(data))
        self._objects = shared

    def find_class(self, module: str, name: str) -> Any:
        """Return a class or function; for `_shared`, the access to the shared objects."""
        if module == __name__ and name == _shared.__name__:
            return self._objects.__getitem__
        return super().find_class(module, name)


def _shared(number: int) -> object:
    """Stand for a shared object in a checkpoint. Never called."""
    raise NotImplementedError(number)
