"""Finds the moment of a session that was described in words."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta

from agentwatch.analysis.moments.words import (
    HINT,
    CallEnd,
    End,
    Instant,
    Moment,
    Named,
    Problem,
    Share,
    Shift,
    TimeOfDay,
    shown,
)
from agentwatch.feed.timeline import Timeline
from agentwatch.session import Session
from agentwatch.text.amounts import plural
from agentwatch.text.safe import SafeText
from agentwatch.text.times import date_and_time, time_of_day

_ALL = 100_000
"""A whole recording, in thousandths of a percent."""
_WITHOUT_TIMES = "the recording has no times; #12, 50%, start and live are moments of it"


def offset_of(
    moment: Moment, session: Session, timeline: Timeline, base: int, bookmarks: Mapping[str, int]
) -> int | Problem:
    """Return the offset of a moment, or why the session does not have it.

    A moment after the last line is the last line's, and one that is a duration before the start is the start.

    Args:
        moment: The moment.
        session: The session as far as its recording was read.
        timeline: The times of the recording.
        base: The offset of the moment to which a duration is relative; 0 is the start.
        bookmarks: The offset of each bookmark, by its name.

    Returns:
        The number of bytes. That of a percentage of a recording without times may lie within a line.
    """
    match moment:
        case End.START:
            return 0
        case End.LIVE:
            return timeline.size
        case CallEnd(number):
            return _call_end(number, session, timeline)
        case Named(name):
            return _bookmark(name, bookmarks, timeline)
        case Share(0):
            return 0
        case Share(thousandths) if thousandths == _ALL or timeline.first_ms == timeline.last_ms:
            return timeline.size * thousandths // _ALL
    at_ms = _time(moment, timeline, base)
    if isinstance(at_ms, Problem):
        return at_ms
    is_before = timeline.first_ms is not None and at_ms < timeline.first_ms
    return 0 if is_before else min(timeline.offset_at(at_ms), timeline.size)


def time_of(moment: Moment, timeline: Timeline, base: int) -> int | None:
    """Return the time that a moment names, which may lie between two lines, in milliseconds since the epoch.

    Args:
        moment: The moment.
        timeline: The times of the recording.
        base: The offset of the moment to which a duration is relative; 0 is the start.

    Returns:
        None for a moment that is not described by a time, and for one that the session does not have.
    """
    if isinstance(moment, End | CallEnd | Named):
        return None
    at_ms = _time(moment, timeline, base)
    return None if isinstance(at_ms, Problem) else at_ms


def _time(moment: Share | Shift | TimeOfDay | Instant, timeline: Timeline, base: int) -> int | Problem:
    first_ms, last_ms = timeline.first_ms, timeline.last_ms
    if first_ms is None or last_ms is None:
        return Problem(SafeText(_WITHOUT_TIMES))
    match moment:
        case Share(thousandths):
            return first_ms + max(last_ms - first_ms, 0) * thousandths // _ALL
        case Shift(ms):
            base_ms = timeline.ms_at(base) if base else None
            return (first_ms if base_ms is None else base_ms) + ms
        case TimeOfDay() | Instant():
            return _clock(moment, first_ms, last_ms)


def _call_end(number: int, session: Session, timeline: Timeline) -> int | Problem:
    """Return the moment at which a call had ended, or, while it has not ended, at which it had started."""
    calls = session.calls
    if number > len(calls):
        return Problem(SafeText(f"no call #{number}: the session has {plural(len(calls), 'call')}"))
    call = calls[number - 1]
    place = call.ended or call.started or call.described
    return 0 if place is None else min(place.offset + place.length + 1, timeline.size)


def _bookmark(name: str, bookmarks: Mapping[str, int], timeline: Timeline) -> int | Problem:
    """Return the moment of a bookmark; its name is also found in another case."""
    if (offset := bookmarks.get(name)) is None:
        folded = name.casefold()
        same = (offset for each, offset in bookmarks.items() if each.casefold() == folded)
        offset = next(same, None)
    if offset is None:
        return Problem(SafeText(f"no bookmark {shown(name)}: {HINT}"))
    return min(max(offset, 0), timeline.size)


def _clock(moment: TimeOfDay | Instant, first_ms: int, last_ms: int) -> int | Problem:
    """Return a time of the clock; one before the first line is a problem, not the start."""
    try:
        first, last = datetime.fromtimestamp(first_ms / 1000), datetime.fromtimestamp(last_ms / 1000)
        if isinstance(moment, Instant):
            times = [moment.epoch_ms]
            words = date_and_time(moment.epoch_ms)
        else:
            times = _times_of_day(moment, first, last_ms)
            words = f"{datetime.min + timedelta(milliseconds=moment.ms):%H:%M:%S}"
    except (ValueError, OverflowError, OSError):  # the agent's clock may give any number
        return Problem(SafeText("the times of the recording are outside the years 1 to 9999"))
    at_ms = next((each for each in times if each >= first_ms), None)
    if at_ms is not None:
        return at_ms
    is_one_day = isinstance(moment, TimeOfDay) and first.date() == last.date()
    written = time_of_day if is_one_day else date_and_time
    return Problem(SafeText(f"{words} is not in the recording: {written(first_ms)} to {written(last_ms)}"))


def _times_of_day(moment: TimeOfDay, first: datetime, last_ms: int) -> list[int]:
    """Return when a time of day came on the day of the first line, and on the next day up to the last line.

    When clocks are put back, a time of day comes twice on one day: `fold` is 1 for the second.
    """
    midnight = first.replace(hour=0, minute=0, second=0, microsecond=0, fold=0)
    seconds, ms = divmod(moment.ms, 1000)
    today = midnight + timedelta(seconds=seconds)
    times = [int(at.timestamp()) * 1000 + ms for at in (today, today.replace(fold=1))]
    tomorrow_ms = int((today + timedelta(days=1)).timestamp()) * 1000 + ms
    return [*times, tomorrow_ms] if tomorrow_ms - ms <= last_ms else times
