"""The moments at which calls started, ended and failed, read from the session in small pieces."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from time import perf_counter

from agentwatch.events import Outcome
from agentwatch.session import Call, Place, Session
from agentwatch.session.storage.numbers import PAGE, Numbers
from agentwatch.session.storage.spill import Spill

_CALLS_AT_ONCE = 64
"""Calls that are read between two readings of the clock."""


class Moments:
    """Moments in order. One in 1,024 stays in memory, the others move to an unlinked file."""

    def __init__(self, spill: Spill) -> None:
        self._numbers = Numbers("Q", spill)
        self._firsts = array("Q")
        """The first number of each page."""
        self.last = 0
        """The last moment; 0 without calls."""

    def __len__(self) -> int:
        return len(self._numbers)

    def append(self, moment: int) -> None:
        """Append a moment; one that is before the last counts as the last."""
        self.last = max(self.last, moment)
        if len(self._numbers) % PAGE == 0:
            self._firsts.append(self.last)
        self._numbers.append(self.last)

    def count_to(self, moment: int) -> int:
        """Return the number of moments at or before this one."""
        page = bisect_right(self._firsts, moment) - 1
        if page < 0:
            return 0
        start = page * PAGE
        return start + bisect_right(self._numbers.part(start, min(start + PAGE, len(self))), moment)

    def first_after(self, moment: int) -> int | None:
        """Return the first moment after this one; None if there is no such moment."""
        index = self.count_to(moment)
        return self._numbers[index] if index < len(self) else None


class CallMoments:
    """The moments of the calls of a session: 16 bytes for each call, which are kept in a file."""

    def __init__(self, session: Session) -> None:
        spill = Spill()
        self._session = session
        self._calls_read = 0
        self._ended_read = 0
        self.started = Moments(spill)
        self.ended = Moments(spill)
        self.failed = Moments(spill)
        self.rejected = Moments(spill)

    def update(self, seconds: float) -> bool:
        """Read calls that are new in the session, for about this time; return whether more are left."""
        until = perf_counter() + seconds
        while is_more := self._read_some():
            if perf_counter() >= until:
                break
        return is_more

    def _read_some(self) -> bool:
        calls, ended = self._session.calls, self._session.ended_calls
        last = min(self._calls_read + _CALLS_AT_ONCE, len(calls))
        for index in range(self._calls_read, last):
            self.started.append(_moment(calls[index].started or calls[index].ended))
        self._calls_read = last
        last = min(self._ended_read + _CALLS_AT_ONCE, len(ended))
        for index in range(self._ended_read, last):
            self._add_ended(ended[index])
        self._ended_read = last
        return self._calls_read < len(calls) or self._ended_read < len(ended)

    def _add_ended(self, call: Call) -> None:
        moment = _moment(call.ended or call.started)
        self.ended.append(
            moment
        )  # a call that never ended counts as ended with the call before it in the list
        if call.outcome is Outcome.FAILED:
            self.failed.append(moment)
        elif call.outcome is Outcome.REJECTED:
            self.rejected.append(moment)


def _moment(place: Place | None) -> int:
    """Return the moment after a line."""
    return 0 if place is None else place.offset + place.length + 1
