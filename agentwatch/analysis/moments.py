"""The moments of a session in the words of addresses, options and the goto box."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import Enum
from typing import Literal, NamedTuple, Protocol

from agentwatch.feed.feed import Timeline
from agentwatch.session.session import Session
from agentwatch.text.amounts import plural
from agentwatch.text.durations import read_duration
from agentwatch.text.safe import SafeText, cut, safe_line
from agentwatch.text.times import date_and_time, time_of_day

# Parses words for a moment, as they are typed in an address or in the goto box.

HINT = "a moment is 14:03:07, +95s, -10s, #12, 50%, start, live or the name of a bookmark"
_MOST_CHARACTERS = 400
_SHOWN_COLUMNS = 60
_CLOCK = re.compile(r"([0-9]{1,2}):([0-9]{2})(?::([0-9]{2})(?:[.,]([0-9]{1,3})[0-9]{0,6})?)?")
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_SHIFT = re.compile(r"([+-])([0-9]{1,9}(?:\.[0-9]{1,9})?) ?([a-z]{0,2})")
_CALL = re.compile(r"#([0-9]{1,9})")
_SHARE = re.compile(r"([0-9]{1,9})(?:\.([0-9]{1,3})[0-9]{0,6})? ?%")
_SECOND_MS = 1000


class End(Enum):
    START = "start"
    LIVE = "live"


ENDS = {"start": End.START, "live": End.LIVE, "end": End.LIVE}
"""The words for the first moment and for the last one, which is an `end` in a finished recording."""


@dataclass(frozen=True, slots=True)
class TimeOfDay:
    """A local time of day, in milliseconds after midnight. A time without a fraction is the end of its
    second, so that a time copied from the screen or the log includes all that happened in this second."""

    ms: int


@dataclass(frozen=True, slots=True)
class Instant:
    """A date and time, in milliseconds since the epoch: the end of the second if no fraction was given."""

    epoch_ms: int


@dataclass(frozen=True, slots=True)
class Shift:
    """A duration after another moment, in milliseconds; negative for a duration before it."""

    ms: int


@dataclass(frozen=True, slots=True)
class CallEnd:
    """The moment at which the call with this number had ended."""

    number: int


@dataclass(frozen=True, slots=True)
class Share:
    """A share of the recorded time, in thousandths of a percent: 0 to 100,000."""

    thousandths: int


@dataclass(frozen=True, slots=True)
class Named:
    """The name of a bookmark: any words that have no other form."""

    name: str


@dataclass(frozen=True, slots=True)
class Problem:
    """Why words are not a moment, or not one of this session: one line for the user."""

    words: SafeText


MomentSpec = TimeOfDay | Instant | Shift | CallEnd | Share | End | Named


def parse(words: str) -> MomentSpec | Problem:
    """Return the moment that words describe, in the order of the forms in `HINT`, or why a number in them is
    out of range. A duration without a unit is in seconds."""
    if len(words) > _MOST_CHARACTERS:
        return _problem(words, "is too long")
    words = words.strip()
    if not words:
        return Problem(SafeText(HINT))
    if (clock := _CLOCK.fullmatch(words)) is not None:
        return _time_of_day(words, clock)
    if _DATE.match(words) is not None:
        return _instant(words)
    if (shift := _SHIFT.fullmatch(words)) is not None:
        sign, number, unit = shift.groups()
        if (ms := read_duration(f"{number}{unit}", unit="s")) is not None:
            return Shift(int(-ms if sign == "-" else ms))
    if (call := _CALL.fullmatch(words)) is not None:
        number = int(call[1])
        return CallEnd(number) if number else _problem(words, "is not a call: calls are counted from #1")
    if (share := _SHARE.fullmatch(words)) is not None:
        thousandths = int(share[1]) * 1000 + int((share[2] or "").ljust(3, "0"))
        return Share(thousandths) if thousandths <= 100_000 else _problem(words, "is more than 100%")
    end = ENDS.get(words.lower())
    return Named(words) if end is None else end


def shown(words: str) -> SafeText:
    return cut(safe_line(words[:_MOST_CHARACTERS]), _SHOWN_COLUMNS)


def _time_of_day(words: str, clock: re.Match[str]) -> TimeOfDay | Problem:
    hour, minute, second = (int(group or 0) for group in clock.groups()[:3])
    if hour > 23 or minute > 59 or second > 59:
        return _problem(words, "is not a time of day")
    seconds = hour * 3600 + minute * 60 + second
    ms = _SECOND_MS - 1 if clock[4] is None else int(clock[4].ljust(3, "0"))
    return TimeOfDay(seconds * _SECOND_MS + ms)


def _instant(words: str) -> Instant | Problem:
    try:
        at = datetime.fromisoformat(words)
        epoch_ms = int(at.timestamp()) * _SECOND_MS  # without an offset from UTC, a local time
    except (ValueError, OverflowError, OSError):  # the last two: a year that the local clock cannot convert
        return _problem(words, "is not a date and time")
    has_fraction = "." in words or "," in words
    return Instant(epoch_ms + (at.microsecond // 1000 if has_fraction else _SECOND_MS - 1))


def _problem(words: str, reason: str) -> Problem:
    return Problem(SafeText(f"{shown(words)} {reason}"))


# Finds the moment of a session that was described in words.

_ALL = 100_000
"""A whole recording, in thousandths of a percent."""
_WITHOUT_TIMES = "the recording has no times; #12, 50%, start and live are moments of it"


def offset_of(
    moment: MomentSpec, session: Session, timeline: Timeline, base: int, bookmarks: Mapping[str, int]
) -> int | Problem:
    """Return the offset of a moment, or why the session does not have it. A moment after the last line is the
    last line's, and one that is a duration before the start is the start. `base` is the moment to which a
    duration is relative; 0 is the start. The offset of a percentage of a recording without times may lie
    within a line."""
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


def time_of(moment: MomentSpec, timeline: Timeline, base: int) -> int | None:
    """Return the time that a moment names, which may lie between two lines, in milliseconds since the epoch.
    `base` is the moment to which a duration is relative; 0 is the start. Return None for a moment that is not
    described by a time, and for one that the session does not have."""
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
    """Return when a time of day occurred between the lines: twice on the day when clocks are put back."""
    midnight = first.replace(hour=0, minute=0, second=0, microsecond=0, fold=0)
    seconds, ms = divmod(moment.ms, 1000)
    today = midnight + timedelta(seconds=seconds)
    times = [int(at.timestamp()) * 1000 + ms for at in (today, today.replace(fold=1))]
    tomorrow_ms = int((today + timedelta(days=1)).timestamp()) * 1000 + ms
    return [*times, tomorrow_ms] if tomorrow_ms - ms <= last_ms else times


def base_of(moment: MomentSpec, timeline: Timeline) -> int:
    """Return the moment from which an address counts: `+95s` from the start, `-10s` from the end."""
    return timeline.size if isinstance(moment, Shift) and moment.ms < 0 else 0


def addressed(
    moment: MomentSpec, session: Session, timeline: Timeline, bookmarks: Mapping[str, int]
) -> int | Problem:
    """Return the offset of the moment of an address, or why the session does not have this moment."""
    return offset_of(moment, session, timeline, base_of(moment, timeline), bookmarks)


def is_known(moment: MomentSpec, session: Session, timeline: Timeline, bookmarks: Mapping[str, int]) -> bool:
    """Return whether reading on cannot change the offset of a moment, as it does that of a percentage."""
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


# The moments of a recording that the command line names.

EMPTY = Problem(SafeText("the part would end at its start, or before it"))


class Lines(Timeline, Protocol):
    """The times of a recording, and its line ends."""

    def aligned(self, offset: int) -> int:
        """Return the last line end at or before an offset."""


class Asked(NamedTuple):
    """The options of the command line about the moment."""

    begin: MomentSpec | None = None
    """Where the screen opens, or a replay starts; None for the live moment, or for the start of a replay."""
    until: MomentSpec | None = None
    """Where a replay ends; None for the end of the recording."""
    pauses_on: Literal["failure", "bookmark"] | None = None
    """The moments at which a replay pauses."""


NOTHING_ASKED = Asked()


class Part(NamedTuple):
    start: int
    """The moment at which it starts, in bytes."""
    until: int | None
    """The moment at which it ends; None for the end of the recording."""


def part_of(asked: Asked, session: Session, timeline: Lines, bookmarks: Mapping[str, int]) -> Part | Problem:
    """Return the part that is asked of a recording, which was read to its end, or why it has no such part."""
    start: int | Problem = 0
    until: int | Problem | None = None
    if asked.begin is not None:
        start = addressed(asked.begin, session, timeline, bookmarks)
    if asked.until is not None:
        until = addressed(asked.until, session, timeline, bookmarks)
    if isinstance(start, Problem):
        return start
    if isinstance(until, Problem):
        return until
    start = timeline.aligned(start)
    until = None if until is None else timeline.aligned(until)
    return EMPTY if until is not None and until <= start else Part(start, until)
