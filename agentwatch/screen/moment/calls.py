"""The moments at which calls ended."""

from __future__ import annotations

from bisect import bisect_left, bisect_right

from agentwatch.events import Outcome
from agentwatch.session import Call, Place, Session

_FAILED = (Outcome.FAILED, Outcome.REJECTED)
_NEVER = 1 << 62


def end_of(call: Call) -> int:
    """Return the moment at which a call has ended; for a call that never ended, the end of the recording."""
    place: Place | None = call.ended
    return _NEVER if place is None else place.offset + place.length + 1


def call_beside(session: Session, offset: int, step: int) -> Call | None:
    """Return the call that ended next after (1) or last before (-1) a moment; None without one."""
    ended = session.ended_calls
    at = bisect_right(ended, offset, key=end_of) if step > 0 else bisect_left(ended, offset, key=end_of) - 1
    call = ended[at] if 0 <= at < len(ended) else None
    return None if call is None or call.ended is None else call


def next_failure(session: Session, start: int, end: int) -> Call | None:
    """Return the first call that failed after the moment `start`, up to `end`; None without one."""
    ended = session.ended_calls
    for index in range(bisect_right(ended, start, key=end_of), len(ended)):
        call = ended[index]
        if end_of(call) > end:
            break
        if call.outcome in _FAILED:
            return call
    return None
