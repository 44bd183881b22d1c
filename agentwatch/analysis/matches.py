"""Finds a query in one entry of a transcript: in its text, or in the payload of its call.

Payloads are in the recording. The raw bytes of a line are searched first, at a gigabyte per second. Only a
line that may contain the query is decoded. Then the text that the detail pane shows of it is searched.
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
from agentwatch.session import Call, Entry, Place
from agentwatch.text.safe import safe_line, safe_text

_CHUNK = 1 << 16
"""The number of characters of a text that are searched in one step."""
_PIECE_BYTES = 1 << 20
"""The number of bytes of a line that are searched in one step."""


class Side(IntEnum):
    """The part of an entry in which a match was found."""

    TEXT = 0
    """The text of the entry; for a call, its action line."""
    ARGUMENTS = 1
    """The arguments of a call."""
    RESULT = 2
    """The result of a call."""


class Match(NamedTuple):
    """One match. Matches sort in transcript order."""

    entry: int
    """The index of the transcript entry."""
    side: Side
    start: int
    """The character offset of the match in a text. In a payload, its ordinal, counted from 0."""


class Matcher:
    """Finds the matches of a query in one entry.

    Its methods are generators with short steps. A step that found no match yields None.
    """

    def __init__(self, feed: Feed, query: Query) -> None:
        self._feed = feed
        self._query = query

    def in_text(self, index: int, start: int, end: int) -> Generator[Match | None, None, int]:
        """Yield the matches that begin between two character offsets of an entry's text.

        Args:
            index: The index of the entry in the transcript.
            start: The offset of the first character that is searched.
            end: The offset before which a match must begin.

        Returns:
            The offset at which the last match ends, or `start` if there is no match.
        """
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
                is_new = begin >= resume  # one source character may be shown as several and match twice
                resume = max(at + _source_offset(source, shown, hit.end()), begin + 1)
                yield Match(index, Side.TEXT, begin) if is_new else None
            at = max(last, resume)
            yield None
        return resume

    def in_call(self, index: int, call: Call) -> Iterator[Match | None]:
        """Yield the matches in the action line of a call and in its arguments."""
        pattern = self._query.pattern
        shown = "\n".join((safe_line(call.tool), action(call), safe_line(call.call_id)))
        yield None if pattern.search(shown) is None else Match(index, Side.TEXT, 0)
        repeated = len(pattern.findall(target(call)))
        for match in self.in_payload(index, Side.ARGUMENTS, call, call.arguments_place):
            yield None if match is not None and match.start < repeated else match

    def in_payload(self, index: int, side: Side, call: Call, place: Place | None) -> Iterator[Match | None]:
        """Yield the matches in the payload of a line; none without a place or in an oversize line."""
        if place is None or place.length > MOST_LINE_BYTES or not (yield from self._may_contain(place)):
            return
        ordinal = 0
        for block in self._feed.blocks(place, call.call_id):
            for _ in self._query.pattern.finditer(safe_text(block_text(block))):
                yield Match(index, side, ordinal)
                ordinal += 1
            yield None

    def _may_contain(self, place: Place) -> Generator[None, None, bool]:
        """Return whether a line may contain the query, by searching its raw bytes one megabyte per step."""
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
    """Return the number of characters that an entry shows of its text."""
    return len(entry.content) if entry.result is None else len(_result(entry))


def text_of(entry: Entry, start: int, end: int) -> str:
    """Return the characters from `start` to `end` of the text that an entry shows."""
    return entry.content.part(start, end) if entry.result is None else _result(entry)[start:end]


def _result(entry: Entry) -> str:
    """Return the text that a result entry shows: none if it equals the text above."""
    result = entry.result
    return "" if result is None or result.is_streamed else result.text or ""


def _source_offset(source: str, shown: str, offset: int) -> int:
    """Return the offset in `source` of the character that its safe text shows at `offset`.

    Safe text has the same line ends as its source, so only one line is searched.
    """
    if source == shown:
        return offset
    start = 0
    for _ in range(shown.count("\n", 0, offset)):
        start = source.find("\n", start) + 1
    line = source[start:].partition("\n")[0]
    column = offset - (shown.rfind("\n", 0, offset) + 1)
    return start + bisect_right(range(1, len(line)), column, key=lambda length: len(safe_text(line[:length])))
