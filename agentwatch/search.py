"""Finding text in a session: what was said, what each call is about, what it was given and gave back.

Payloads lie in the recording. A line's bytes are looked at first, at a gigabyte a second; only a line that
may hold what is looked for is decoded, and what its detail shows is searched.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections.abc import Generator, Iterator
from enum import IntEnum
from time import perf_counter
from typing import NamedTuple

from agentwatch.actions import action, target
from agentwatch.events import Outcome
from agentwatch.feed import Feed
from agentwatch.query import Query
from agentwatch.recording import MOST_LINE_BYTES
from agentwatch.safe_text import SafeText, cut, safe_line, safe_text
from agentwatch.session import Call, Entry, Kind, Place

MOST_MATCHES = 10_000
_CHUNK = 1 << 16
_PIECE_BYTES = 1 << 20
_PLACE_COLUMNS = 60
_KINDS = {Kind.ANSWER: "text", Kind.REASONING: "thinking"}


class Side(IntEnum):
    """Where in an entry something was found."""

    TEXT = 0
    """In what was said; of a call, in its action."""
    ARGUMENTS = 1
    RESULT = 2


class Match(NamedTuple):
    """One place where the text was found. Matches sort as they stand in the transcript."""

    entry: int
    """The number of the transcript's entry, from 0."""
    side: Side
    start: int
    """In what was said, the character at which it begins; in a payload, how many come before it."""


class Search:
    """Looks for a text from one place of a session on, round to that place again, a slice at a time."""

    def __init__(self, feed: Feed, text: str, entry: int = 0, offset: int = 0) -> None:
        """Look from character `offset` of an entry on; `text` is not blank."""
        self.query = Query(text)
        self.found: list[Match] = []
        """In the order in which they come from the beginning of the search on."""
        self.is_complete = False
        """Whether all that there is was searched."""
        self._feed = feed
        self._begin = Match(entry, Side.TEXT, offset)
        self._wrapped = 0
        self._ahead = (entry, offset)
        self._seen = 0
        self._behind = 0
        self._awaited: list[tuple[int, Call]] = []
        self._work: Iterator[None] = iter(())

    @property
    def is_full(self) -> bool:
        """Whether so much was found that no more is looked for."""
        return len(self.found) >= MOST_MATCHES

    def advance(self, seconds: float | None = None) -> None:
        """Search for about so long; of what has come since it was complete, search that."""
        until = None if seconds is None else perf_counter() + seconds
        self.is_complete = False
        while not self.is_full:
            if next(self._work, self) is self:
                work = self._next_work()
                if work is None:
                    break
                self._work = work
            if until is not None and perf_counter() >= until:
                return
        self.is_complete = True

    def step(self, match: Match | None, direction: int) -> Match | None:
        """Return the next match (1) or the one before (-1); None while it is not known, or there is none."""
        if not self.found:
            return None
        if match is None:
            return self.found[0]
        index = bisect_left(self.found, self._key(match), key=self._key) + direction
        if not 0 <= index < len(self.found) and not self.is_complete:
            return None
        return self.found[index % len(self.found)]

    def number(self, match: Match) -> int:
        """Return which of those found so far a match is, from the beginning of the session on."""
        index = bisect_left(self.found, self._key(match), key=self._key)
        return (index + self._wrapped) % len(self.found) + 1

    def call(self, match: Match) -> Call | None:
        """Return the call in which something was found."""
        return self._feed.session.transcript[match.entry].call

    def place(self, match: Match, width: int = _PLACE_COLUMNS) -> SafeText:
        """Return in words where something was found: `call 12 edit src/app.py, result`."""
        entry = self._feed.session.transcript[match.entry]
        if entry.call is None:
            return SafeText(_KINDS.get(entry.kind, str(entry.kind)))
        side = f", {match.side.name.lower()}" if match.side else ""
        named = safe_line(f"call {entry.call.number} {entry.call.tool} {target(entry.call)}".rstrip())
        least = len(f"call {entry.call.number}")
        return SafeText(cut(named, max(min(width, _PLACE_COLUMNS) - len(side), least + 1)) + side)

    def line(self, match: Match) -> SafeText:
        """Return the line of a call's arguments or result in which something was found."""
        call, passed = self.call(match), 0
        place = call and (call.started if match.side is Side.ARGUMENTS else call.ended)
        for part in self._feed.parts(place) if place and match.side else ():
            text = safe_text(part.text)
            for hit in self.query.pattern.finditer(text):
                if passed == match.start:
                    end = text.find("\n", hit.start())
                    return SafeText(text[text.rfind("\n", 0, hit.start()) + 1 : None if end < 0 else end])
                passed += 1
        return SafeText("")

    def _key(self, match: Match) -> tuple[bool, Match]:
        return match < self._begin, match

    def _add(self, match: Match) -> None:
        self._wrapped += match < self._begin
        if self.found and self._key(match) < self._key(self.found[-1]):
            insort(self.found, match, key=self._key)
        else:
            self.found.append(match)

    def _next_work(self) -> Iterator[None] | None:
        """Return what is to be searched next: what ended since, what is ahead, then what is behind."""
        for waiting, (index, call) in enumerate(self._awaited):
            if call.outcome is not Outcome.RUNNING:
                del self._awaited[waiting]
                return self._search_payload(index, Side.RESULT, call.ended, 0)
        transcript = self._feed.session.transcript
        while self._ahead[0] < len(transcript):
            index, offset = self._ahead
            entry = transcript[index]
            if entry.call is not None:
                self._ahead = index + 1, 0
                return self._search_call(index, entry.call)
            if (length := _length(entry)) > max(self._seen, offset):
                self._seen = length
                return self._search_text(index, offset, length, is_ahead=True)
            if entry.is_open:
                break
            self._ahead, self._seen = (index + 1, 0), 0
        if self._behind > min(self._begin.entry, len(transcript) - 1):
            return None
        index = self._behind
        self._behind += 1
        entry = transcript[index]
        if entry.call is None:
            end = self._begin.start if index == self._begin.entry else _length(entry)
            return self._search_text(index, 0, end)
        return iter(()) if index == self._begin.entry else self._search_call(index, entry.call)

    def _search_text(self, index: int, start: int, end: int, *, is_ahead: bool = False) -> Iterator[None]:
        entry, query = self._feed.session.transcript[index], self.query
        pattern = query.pattern_in(entry.kind)
        at = resume = start
        while at < end:
            last = min(at + _CHUNK, end)
            source = text_of(entry, at, last + query.reach)
            shown = safe_text(source)
            for hit in pattern.finditer(shown):
                begin = at + _source_offset(source, shown, hit.start())
                if begin >= last:
                    break
                if begin >= resume:  # a character may be shown as several, and be found twice
                    self._add(Match(index, Side.TEXT, begin))
                resume = max(at + _source_offset(source, shown, hit.end()), begin + 1)
                yield
            at = max(last, resume)
            yield
        if is_ahead:
            self._ahead = index, max(resume, end - query.reach, start)

    def _search_call(self, index: int, call: Call) -> Iterator[None]:
        told = "\n".join((safe_line(call.tool), action(call), safe_line(call.call_id)))
        if self.query.pattern.search(told) is not None:
            self._add(Match(index, Side.TEXT, 0))
        yield
        repeated = len(self.query.pattern.findall(target(call)))
        yield from self._search_payload(index, Side.ARGUMENTS, call.started, repeated)
        if call.outcome is Outcome.RUNNING:
            self._awaited.append((index, call))
        else:
            yield from self._search_payload(index, Side.RESULT, call.ended, 0)

    def _search_payload(self, index: int, side: Side, place: Place | None, repeated: int) -> Iterator[None]:
        """Search what the line at a place carries; the first `repeated` matches the action told already."""
        if place is None or place.length > MOST_LINE_BYTES or not (yield from self._may_hold(place)):
            return
        passed = 0
        for part in self._feed.parts(place):
            for _ in self.query.pattern.finditer(safe_text(part.text)):
                if passed >= repeated:
                    self._add(Match(index, side, passed))
                passed += 1
                yield
            yield

    def _may_hold(self, place: Place) -> Generator[None, None, bool]:
        """Look at a line's bytes, a megabyte at a time."""
        at, missing = 0, self.query.needles
        while missing and at < place.length:
            length = min(_PIECE_BYTES, place.length - at)
            data = self._feed.line_at(place._replace(offset=place.offset + at, length=length))
            missing = self.query.missing(missing, data)
            at += _PIECE_BYTES - self.query.reach if length == _PIECE_BYTES else length
            yield
        return not missing


def _length(entry: Entry) -> int:
    return len(entry.said) if entry.run is None else len(_result(entry))


def text_of(entry: Entry, start: int, end: int) -> str:
    """Return what an entry shows of its text from `start` to `end`."""
    return entry.said.part(start, end) if entry.run is None else _result(entry)[start:end]


def _result(entry: Entry) -> str:
    """Return what a result shows of its text: nothing where the text above is the same."""
    run = entry.run
    return "" if run is None or run.text_matches_result else run.result or ""


def _source_offset(source: str, shown: str, offset: int) -> int:
    """Return which character of a source is shown at an offset of its safe text, which has the same lines."""
    if source == shown:
        return offset
    start = 0
    for _ in range(shown.count("\n", 0, offset)):
        start = source.find("\n", start) + 1
    line = source[start:].partition("\n")[0]
    column = offset - (shown.rfind("\n", 0, offset) + 1)
    return start + bisect_right(range(1, len(line)), column, key=lambda length: len(safe_text(line[:length])))
