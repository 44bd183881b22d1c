"""Moments that mark themselves: failures, edits, test verdicts and turns, in the order of the recording."""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping
from enum import Enum
from typing import NamedTuple

from agentwatch.session.call import Call
from agentwatch.session.events import Outcome, ToolKind
from agentwatch.session.session import Session

_CALLS_AT_ONCE = 64
_CHANGING = frozenset((ToolKind.EDIT, ToolKind.DELETE, ToolKind.MOVE))
_DONE = frozenset((Outcome.SUCCEEDED, Outcome.RETURNED))


class MarkerKind(Enum):
    """Why a moment is marked."""

    FAILURE = 0
    EDIT = 1
    VERDICT = 2
    """Tests turned red or green."""
    TURN = 3


_KINDS = tuple(MarkerKind)


class VerdictMark(NamedTuple):
    offset: int
    """The moment at which its call had ended."""
    number: int
    is_red: bool
    words: str


class Marker(NamedTuple):
    offset: int
    """The moment: the number of bytes of the recording before it."""
    kind: MarkerKind
    number: int
    """The number of the call; of a turn, the number of its first entry in the transcript."""
    verdict: VerdictMark | None = None


class Markers:
    """The markers of a session, 13 bytes each. Calls are read a few at a time, as they end. `line_end`
    returns the moment after the line that contains the byte at an offset.

    Example:
        >>> markers = Markers(Session(), lambda offset: offset)
        >>> markers.update(), len(markers)
        (False, 0)
    """

    def __init__(self, session: Session, line_end: Callable[[int], int]) -> None:
        self._session = session
        self._line_end = line_end
        self._offsets = array("Q")
        self._kinds = array("B")
        self._numbers = array("I")
        self._calls_read = 0
        self._run = 0
        """The index of the run whose turns are marked now."""
        self._entries_read = 0
        """The number of entries in which no other turn can begin."""
        self._verdicts: Mapping[int, VerdictMark] = {}
        """The verdicts that are marked, by the number of the call."""
        self._next_verdicts: Mapping[int, VerdictMark] = self._verdicts
        self.revision = 0
        """Changes when an index means another marker than before, or a marker has changed."""

    def __len__(self) -> int:
        return len(self._offsets)

    def __getitem__(self, index: int) -> Marker:
        kind, number = _KINDS[self._kinds[index]], self._numbers[index]
        verdict = self._verdicts.get(number) if kind is MarkerKind.VERDICT else None
        return Marker(self._offsets[index], kind, number, verdict)

    def __iter__(self) -> Iterator[Marker]:
        return map(self.__getitem__, range(len(self)))

    def update(self) -> bool:
        """Read a few of the newly ended calls; return whether more are left. Turns and verdicts are marked
        last: inserting a marker before others costs 50 µs among 100,000."""
        ended = self._session.ended_calls
        calls = ended[self._calls_read : self._calls_read + _CALLS_AT_ONCE]
        for call in calls:
            kind = _kind_of(call)
            if kind is not None and call.ended is not None:
                self._add(call.ended.offset + call.ended.length + 1, kind, call.number)
        self._calls_read += len(calls)
        if self._calls_read < len(ended):
            return True
        self._mark_turns()
        if self._next_verdicts is not self._verdicts:
            self._mark_verdicts()
        return False

    def show_verdicts(self, verdicts: Iterable[VerdictMark]) -> None:
        """Mark the test runs that turned red or green, from the next update that reads the last call on.
        `verdicts` are all that are known, in the order in which their calls ended. Old ones may have been
        added or left out since the last time."""
        turned: dict[int, VerdictMark] = {}
        is_red: bool | None = None
        for each in verdicts:
            if each.is_red is not is_red:
                turned[each.number] = each
            is_red = each.is_red
        if turned != self._next_verdicts:
            self._next_verdicts = turned

    def index_after(self, offset: int) -> int:
        """Return the index of the first marker after a moment; the number of markers behind the last."""
        return bisect_right(self._offsets, offset)

    def _mark_turns(self) -> None:
        """Mark the end of the first line of each turn that has begun since the last time."""
        transcript, runs = self._session.transcript, self._session.runs
        for index in range(self._run, len(runs)):
            self._run, starts = index, runs[index].turn_starts
            for number in starts[bisect_left(starts, self._entries_read) :]:
                if number >= len(transcript):
                    return  # nothing is shown of the turn yet
                self._add(self._line_end(transcript.offsets[number]), MarkerKind.TURN, number)
                self._entries_read = number + 1

    def _mark_verdicts(self) -> None:
        """Mark the verdicts in the places of the failures of the same calls."""
        for number, gone in self._verdicts.items():
            if number not in self._next_verdicts:
                self._remove(gone.offset, number)
                kind = _kind_of(self._session.calls[number - 1])
                if kind is not None:
                    self._add(gone.offset, kind, number)
        for number, each in self._next_verdicts.items():
            if number not in self._verdicts:
                self._remove(each.offset, number)
                self._add(each.offset, MarkerKind.VERDICT, number)
        self._verdicts = self._next_verdicts
        self.revision += 1

    def _add(self, offset: int, kind: MarkerKind, number: int) -> None:
        index = bisect_right(self._offsets, offset)
        self.revision += index < len(self)
        self._offsets.insert(index, offset)
        self._kinds.insert(index, kind.value)
        self._numbers.insert(index, number)

    def _remove(self, offset: int, number: int) -> None:
        for index in range(bisect_left(self._offsets, offset), bisect_right(self._offsets, offset)):
            if self._numbers[index] == number and self._kinds[index] != MarkerKind.TURN.value:
                del self._offsets[index], self._kinds[index], self._numbers[index]
                return


def _kind_of(call: Call) -> MarkerKind | None:
    """Return why the end of a call is marked; None if it is not."""
    if call.outcome is Outcome.FAILED:
        return MarkerKind.FAILURE
    return MarkerKind.EDIT if call.kind in _CHANGING and call.outcome in _DONE else None
