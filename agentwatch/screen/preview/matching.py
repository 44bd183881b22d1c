"""Locates the calls of a preview, which contains only the recording's head and tail, in the whole session."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

from agentwatch.session import Call, Entry

_MOST_PARALLEL = 100


def same_call(calls: Sequence[Call], match_shown: Call) -> Call | None:
    """Return the call of the whole session that is the same as a call of the preview; None if there is none.

    The two are the same if they share a line of the recording. The preview may lack the other line of the
    call: the one that started or the one that ended it.

    Args:
        calls: The calls of the whole session, in order.
        match_shown: A call of the preview.
    """
    places = [place for place in (match_shown.started, match_shown.ended) if place is not None]
    if not places:
        return None
    end = bisect_right(calls, places[0].offset, key=_offset)
    near = calls[max(end - _MOST_PARALLEL, 0) : end]
    return next((call for call in reversed(near) if call.started in places or call.ended in places), None)


def call_near(entries: Sequence[Entry], number: int) -> tuple[Call, int] | None:
    """Return the call nearest to an entry and the number of its entry; None if there are no calls.

    Of two calls at the same distance, it is the later one.
    """
    for distance in range(len(entries)):
        for at in (number + distance, number - distance):
            if 0 <= at < len(entries) and (call := entries[at].call) is not None:
                return call, at
    return None


def _offset(call: Call) -> int:
    place = call.started or call.ended
    return -1 if place is None else place.offset
