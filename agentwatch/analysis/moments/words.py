"""Parses words for a moment, as they are typed in an address or in the goto box."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime
from enum import Enum

from agentwatch.text.durations import read_duration
from agentwatch.text.safe import SafeText, cut, safe_line

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
    """One of the two ends of a session."""

    START = "start"
    LIVE = "live"


@dataclass(frozen=True, slots=True)
class TimeOfDay:
    """A local time of day, in milliseconds after midnight: the end of the second if no fraction was given.

    The clocks of the screen and of the log show whole seconds. A time that was read there includes all that
    happened in its second.
    """

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


Moment = TimeOfDay | Instant | Shift | CallEnd | Share | End | Named


def parse(words: str) -> Moment | Problem:
    """Return the moment that words describe, in the order of the forms in `HINT`.

    Args:
        words: What the user typed. Spaces around it have no meaning. A duration without a unit is in
            seconds. A time may be an ISO date and time, with or without an offset from UTC.

    Returns:
        The moment, or why a time, a percentage or the number of a call is out of range.
    """
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
        return CallEnd(number) if number else _problem(words, "is no call: calls are counted from #1")
    if (share := _SHARE.fullmatch(words)) is not None:
        thousandths = _thousandths(share[1], share[2])
        return Share(thousandths) if thousandths <= 100_000 else _problem(words, "is more than 100%")
    if words.lower() in (End.START.value, End.LIVE.value):
        return End(words.lower())
    return Named(words)


def shown(words: str) -> SafeText:
    """Return words of the user, made safe and cut to 60 columns, for a message."""
    return cut(safe_line(words[:_MOST_CHARACTERS]), _SHOWN_COLUMNS)


def _time_of_day(words: str, clock: re.Match[str]) -> TimeOfDay | Problem:
    hour, minute, second = (int(group or 0) for group in clock.groups()[:3])
    if hour > 23 or minute > 59 or second > 59:
        return _problem(words, "is no time of day")
    seconds = hour * 3600 + minute * 60 + second
    ms = _SECOND_MS - 1 if clock[4] is None else int(clock[4].ljust(3, "0"))
    return TimeOfDay(seconds * _SECOND_MS + ms)


def _instant(words: str) -> Instant | Problem:
    try:
        at = datetime.fromisoformat(words)
        epoch_ms = int(at.timestamp()) * _SECOND_MS  # without an offset from UTC, a local time
    except (ValueError, OverflowError, OSError):  # the last two: a year that the local clock cannot convert
        return _problem(words, "is no date and time")
    has_fraction = "." in words or "," in words
    return Instant(epoch_ms + (at.microsecond // 1000 if has_fraction else _SECOND_MS - 1))


def _thousandths(whole: str, fraction: str | None) -> int:
    """Return a decimal number, multiplied by 1000 and rounded down."""
    return int(whole) * 1000 + int((fraction or "").ljust(3, "0"))


def _problem(words: str, reason: str) -> Problem:
    return Problem(SafeText(f"{shown(words)} {reason}"))
