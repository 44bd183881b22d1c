"""Finds the moment of an address or of an option, in a recording that may not be read to its end yet."""

from __future__ import annotations

from collections.abc import Mapping

from agentwatch.analysis.moments.offsets import offset_of, time_of
from agentwatch.analysis.moments.words import CallEnd, End, Moment, Named, Problem, Share, Shift
from agentwatch.feed.timeline import Timeline
from agentwatch.session import Session


def base_of(moment: Moment, timeline: Timeline) -> int:
    """Return the moment from which an address counts: `+95s` from the start, `-10s` from the end."""
    return timeline.size if isinstance(moment, Shift) and moment.ms < 0 else 0


def addressed(
    moment: Moment, session: Session, timeline: Timeline, bookmarks: Mapping[str, int]
) -> int | Problem:
    """Return the offset of the moment of an address, or why the session does not have it.

    Args:
        moment: The moment.
        session: The session as far as its recording was read.
        timeline: The times of the recording.
        bookmarks: The offset of each bookmark, by its name.

    Returns:
        The number of bytes. That of a percentage of a recording without times may lie within a line.
    """
    return offset_of(moment, session, timeline, base_of(moment, timeline), bookmarks)


def is_known(moment: Moment, session: Session, timeline: Timeline, bookmarks: Mapping[str, int]) -> bool:
    """Return whether reading on cannot change the offset of the moment of an address.

    A percentage, the end and a duration before it depend on the whole recording.

    Args:
        moment: The moment.
        session: The session as far as its recording was read.
        timeline: The times of the recording.
        bookmarks: The offset of each bookmark, by its name.
    """
    match moment:
        case End():
            return moment is End.START
        case CallEnd(number):
            calls = session.calls
            return number <= len(calls) and calls[number - 1].ended is not None
        case Share():
            return False
        case Named():
            offset = offset_of(moment, session, timeline, 0, bookmarks)
            return not isinstance(offset, Problem) and offset < timeline.size
    at_ms, last_ms = time_of(moment, timeline, 0), timeline.last_ms
    is_from_end = base_of(moment, timeline) > 0
    return not is_from_end and at_ms is not None and last_ms is not None and at_ms < last_ms
