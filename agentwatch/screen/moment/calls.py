"""The moments at which calls ended."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

from agentwatch.session import Call, Place, Session
from agentwatch.session.rules import BAD_OUTCOMES

_NEVER = 1 << 62
_MOST_UNENDED = 1000
"""The search is exact for up to this number of calls in a row that never ended."""


def end_of(call: Call) -> int:
    """Return the moment at which a call has ended; for a call that never ended, the end of the recording."""
    place: Place | None = call.ended
    return _NEVER if place is None else place.offset + place.length + 1


def call_beside(session: Session, offset: int, step: int) -> Call | None:
    """Return the call that ended next after (1) or last before (-1) a moment; None without one."""
    ended = session.ended_calls
    at = _first_after(ended, offset) if step > 0 else _first_after(ended, offset - 1) - 1
    while 0 <= at < len(ended) and ended[at].ended is None:
        at += step
    return ended[at] if 0 <= at < len(ended) else None


def _first_after(ended: Sequence[Call], offset: int) -> int:
    """Return the index of the first call that ended after a moment.

    Calls that never ended stand where their run was closed. They count as ended with the call before them.
    """

    def end_at(index: int) -> int:
        for at in range(index, max(index - _MOST_UNENDED, -1), -1):
            if ended[at].ended is not None:
                return end_of(ended[at])
        return 0

    return bisect_right(range(len(ended)), offset, key=end_at)


def next_failure(session: Session, start: int, end: int) -> Call | None:
    """Return the first call that failed after the moment `start`, up to `end`; None without one."""
    ended = session.ended_calls
    for index in range(_first_after(ended, start), len(ended)):
        call = ended[index]
        if call.ended is not None and end_of(call) > end:
            break
        if call.ended is not None and call.outcome in BAD_OUTCOMES:
            return call
    return None
