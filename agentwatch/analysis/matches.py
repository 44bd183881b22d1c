"""Where a text is found in one entry of a transcript: in what was said, or in what a call carries.

Payloads lie in the recording. A line's bytes are looked at first, at a gigabyte a second; only a line that
may hold what is looked for is decoded, and what its detail shows is searched.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Generator, Iterator
from enum import IntEnum
from typing import NamedTuple

from agentwatch.actions import action, target
from agentwatch.analysis.block_text import block_text
from agentwatch.analysis.query import Query
from agentwatch.feed import Feed
from agentwatch.recording import MOST_LINE_BYTES
from agentwatch.safe_text import safe_line, safe_text
from agentwatch.session import Call, Entry, Place

_CHUNK = 1 << 16
_PIECE_BYTES = 1 << 20


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


class Matcher:
    """Finds what a query looks for in one entry; each step of its generators is short."""

    def __init__(self, feed: Feed, query: Query) -> None:
        self._feed = feed
        self._query = query

    def in_text(self, index: int, start: int, end: int) -> Generator[Match | None, None, int]:
        """Yield the matches that begin in a stretch of what was said; return where the last of them ends."""
        entry, query = self._feed.session.transcript[index], self._query
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
                is_new = begin >= resume  # a character may be shown as several, and be found twice
                resume = max(at + _source_offset(source, shown, hit.end()), begin + 1)
                yield Match(index, Side.TEXT, begin) if is_new else None
            at = max(last, resume)
            yield None
        return resume

    def in_call(self, index: int, call: Call) -> Iterator[Match | None]:
        """Yield the matches in what is told of a call, and in what it was given."""
        pattern = self._query.pattern
        told = "\n".join((safe_line(call.tool), action(call), safe_line(call.call_id)))
        yield None if pattern.search(told) is None else Match(index, Side.TEXT, 0)
        repeated = len(pattern.findall(target(call)))
        for match in self.in_payload(index, Side.ARGUMENTS, call.started):
            yield None if match is not None and match.start < repeated else match

    def in_payload(self, index: int, side: Side, place: Place | None) -> Iterator[Match | None]:
        """Yield the matches in what the line at a place carries."""
        if place is None or place.length > MOST_LINE_BYTES or not (yield from self._may_hold(place)):
            return
        passed = 0
        for block in self._feed.blocks(place):
            for _ in self._query.pattern.finditer(safe_text(block_text(block))):
                yield Match(index, side, passed)
                passed += 1
            yield None

    def _may_hold(self, place: Place) -> Generator[None, None, bool]:
        """Look at a line's bytes, a megabyte at a time."""
        at, missing = 0, self._query.needles
        while missing and at < place.length:
            length = min(_PIECE_BYTES, place.length - at)
            data = self._feed.line_at(place._replace(offset=place.offset + at, length=length))
            missing = self._query.missing(missing, data)
            if missing and self._feed.searchable_text_differs(data):
                return True
            at += _PIECE_BYTES - self._query.reach if length == _PIECE_BYTES else length
            yield
        return not missing


def length_of(entry: Entry) -> int:
    """Return how many characters an entry shows of its text."""
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
